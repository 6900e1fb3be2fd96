"""The table of a run, from its generations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from xtc_viz.errors import SettingsError
from xtc_viz.lab.comparison import compare, conditions, levels, scores
from xtc_viz.lab.generation import Generation, Group
from xtc_viz.lab.metrics import chosen
from xtc_viz.lab.samples import context

PROMPTS = [f"p{number:02}" for number in range(16)]


def run(rng: np.random.Generator) -> list[Generation]:
    """Three conditions: few words, twice as many, and again as few."""
    sizes = {"plain": 6, "rich": 60, "same": 6}
    return [
        Generation(prompt, condition, seed, sample, " ".join(
            f"w{number}" for number in rng.integers(0, size, size=20)
        ))
        for prompt in PROMPTS for condition, size in sizes.items()
        for seed in (1, 2) for sample in range(3)
    ]  # fmt: skip


def test_what_differs_is_said_to_and_nothing_else() -> None:
    generations = run(np.random.default_rng(0))
    metrics = chosen(["distinct_2", "self_bleu", "words", "embedding_distance", "tokens"])
    values = scores(generations, metrics, context(one.text for one in generations))
    table = {(one.metric, one.condition): one for one in
             compare(values, "plain", 1)}  # fmt: skip
    # Tokens are not known, so nothing is said of them.
    assert {metric for metric, _ in table} == {m.name for m in metrics} - {"tokens"}
    rich, same = table["distinct_2", "rich"], table["distinct_2", "same"]
    assert (rich.better, rich.prompts, rich.difference.n) == (1, (16, 0, 0), 16)
    assert rich.difference.low > same.difference.high
    assert rich.p == pytest.approx(1 / 5001)
    assert rich.p_holm == pytest.approx(2 / 5001)
    assert 20 < rich.percent.low < rich.percent.mean < 30
    # More varied is less alike, and better too.
    assert table["self_bleu", "rich"].difference.high < 0
    assert table["self_bleu", "rich"].better == 1
    assert table["self_bleu", "rich"].prompts.wins == 16
    # All have twenty words.
    words = table["words", "rich"]
    assert (words.difference.mean, words.p, words.prompts, words.better) == (0, 1, (0, 16, 0), 0)
    assert 0 < same.detectable < rich.difference.mean
    assert (rich.sign, same.sign, table["self_bleu", "rich"].sign) == ("▲", "", "▲")
    assert replace(rich, p_holm=0.2).sign == "△"
    assert replace(rich, better=0).sign == "◆"
    assert replace(rich, better=-1, p_holm=0.2).sign == "▽"


def test_levels_are_means_over_prompts() -> None:
    values = {Group("a", "c", 1): 1.0, Group("a", "c", 2): 3.0, Group("b", "c", 1): 5.0}
    assert conditions(values) == ("c",)
    level = levels(values, 0)["c"]
    assert (level.mean, level.n) == (3.5, 2)


def test_a_group_that_is_not_complete_is_left_out() -> None:
    generations = [one for one in run(np.random.default_rng(0)) if one.prompt == "p00"][:-1]
    (values,) = scores(generations, chosen(["self_bleu"])).values()
    assert len(values) == 5
    assert Group("p00", "same", 2) not in values
    (values,) = scores(generations, chosen(["self_bleu"]), samples=2).values()
    assert len(values) == 6


def test_nothing_to_compare() -> None:
    assert compare(scores([], chosen(["xz"])), "plain", 0) == []
    values = scores(run(np.random.default_rng(0))[:3], chosen(["xz"]))
    assert compare(values, "plain", 0) == []
    with pytest.raises(SettingsError, match="`baseline` must be one of plain, but is 'none'"):
        compare(values, "none", 0)


def test_an_interval_is_the_same_whatever_is_computed_beside_it() -> None:
    generations = run(np.random.default_rng(2))
    few, many = (
        scores(generations, chosen(names), context(one.text for one in generations))
        for names in (["self_bleu"], ["words", "distinct_2", "self_bleu"])
    )
    alone, beside = ({(one.metric, one.condition): one for one in compare(values, "plain", 0)}
                     for values in (few, many))  # fmt: skip
    assert alone == {key: one for key, one in beside.items() if key in alone}
    twins = {group: value for group, value in few["self_bleu"].items() if group.condition != "same"}
    level = levels(few["self_bleu"], 0)
    assert levels(twins, 0) == {name: level[name] for name in ("plain", "rich")}
