"""`xtc-viz lab report`: files, words, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from xtc_viz import cli
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.lab.tomlfile import loads
from xtc_viz.models.fake import FakeModel

MINE = """
name = "mine"
suite = "story"
samples = 2
length = 12
prompts = 3
[[conditions]]
name = "baseline"
[[conditions]]
name = "strong"
sampler = { xtc = { rho = 1, tau = 0.1 } }
"""
Lab = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("command") / "a.sqlite"
    with Store(path) as store:
        for _ in run(loads(MINE), load_suite("story"), FakeModel(), store):
            pass
    return path


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
        store: Path) -> Lab:  # fmt: skip
    monkeypatch.chdir(tmp_path)

    def do(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            cli.main(["lab", "report", *words, "--store", str(store)])
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return do


def test_a_report_is_written(lab: Lab, tmp_path: Path) -> None:
    code, out, _ = lab()
    assert (code, out) == (0, "report.html is written.\n")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_both_forms_by_their_names(lab: Lab, tmp_path: Path) -> None:
    code, out, _ = lab("mine", "--out", "a.html", "--markdown", "b.md", "--json")
    assert code == 0
    values = json.loads(out)
    assert values["experiment"] == "mine"
    assert {*values["files"]} == {"a.html", "b.md"} == {path.name for path in tmp_path.iterdir()}
    assert (values["texts"], values["missing"]) == (12, 0)


def test_markdown_alone(lab: Lab, tmp_path: Path) -> None:
    code, out, _ = lab("--markdown", "b.md", "--baseline", "strong")
    assert (code, out) == (0, "b.md is written.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["b.md"]
    assert "better than strong" in (tmp_path / "b.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nobody"], 2, "holds no run 'nobody'"),
        (["--baseline", "nobody"], 2, "`baseline` must be one of baseline, strong"),
        (["--out", "no/such/folder.html"], 1, "No such file"),
    ],
)
def test_what_is_wrong_is_said(lab: Lab, words: list[str], code: int, said: str) -> None:
    found, _, err = lab(*words)
    assert found == code
    assert said in err
