"""The page's own sources: joined whole, and without a way to turn text into markup."""

from __future__ import annotations

import re

import pytest

from xtc_viz.ui import web

SOURCES = sorted(web.FOLDER.glob("*.js"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_source_can_make_markup_of_text(path: object) -> None:
    source = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc"
    assert not re.search(risky, source)


def test_the_script_holds_every_module_once_and_no_module_syntax() -> None:
    script = web.script("gradio")
    assert not re.search(r"^\s*(import|export)\s+[\w{*]", script, re.MULTILINE)
    for path in SOURCES:
        name = f"const module_{path.stem.replace('-', '_')} = "
        assert script.count(name) <= 1
    assert script.count("const module_dom = ") == 1
    # A module stands behind those that it needs.
    assert script.index("const module_dom") < script.index("const module_lanes")
    assert script.rstrip().endswith("})();")


def test_the_style_is_all_sheets() -> None:
    assert ".xtc" in web.style()
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg", "", web.style())
