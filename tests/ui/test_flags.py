"""The page's flags and their environment variables."""

from __future__ import annotations

import os
import re

import pytest

from xtc_viz.assets import STORY_MODEL
from xtc_viz.models.remote.key import VARIABLE
from xtc_viz.ui.flags import parser


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("XTC_VIZ_"):
            monkeypatch.delenv(name)


def test_defaults() -> None:
    options = parser().parse_args([])
    assert options.model == str(STORY_MODEL)
    assert (options.host, options.port, options.share) == (None, None, False)
    assert (options.lab, options.lab_store) == (None, "xtc-viz-lab.sqlite")
    assert (options.device, options.dtype, options.quantization) == ("auto", "auto", "none")


def test_a_flag_goes_before_its_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XTC_VIZ_PORT", "8001")
    monkeypatch.setenv("XTC_VIZ_IDLE_MINUTES", "2.5")
    assert parser().parse_args([]).port == 8001
    assert parser().parse_args(["--port", "8002"]).port == 8002
    assert parser().parse_args([]).idle_minutes == 2.5


@pytest.mark.parametrize("path", ["", "/", "/xtc", "/a/b-c.d_e~f/", "https://example.org:8/xtc"])
def test_a_path_behind_a_proxy(path: str) -> None:
    assert parser().parse_args(["--root-path", path]).root_path == path


def test_memory_is_told_by_device() -> None:
    options = parser().parse_args(["--max-memory", "0=20GiB, cpu=60GiB"])
    assert options.max_memory == {"0": "20GiB", "cpu": "60GiB"}


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PORT", "many", "argument --port: must be an integer in [1, 65535], but is 'many'"),
        ("LAB", "on", "argument --lab: must be one of own, all, off, but is 'on'"),
        ("PORT", "70000", "must be an integer in [1, 65535], but is '70000'"),
        ("PORT", "9" * 9_000, "must be an integer in [1, 65535], but is '999"),
        ("PORT", "²", "must be an integer in [1, 65535], but is '²'"),
        ("ROOT_PATH", "xtc", "argument --root-path: must be a path such as /xtc, but is 'xtc'"),
        ("ROOT_PATH", "/a b", "must be a path such as /xtc, but is '/a b'"),
        ("ROOT_PATH", "/x\n", "must be a path such as /xtc, but is '/x\\n'"),
        ("ROOT_PATH", "javascript:alert(1)", "must be a path such as /xtc, but is 'javascript"),
        ("MODELS", "some", "must be one of own, all, catalog, fixed, but is 'some'"),
        ("MAX_LANES", "7", "must be none or an integer in [2, 6], but is 7"),
        ("MAX_MEMORY", "20GiB", "must be such as 0=20GiB,cpu=60GiB, but is '20GiB'"),
    ],
)
def test_a_variable_of_the_wrong_kind_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    value: str,
    words: str,
) -> None:
    monkeypatch.setenv(f"XTC_VIZ_{variable}", value)
    with pytest.raises(SystemExit):
        parser().parse_args([])
    assert words in capsys.readouterr().err


def test_help_names_every_variable() -> None:
    text = parser().format_help()
    flags = set(re.findall(r"--([a-z-]+)", text)) - {"help", "share", "version"}
    variables = set(re.findall(r"XTC_VIZ_\w+", text))
    # A key is no flag: it would stand in the list of processes.
    named = {"XTC_VIZ_" + flag.upper().replace("-", "_") for flag in flags}
    assert named | {VARIABLE} == variables
