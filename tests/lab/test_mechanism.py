"""The mechanism: by hand, against the distributions themselves, by position and genre."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.ui.factories import BEAR, BOY, GIRL, MAN, decode, make_step, run_settings, sampler
from xtc_viz.lab.mechanism import QUANTITIES, by_label, by_position, observe, pooled
from xtc_viz.records.packed import Steps
from xtc_viz.sampling.rule import Outcome, decide, expected
from xtc_viz.settings import LaneSettings, SamplerSettings, Strategy, XTCSettings

NAMES = {quantity.name: place for place, quantity in enumerate(QUANTITIES)}
HALF = sampler(rho=0.5)


def test_a_step_that_fired_by_hand() -> None:
    # girl .41 and boy .33 are removed, man .12 is kept; bear, dog and the rest are .14.
    step = make_step(HALF)
    values = pooled([observe([step], HALF.xtc)]).values
    assert values == pytest.approx({
        "ambiguous": 1, "activation": 1, "activation_without_veto": 1, "top_changed": 1,
        "changed": 1, "eligible": 3, "removed_mass": 0.74, "removed_mass_without_veto": 0.74,
        "removed_mass_fired": 0.74, "expected_mass": 0.37, "expected_mass_without_veto": 0.37,
        "kl": -math.log(0.26), "kl_without_veto": -math.log(0.26), "tail_before": 0.14,
        "tail_after": 0.14 / 0.26, "tail_after_without_veto": 0.14 / 0.26, "tail_drawn": 0,
        "tail_drawn_without_xtc": 0,
    }, abs=1e-7)  # fmt: skip


def test_a_vetoed_step_by_hand() -> None:
    settings = sampler(rho=0.5, protected=[BOY])
    step = make_step(settings)
    assert step.outcome is Outcome.PROTECTED
    values = pooled([observe([step], settings.xtc)]).values
    with_veto = ("activation", "removed_mass", "expected_mass", "kl", "top_changed")
    assert [values[name] for name in with_veto] == [0] * 5
    assert values["removed_mass_fired"] is None
    assert values["tail_after"] == values["tail_before"] == pytest.approx(0.14)
    assert values["activation_without_veto"] == 1
    assert values["removed_mass_without_veto"] == pytest.approx(0.74)
    assert values["expected_mass_without_veto"] == pytest.approx(0.37)
    assert values["kl_without_veto"] == pytest.approx(-math.log(0.26))
    assert values["tail_after_without_veto"] == pytest.approx(0.14 / 0.26)


def test_the_veto_counts_in_what_is_expected_though_the_coin_said_no() -> None:
    # Of the three equally likely survivors only boy himself lets the step pass: girl, man go.
    xtc = XTCSettings(rho=0.6, strategy=Strategy.KEEP_RANDOM, protected=frozenset([BOY]))
    step = make_step(SamplerSettings(xtc=xtc), coin=0.9)
    assert step.outcome is Outcome.SKIPPED
    values = pooled([observe([step], xtc)]).values
    assert values["expected_mass"] == pytest.approx(0.6 * (0.41 + 0.12) / 3)
    assert values["expected_mass_without_veto"] == pytest.approx(0.6 * 2 * 0.86 / 3)


def test_what_is_drawn_from_the_tail() -> None:
    steps = [
        make_step(HALF, token=BEAR, counterfactual=BEAR),
        make_step(HALF, token=BEAR),
        make_step(HALF, token=BEAR, forced=True),
        make_step(HALF),
    ]
    values = pooled([observe(steps, HALF.xtc)]).values
    assert values["tail_drawn"] == pytest.approx(2 / 3)
    assert values["tail_drawn_without_xtc"] == pytest.approx(1 / 3)


def test_the_top_token_may_stay() -> None:
    xtc = XTCSettings(rho=1.0, strategy=Strategy.KEEP_RANDOM)
    kept = [make_step(SamplerSettings(xtc=xtc), coin=coin) for coin in (0.1, 0.5, 0.9)]
    assert [step.token for step in kept] == [GIRL, BOY, MAN]
    table = observe(kept, xtc)
    assert table[:, NAMES["activation"]].tolist() == [1, 1, 1]
    assert table[:, NAMES["top_changed"]].tolist() == [0, 1, 1]


def test_of_nothing() -> None:
    empty = observe([], HALF.xtc)
    assert empty.shape == (0, len(QUANTITIES))
    for found in (pooled([]), pooled([empty])):
        assert (found.steps, set(found.values.values())) == (0, {None})
    assert by_position([]) == by_position([empty]) == []
    assert by_label([]) == {}


def lanes(rho: float) -> list[Steps]:
    """Return the packed steps of some generations of the fake model, of different lengths."""
    settings = sampler(rho)
    made = [
        decode(lanes=(LaneSettings("XTC", settings),), seed=seed, length=30 + 10 * seed)[0]
        for seed in range(4)
    ]
    return [Steps(trace.lanes[0].steps) for trace in made]


def test_kl_and_tail_are_those_of_the_distributions() -> None:
    steps = [step for lane in lanes(0.7) for step in lane]
    table = observe(steps, sampler(0.7).xtc)
    assert 0 < table[:, NAMES["activation"]].mean() < 1
    for step, row in zip(steps, table, strict=True):
        p = np.array([*step.probs, step.tail_mass])
        gone = np.array([token in step.removed for token in step.ids] + [False])
        q = np.where(gone, 0, p) / p[~gone].sum()
        kl = float((q[q > 0] * np.log(q[q > 0] / p[q > 0])).sum())
        assert row[NAMES["kl"]] == pytest.approx(kl, abs=1e-5)
        assert row[NAMES["tail_before"]] == pytest.approx(p[step.eligible :].sum(), abs=1e-5)
        assert row[NAMES["tail_after"]] == pytest.approx(q[step.eligible :].sum(), abs=1e-5)


def test_arrays_say_what_the_steps_say() -> None:
    protected = XTCSettings(rho=0.7, tau=0.05, protected=frozenset(range(0, 332, 3)))
    settings = SamplerSettings(xtc=protected, temperature=1.3)
    lane = decode(lanes=(LaneSettings("XTC", settings),), length=200)[0].lanes[0].steps
    table = observe(lane, protected)
    assert len({step.outcome for step in lane}) == len(Outcome)
    for step, row in zip(lane, table, strict=True):
        n = step.eligible
        values = dict(zip(NAMES, row, strict=True))
        assert values["activation"] == step.fired
        assert values["changed"] == step.changed
        assert values["ambiguous"] == (step.outcome is not Outcome.UNAMBIGUOUS)
        assert bool(values["activation"] and values["tail_drawn"]) == step.from_tail
        assert values["top_changed"] == (step.fired and step.ids[0] in step.removed)
        assert values["tail_drawn_without_xtc"] == (step.counterfactual not in step.ids[:n])
        mass = expected(step.ids[:n], step.probs[:n], protected)[1]
        assert values["expected_mass"] == pytest.approx(mass)


def test_expected_removed_mass_is_the_mean_over_coins() -> None:
    protected = frozenset([GIRL])
    for xtc in (replace(HALF.xtc, protected=protected), HALF.xtc):
        step = make_step(SamplerSettings(xtc=xtc))
        n = step.eligible
        coins = (np.arange(1000) + 0.5) / 1000
        masses = [decide(step.ids[:n], step.probs[:n], coin, xtc).removed_mass for coin in coins]
        found = pooled([observe([step], xtc)]).values["expected_mass"]
        assert found == pytest.approx(np.mean(masses), abs=1e-6)


def test_positions_and_labels_are_means_over_their_own_steps() -> None:
    tables = [observe(lane, HALF.xtc) for lane in lanes(0.5)]
    assert [len(table) for table in tables] == [30, 40, 50, 60]
    positions = by_position(tables)
    assert [one.steps for one in positions] == [4] * 30 + [3] * 10 + [2] * 10 + [1] * 10
    for i in (0, 35, 59):
        rows = np.array([table[i] for table in tables if len(table) > i])
        for name, place in NAMES.items():
            column = rows[~np.isnan(rows[:, place]), place]
            assert positions[i].values[name] == (
                pytest.approx(column.mean()) if len(column) else None
            )
    labels = by_label(zip(["sea", "toys", "sea", "toys"], tables, strict=True))
    assert list(labels) == ["sea", "toys"]
    assert labels["toys"] == pooled([tables[1], tables[3]])
    whole = pooled(tables)
    assert whole.steps == 180
    weighted = [one.steps * (one.values["eligible"] or 0) for one in labels.values()]
    assert whole.values["eligible"] == pytest.approx(sum(weighted) / 180)


def test_a_lane_without_xtc_removes_nothing() -> None:
    lane = decode(lanes=run_settings().lanes[:1])[0].lanes[0]
    values = pooled([observe(lane.steps, lane.settings.sampler.xtc)]).values
    for name in ("activation", "changed", "removed_mass", "expected_mass", "kl"):
        assert values[name] == 0, name
    assert values["tail_after"] == values["tail_before"]
    assert values["tail_drawn"] == values["tail_drawn_without_xtc"]
    assert (values["ambiguous"] or 0) > 0


def test_names_are_given_once() -> None:
    assert len(NAMES) == len(QUANTITIES)
    assert all(quantity.label and quantity.meaning.endswith(".") for quantity in QUANTITIES)
