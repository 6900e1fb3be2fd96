"""A run beside the paper: the same condition, the direction, and nothing more."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.lab.beside import Verdict, beside, verdict
from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.paper import Agreement, Statement, load
from xtc_viz.lab.reading import find_run
from xtc_viz.lab.results import Results, results
from xtc_viz.lab.runner import run
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.models.fake import FakeModel

STORY = load_suite("story")
MAIN = replace(EXPERIMENTS["main"], suite="story", prompts=4, samples=2, length=16)
PAPER = load()
ANY = next(one for one in PAPER.statements if one.metric.name == "distinct_2" and one.direction > 0)


def made(folder: Path, experiment: Experiment) -> Results:
    with Store(folder / f"{experiment.name}.sqlite") as store:
        for _ in run(experiment, STORY, FakeModel(), store):
            pass
        return results(store, find_run(store, experiment.name), mechanism=True)


@pytest.fixture(scope="module")
def main(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return made(tmp_path_factory.mktemp("beside"), MAIN)


def test_each_row_is_the_same_condition_on_both_sides(main: Results) -> None:
    rows = beside(main).rows
    assert {row.statement.at.place for row in rows} >= {"Table 1", "Table 2", "Figure 2"}
    for row in rows:
        own = main.conditions[row.condition].sampler
        assert row.statement.sampler is not None
        assert row.metric in row.statement.metric.ours
        assert own.xtc.rho == row.statement.sampler.xtc.rho
        assert own.temperature == row.statement.sampler.temperature
        expected = main.means[row.metric]
        assert row.level == expected[row.condition]
        assert row.base == expected[row.against]
        if row.difference.n == row.level.n:
            gap = row.level.mean - row.base.mean
            assert row.difference.mean == pytest.approx(gap, abs=1e-12)


def test_a_condition_against_another_is_paired_by_prompt(main: Results) -> None:
    rows = [row for row in beside(main).rows if row.against == "T 1.3"]
    assert {row.condition for row in rows} == {"XTC strong"}
    one = next(row for row in rows if row.metric == "distinct_2")
    levels = main.means["distinct_2"]
    gap = levels["XTC strong"].mean - levels["T 1.3"].mean
    assert one.difference.mean == pytest.approx(gap)
    assert one.difference.n == 4


def test_what_a_run_lacks_is_left_out(main: Results) -> None:
    found = beside(main)
    assert not [row for row in found.rows if "Min-p" in row.statement.condition]
    assert {row.condition for row in found.mechanism} == {"XTC light", "XTC medium", "XTC strong"}
    some = replace(main, means={"distinct_2": main.means["distinct_2"]}, observed={})
    assert {row.metric for row in beside(some).rows} == {"distinct_2"}
    assert not beside(some).mechanism


def test_an_experiment_of_ones_own_is_held_beside_all_that_it_has(tmp_path: Path) -> None:
    own = replace(MAIN, name="mine", conditions=MAIN.conditions[::-1])
    found = beside(made(tmp_path, own))
    places = {row.statement.at.place for row in found.rows}
    assert places >= {"Table 1", "Figure 21", "Figure 22"}
    assert not found.words
    assert {row.against for row in found.rows} >= {"baseline", "T 1.3"}


def test_counts_are_of_all_rows(main: Results) -> None:
    found = beside(main)
    assert sum(found.counts().values()) == len(found.rows)
    assert sum(len(rows) for rows in found.by_place().values()) == len(found.rows)


NAN = math.nan


@pytest.mark.parametrize(
    ("difference", "direction", "expected"),
    [
        (Interval(0.1, 0.05, 0.2, 24), 1, Verdict.AGREES),
        (Interval(-0.1, -0.2, -0.05, 24), 1, Verdict.DIFFERS),
        (Interval(-0.1, -0.2, -0.05, 24), -1, Verdict.AGREES),
        (Interval(0.1, 0.0, 0.2, 24), 1, Verdict.NOTHING),
        (Interval(0.1, -0.01, 0.2, 24), -1, Verdict.NOTHING),
        (Interval(0.1, 0.05, 0.2, 24), 0, Verdict.NEITHER),
        (Interval(0.1, NAN, NAN, 1), 1, Verdict.FEW),
    ],
)
def test_a_verdict_by_hand(difference: Interval, direction: int, expected: Verdict) -> None:
    assert verdict(replace(ANY, direction=direction), difference) == expected


def test_other_definitions_are_never_compared() -> None:
    other: Statement = replace(ANY, metric=replace(ANY.metric, agrees=Agreement.NO))
    assert verdict(other, Interval(0.1, 0.05, 0.2, 24)) is Verdict.OTHER


@given(
    st.tuples(*[st.floats(-1, 1)] * 3).map(sorted),
    st.sampled_from([-1, 0, 1]),
)
def test_nothing_is_claimed_where_the_interval_includes_zero(
    ends: list[float], direction: int
) -> None:
    low, mean, high = ends
    found = verdict(replace(ANY, direction=direction), Interval(mean, low, high, 9))
    if low <= 0 <= high:
        assert found not in (Verdict.AGREES, Verdict.DIFFERS)
    elif direction:
        assert found is (Verdict.AGREES if mean * direction > 0 else Verdict.DIFFERS)
