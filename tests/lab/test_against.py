"""Two runs compared: paired by prompt, condition and seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from xtc_viz.errors import SettingsError
from xtc_viz.lab.against import against, measured
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.generation import Group
from xtc_viz.lab.reading import find_run
from xtc_viz.lab.results import Results, results
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import RunRecord, Store
from xtc_viz.lab.suite import Suite, load_suite
from xtc_viz.models.fake import FakeModel
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings

STORY = load_suite("story")
EXPERIMENT = Experiment(
    "pair",
    "story",
    (
        LaneSettings("baseline"),
        LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(1.0, 0.1))),
    ),
    samples=2,
    length=24,
    prompts=4,
)
PLAIN = FakeModel()
TWIN = FakeModel(name="twin")
"""Another model, to go by its name, that gives the same probabilities."""
HOT = FakeModel(name="hot", logits=lambda ids: PLAIN.logits(ids) / 2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("pair") / "a.sqlite") as made:
        for model in (PLAIN, TWIN, HOT):
            for _ in run(EXPERIMENT, STORY, model, made):
                pass
        yield made


def record(store: Store, model: str) -> RunRecord:
    return next(run for run in store.runs() if run.identity.name == model)


def pair(store: Store, first: str, second: str) -> tuple[Results, Results]:
    return measured(store, record(store, first), store, record(store, second))


def test_by_hand(store: Store) -> None:
    one = results(store, record(store, "fake"), ["distinct_2"])
    prompts = one.whole[:3]

    def values(baseline: list[float], xtc: list[float]) -> dict[str, dict[Group, float | None]]:
        rows: dict[Group, float | None] = {}
        for name, own in (("baseline", baseline), ("XTC", xtc)):
            rows |= {Group(p, name, 7): v for p, v in zip(prompts, own, strict=True)}
        return {"distinct_2": rows}

    first = replace(one, scores=values([0.5, 0.6, 0.7], [0.6, 0.6, 0.9]))
    second = replace(one, scores=values([0.4, 0.6, 0.5], [0.8, 0.7, 0.6]))
    found = against(first, second)
    shift = found.shift("distinct_2", "XTC")
    assert shift is not None
    assert shift.difference.mean == pytest.approx((0.2 + 0.1 - 0.3) / 3)
    assert shift.difference.n == 3
    assert shift.prompts == (2, 0, 1)
    effect = found.effect("distinct_2", "XTC")
    assert effect is not None
    # (0.4, 0.1, 0.1) in the second run, (0.1, 0, 0.2) in the first.
    assert effect.difference.mean == pytest.approx((0.3 + 0.1 - 0.1) / 3)
    assert found.effect("distinct_2", "baseline") is None


def test_models_that_give_the_same_write_the_same(store: Store) -> None:
    found = against(*pair(store, "fake", "twin"))
    assert found.names == ("fake", "twin")
    assert {one.condition for one in found.shifts} == {"baseline", "XTC"}
    assert {one.condition for one in found.effects} == {"XTC"}
    assert {one.metric for one in found.shifts} > {"distinct_2", "tokens", "embedding_distance"}
    for one in (*found.shifts, *found.effects):
        assert one.difference.mean == pytest.approx(0, abs=1e-9), one.metric
        assert one.better == 0


def test_it_is_the_difference_of_the_means(store: Store) -> None:
    first, second = pair(store, "fake", "hot")
    found = against(first, second)
    moved = 0
    for one in found.shifts:
        means = [each.means[one.metric][one.condition].mean for each in (first, second)]
        if one.difference.n == len(first.whole):
            assert one.difference.mean == pytest.approx(means[1] - means[0])
            moved += abs(one.difference.mean) > 1e-9
    assert moved > 10
    for one in found.effects:
        own = [each.comparison(one.metric, one.condition) for each in (first, second)]
        if own[0] and own[1] and one.difference.n == len(first.whole):
            expected = own[1].difference.mean - own[0].difference.mean
            assert one.difference.mean == pytest.approx(expected)
            assert one.better == 0, "no side is taken"


def test_turned_round_it_is_the_negative(store: Store) -> None:
    one = against(*pair(store, "fake", "hot"))
    other = against(*pair(store, "hot", "fake"))
    for shift in one.shifts:
        back = other.shift(shift.metric, shift.condition)
        assert back is not None
        np.testing.assert_allclose(back.difference.mean, -shift.difference.mean, atol=1e-9)
        assert back.p == pytest.approx(shift.p)


def test_meaning_is_measured_by_one_embedder(store: Store) -> None:
    alone = results(store, record(store, "fake"), ["embedding_distance"])
    together, _ = measured(store, record(store, "fake"), store, record(store, "hot"))
    assert together.means["embedding_distance"] != alone.means["embedding_distance"]
    assert together.means["distinct_2"]["XTC"].mean > 0


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"length": 12}, "`length` is 24 too, but is 12"),
        ({"samples": 1}, "`samples` is 2 too, but is 1"),
        ({"stop": (".",)}, "`stop` is"),
        ({"conditions": EXPERIMENT.conditions[:1]}, ""),
        ({"conditions": (LaneSettings("baseline", SamplerSettings(temperature=2.0)),)},
         "a run whose condition baseline has the same settings"),
        ({"conditions": (LaneSettings("other"),)}, "a run with the baseline baseline"),
    ],
)  # fmt: skip
def test_what_is_not_to_be_compared_is_named(
    store: Store, tmp_path: Path, changes: dict[str, object], problem: str
) -> None:
    with Store(tmp_path / "b.sqlite") as other:
        [*run(replace(EXPERIMENT, **changes), STORY, PLAIN, other)]  # type: ignore[arg-type]
        first, second = measured(store, record(store, "fake"), other, find_run(other, "pair"))
        if problem:
            with pytest.raises(SettingsError) as error:
                against(first, second)
            assert problem in str(error.value)
        else:
            # One that lacks a condition is compared in the others.
            assert {one.condition for one in against(first, second).shifts} == {"baseline"}


def test_prompts_of_one_id_must_be_one(store: Store, tmp_path: Path) -> None:
    prompts = tuple(replace(prompt, text=prompt.text + " and") for prompt in STORY.prompts)
    with Store(tmp_path / "b.sqlite") as other:
        [*run(EXPERIMENT, Suite("story", prompts), PLAIN, other)]
        pair = measured(store, record(store, "fake"), other, find_run(other, "pair"), ["tokens"])
        with pytest.raises(SettingsError, match="a run with the same prompts"):
            against(*pair)
