"""The page's own sources: joined whole, and without a way to turn text into markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from xtc_viz.ui import web

MODULES = web.modules()
ENTRIES = ("gradio", "replay", "lab")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in the place of the page's sources."""
    monkeypatch.setattr(web, "FOLDER", tmp_path)
    for cached in (web.script, web.style):
        cached.cache_clear()
    yield tmp_path
    for cached in (web.script, web.style):
        cached.cache_clear()


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", MODULES)
def test_no_source_can_make_markup_of_text(name: str) -> None:
    source = (web.FOLDER / f"{name}.js").read_text(encoding="utf-8")
    risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc"
    assert not re.search(risky, source)


def test_each_module_has_a_variable_of_its_own() -> None:
    assert len({web.variable(name) for name in MODULES}) == len(MODULES)


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_script_holds_every_module_once_and_no_module_syntax(entry: str) -> None:
    script = web.script(entry)
    assert not re.search(r"^\s*(import|export)\s*[\w{*\"]", script, re.MULTILINE)
    for name in MODULES:
        assert script.count(f"const {web.variable(name)} = ") <= 1
    assert script.count("const module_core_dom = ") == 1
    # A module stands behind those that it needs.
    last = "const module_lab_page" if entry == "lab" else "const module_lanes_lanes"
    assert script.index("const module_core_dom") < script.index(last)
    assert script.rstrip().endswith("})();")


def test_every_module_is_reached() -> None:
    scripts = "\n".join(map(web.script, ENTRIES))
    assert [name for name in MODULES if f"const {web.variable(name)} = " not in scripts] == []


def test_modules_are_joined_across_folders(folder: Path) -> None:
    write(folder, "core/dom.js", "export const one = 1;\nconst two = 2;\n")
    write(folder, "lanes/a-b.js", 'import { one } from "../core/dom.js";\nexport class A {}\n')
    write(
        folder,
        "lanes/lane.js",
        'import {\n  one as first,\n} from "../core/dom.js";\nimport { A } from "./a-b.js";\n'
        "export async function f() {}\n",
    )
    write(folder, "entry.js", 'import { f } from "./lanes/lane.js";\nexport function go() {}\n')
    assert web.script("entry") == (
        "const module_core_dom = (() => {\n"
        "const one = 1;\nconst two = 2;\n\nreturn { one };\n})();\n"
        "const module_lanes_a_b = (() => {\n"
        "const { one } = module_core_dom;\nclass A {}\n\nreturn { A };\n})();\n"
        "const module_lanes_lane = (() => {\n"
        "const {\n  one: first,\n} = module_core_dom;\nconst { A } = module_lanes_a_b;\n"
        "async function f() {}\n\nreturn { f };\n})();\n"
        "const module_entry = (() => {\n"
        "const { f } = module_lanes_lane;\nfunction go() {}\n\nreturn { go };\n})();"
    )


def test_the_base_stands_before_all_other_style_sheets(folder: Path) -> None:
    for name in ("lanes/lane", "composer/composer", "core/base", "core/atoms"):
        write(folder, f"{name}.css", f"/* {name} */")
    assert re.findall(r"/\* (.*?) \*/", web.style()) == [
        *("core/base", "composer/composer", "core/atoms", "lanes/lane"),
    ]


def test_the_style_is_all_sheets_but_those_of_a_route() -> None:
    assert ".xtc" in web.style()
    assert ".experiments" not in web.style()
    assert ".experiments" in web.sheet("lab/lab")
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg", "", web.style())
