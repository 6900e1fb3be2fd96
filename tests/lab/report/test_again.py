"""How a run is run again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.report.again import command, needs_file, toml
from xtc_viz.lab.store import RunRecord
from xtc_viz.lab.tomlfile import loads

STORY = Identity("story-model", "", "ab", "float32", 1, 2)
HUB = replace(STORY, name="a/b", revision="abc")
MAIN = EXPERIMENTS["main"]


def record(experiment: Experiment, identity: Identity = STORY) -> RunRecord:
    return RunRecord("run", experiment.to_dict(), {}, identity, 1, 0.0)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (record(MAIN), "main"),
        (record(replace(MAIN, suite="story")), "main"),
        (record(replace(MAIN.in_small(), suite="story")), "main --small"),
        (record(replace(MAIN, suite="longform")), "main --suite longform"),
        (record(MAIN, HUB), "main --model a/b --revision abc"),
        (record(MAIN, replace(STORY, name="a b;c")), "main --model 'a b;c'"),
        (record(replace(MAIN, samples=3)), "mine.toml"),
        (record(replace(MAIN, name="other")), "mine.toml"),
    ],
)
def test_the_command(run: RunRecord, words: str) -> None:
    assert command(run) == f"xtc-viz lab run {words}"
    assert needs_file(run) == ("toml" in words)
    assert loads(toml(run)).to_dict() == run.experiment
