"""`xtc-viz settings`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from xtc_viz.engines.command import main
from xtc_viz.engines.forms import FORMS
from xtc_viz.settings import LaneSettings

FLAGS = "--temp 1 --top-k 0 --top-p 1 --min-p 0.05 --xtc-probability 0.5 --mirostat 2"


def test_from_a_file_into_our_own_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "flags.txt"
    path.write_text(FLAGS, encoding="utf-8")
    assert main([str(path)]) == 0
    said = capsys.readouterr()
    lane = LaneSettings.from_dict(json.loads(said.out))
    assert (lane.sampler.xtc.rho, lane.sampler.min_p) == (0.5, 0.05)
    assert "# read as: llama.cpp flags" in said.err
    assert "`--mirostat` is '2' there" in said.err


def test_from_standard_input_into_other_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(FLAGS))
    assert main(["--to", "koboldcpp request"]) == 0
    assert json.loads(capsys.readouterr().out)["xtc_probability"] == 0.5


def test_the_forms_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines() == list(FORMS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "ollama"], "`form` must be one of"),
        (["--from", "ollama"], "`form` must be one of"),
        (["/there/is/none"], "No such file"),
        ([], "nothing in this text"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
