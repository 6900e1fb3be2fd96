"""The numbers of a run: scores, means and mechanism of what is there, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from xtc_viz.errors import SettingsError
from xtc_viz.lab import table
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.reading import Filter, find_run, generations
from xtc_viz.lab.results import Results, results
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import RunRecord, Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.models.fake import FakeModel
from xtc_viz.sampling.rule import Outcome
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings

STORY = load_suite("story")
XTC = LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(0.5, 0.1)))
EXPERIMENT = Experiment(
    "test", "story", (LaneSettings("baseline"), XTC), samples=2, length=20, prompts=6
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("lab") / "a.sqlite") as made:
        for _ in run(EXPERIMENT, STORY, FakeModel(), made):
            pass
        yield made


@pytest.fixture(scope="module")
def record(store: Store) -> RunRecord:
    return find_run(store, "test")


@pytest.fixture(scope="module")
def measured(store: Store, record: RunRecord) -> Results:
    return results(store, record, mechanism=True)


def test_what_is_measured_is_named(measured: Results) -> None:
    assert measured.baseline == "baseline"
    assert len(measured.whole) == len(measured.prompts) == 6
    assert [*measured.means["distinct_2"]] == ["baseline", "XTC"]
    assert "LSA" in measured.embedder
    one = measured.comparison("distinct_2", "XTC")
    assert one is not None
    means = measured.means["distinct_2"]
    assert one.difference.mean == pytest.approx(means["XTC"].mean - means["baseline"].mean)
    assert measured.comparison("distinct_2", "baseline") is None


def test_the_mechanism_is_that_of_the_steps(
    store: Store, record: RunRecord, measured: Results
) -> None:
    steps = [
        step
        for one in generations(store, record, Filter(conditions=("XTC",)), steps=True)
        for step in one.steps
    ]
    own = measured.observed["XTC"]
    fired = [step.outcome is Outcome.FIRED for step in steps]
    assert own.whole.steps == len(steps)
    assert own.whole.values["activation"] == pytest.approx(np.mean(fired)) != 0
    assert sum(one.steps for one in own.by_genre.values()) == len(steps)
    assert sum(one.steps for one in own.by_prompt.values()) == len(steps)
    assert {*own.by_prompt} == {*measured.prompts}
    assert sum(one.steps for one in own.by_position) == len(steps)
    assert measured.observed["baseline"].whole.values["activation"] == 0


def test_a_prompt_without_all_its_samples_does_not_count(tmp_path: Path) -> None:
    with Store(tmp_path / "half.sqlite") as half:
        writing = run(EXPERIMENT, STORY, FakeModel(), half, rows=1)
        for progress in writing:
            if progress.done == 14:
                break
        writing.close()
        own = results(half, find_run(half, "test"), ["distinct_2"])
        texts = generations(half, find_run(half, "test"), Filter(conditions=("baseline",)))
        counts: dict[str, int] = {}
        for one in texts:
            counts[one.prompt] = counts.get(one.prompt, 0) + 1
        assert {*own.whole} == {prompt for prompt, n in counts.items() if n == 2}


def test_what_cannot_be_measured_is_named(store: Store, record: RunRecord) -> None:
    with pytest.raises(SettingsError, match="`baseline` must be one of baseline, XTC"):
        results(store, record, ["distinct_2"], "nobody")
    with pytest.raises(SettingsError, match="beauty"):
        results(store, record, ["beauty"])
    empty = replace(EXPERIMENT, name="empty", seeds=(99,))
    with Store(store.path.with_name("empty.sqlite")) as nothing:
        next(run(empty, STORY, FakeModel(), nothing))
        with pytest.raises(SettingsError, match="all samples of a prompt"):
            results(nothing, find_run(nothing, "empty"))


def test_the_table_has_each_condition_once(measured: Results) -> None:
    rows = table.rows(measured)
    assert [metric.name for metric in rows] == [*measured.means]
    for own in rows.values():
        assert [row["condition"] for row in own] == ["baseline", "XTC"]
    values = table.values(measured)
    assert values["baseline"] == "baseline"
    assert values["means"]["distinct_2"]["XTC"]["n"] == 6
