"""Cells: what decides a name, and which cells share their dice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.cell import Cell, canonical, cells, count, dice, run_name
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.suite import Suite, load_suite
from xtc_viz.models.fake import FakeModel
from xtc_viz.runs.protection import NOTHING
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings

STORY = load_suite("story")
MODEL = Identity.of(FakeModel())
SMALL = EXPERIMENTS["main"].in_small()


def names(
    experiment: Experiment = SMALL, suite: Suite = STORY, identity: Identity = MODEL
) -> set[str]:
    return {cell.name for cell in cells(experiment, suite, identity)}


def test_each_cell_once() -> None:
    plan = list(cells(SMALL, STORY, MODEL))
    assert len(plan) == len(names()) == count(SMALL, STORY) == 9 * 12 * 2
    assert all(len(cell.name) == 32 for cell in plan)


def test_a_name_by_hand() -> None:
    """It must never change by accident: what is stored would be written again."""
    one = replace(SMALL, conditions=SMALL.conditions[:1], prompts=1, samples=1)
    assert names(one) == {"96cdd9d738c5b851240ab37fb8a6f042"}
    assert dice(7, "morning-1", 0) == 1674557682005802


def test_conditions_share_their_dice_and_nothing_else_does() -> None:
    by_dice: dict[int, list[Cell]] = {}
    experiment = replace(SMALL, seeds=(1, 2))
    for cell in cells(experiment, STORY, MODEL):
        by_dice.setdefault(cell.dice, []).append(cell)
    assert len(by_dice) == 12 * 2 * 2
    for group in by_dice.values():
        assert [cell.condition for cell in group] == list(SMALL.conditions)
        assert len({(cell.prompt.id, cell.seed, cell.sample) for cell in group}) == 1


@given(st.integers(0, 2**63 - 1), st.text(max_size=9), st.integers(0, 9999))
def test_dice_are_what_a_page_can_show(seed: int, prompt: str, sample: int) -> None:
    assert 0 <= dice(seed, prompt, sample) < 2**53


@pytest.mark.parametrize(
    "change",
    [
        {"length": 65},
        {"stop": (".",)},
        {"protect": NOTHING},
        {"seeds": (8,)},
        {"conditions": [LaneSettings("hot", SamplerSettings(temperature=1.7))]},
    ],
)
def test_whatever_changes_a_text_changes_all_names(change: dict[str, Any]) -> None:
    assert not names() & names(replace(SMALL, **change))


@pytest.mark.parametrize("field", ["name", "revision", "weights", "dtype"])
def test_the_model_is_part_of_it(field: str) -> None:
    change: dict[str, Any] = {field: "other"}
    assert not names() & names(identity=replace(MODEL, **change))


def test_words_of_the_prompt_are_part_of_it() -> None:
    prompts = tuple(replace(prompt, text=f"{prompt.text} and") for prompt in STORY.prompts)
    assert not names() & names(suite=Suite("story", prompts))


def test_what_changes_no_text_changes_no_name() -> None:
    renamed = tuple(
        LaneSettings(f"other {lane.name}", lane.sampler) for lane in SMALL.conditions[::-1]
    )
    other = replace(SMALL, name="other", question="?", conditions=renamed)
    assert names(other) == names()
    off = LaneSettings("off", SamplerSettings(xtc=XTCSettings(0.0, 0.4)))
    assert names(replace(SMALL, conditions=(off,))) < names()
    assert run_name(other, STORY, MODEL) != run_name(SMALL, STORY, MODEL)


def test_experiments_share_what_they_have_in_common() -> None:
    """The ablation's own rule is the strong condition of the main evaluation, and so on."""
    main, strategies = names(EXPERIMENTS["main"]), names(EXPERIMENTS["strategies"])
    assert len(main & strategies) == 2 * 24 * 8
    assert names(EXPERIMENTS["activation"]) < main


def test_equal_numbers_are_written_alike() -> None:
    assert canonical({"a": (1.0, 0.5, True, None)}) == {"a": [1, 0.5, True, None]}
    assert repr(canonical([2.0])) == "[2]"
