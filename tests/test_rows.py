"""Rows of a decode: each as if it were alone, whoever is beside it and whenever it joins."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.errors import DistributionError, PromptError, SettingsError
from xtc_viz.models.base import Logits
from xtc_viz.models.fake import END, FakeGeneration, FakeModel, most_probable
from xtc_viz.models.local.model import LocalModel
from xtc_viz.records.step import Bound, Step
from xtc_viz.records.trace import FinishReason
from xtc_viz.rows import Round, Row, RowStep, decode_rows
from xtc_viz.sampling.distribution import PartialLogits
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.settings import SamplerSettings, XTCSettings

STORY_MODEL = Path(__file__).resolve().parents[1] / "assets" / "story-model"
PROMPTS = STORY_MODEL.parent / "prompts.json"
XTC = SamplerSettings(xtc=XTCSettings(0.5, 0.1))
STACK = SamplerSettings(temperature=0.9, top_p=0.95, min_p=0.02, xtc=XTCSettings(0.5, 0.1))
PENALIZED = SamplerSettings(repetition_penalty=1.2, top_k=20)
ROW = Row(FakeModel().encode("Once upon a time"), XTC, max_new_tokens=12)


class ClosedFake(FakeModel):
    """A model whose generations take no rows while they run."""

    def start(self, prompts: Sequence[Sequence[int]]) -> FakeGeneration:
        generation = ClosedGeneration(self, [tuple(prompt) for prompt in prompts])
        self.batches = [*getattr(self, "batches", []), len(prompts)]
        return generation


class ClosedGeneration(FakeGeneration):
    accepts_rows = False

    def replace(self, places: Sequence[int], prompts: Sequence[Sequence[int]]) -> torch.Tensor:
        raise NotImplementedError

    def keep(self, places: Sequence[int]) -> None:
        raise NotImplementedError


def by_row(rounds: Iterable[Round]) -> dict[int, list[RowStep]]:
    """Return each row's steps in order, without their row's number."""
    rows: dict[int, list[RowStep]] = {}
    for steps, _ in rounds:
        for step in steps:
            rows.setdefault(step.row, []).append(step._replace(row=0))
    return rows


def decode(model: Any, rows: Iterable[Row], at_once: int = 16) -> dict[int, list[RowStep]]:
    return by_row(decode_rows(model, rows, at_once=at_once))


row_values = st.builds(
    Row,
    prompt_ids=st.lists(st.integers(260, 320), min_size=1, max_size=12),
    sampler=st.sampled_from([SamplerSettings(), XTC, STACK, PENALIZED]),
    seed=st.integers(0, 3),
    source=st.integers(0, 2),
    max_new_tokens=st.integers(1, 12),
    stop=st.sampled_from([(), (".",), (" the", "\n")]),
    written=st.lists(st.integers(260, 320), max_size=4),
)


@settings(max_examples=40)
@given(
    rows=st.lists(row_values, max_size=12),
    at_once=st.integers(1, 8),
    kind=st.sampled_from([FakeModel, ClosedFake]),
    data=st.data(),
)
def test_a_row_is_what_it_is_alone(
    rows: list[Row], at_once: int, kind: type[FakeModel], data: st.DataObject
) -> None:
    model = kind(context_length=20)
    order = data.draw(st.permutations(range(len(rows))))
    together = decode(model, (rows[number] for number in order), at_once)
    assert model.open_generations == 0
    assert set(together) == set(range(len(rows)))
    for place, number in enumerate(order):
        assert together[place] == decode(FakeModel(context_length=20), [rows[number]])[0]
        assert together[place][-1].finish, "every row ends"
        assert not any(step.finish for step in together[place][:-1])


@settings(max_examples=15)
@given(rounds=st.integers(0, 25), at_once=st.integers(1, 6))
def test_closing_at_any_round_frees_the_cache_and_takes_no_more_rows(
    rounds: int, at_once: int
) -> None:
    taken = 0

    def endless() -> Iterator[Row]:
        nonlocal taken
        while True:
            taken += 1
            yield replace(ROW, seed=taken, max_new_tokens=3)

    model = FakeModel()
    decoding = decode_rows(model, endless(), at_once=at_once)
    ended = sum(step.finish is not None for _ in range(rounds) for step in next(decoding).steps)
    decoding.close()
    assert model.open_generations == 0
    assert taken == 0 if not rounds else at_once <= taken <= ended + at_once


def test_a_round_is_a_forward_and_rows_join_as_soon_as_others_end() -> None:
    lengths = [2, 4, 1, 3]
    rows = [replace(ROW, max_new_tokens=n) for n in lengths]
    rounds = list(decode_rows(FakeModel(), rows, at_once=2))
    assert [[step.row for step in steps] for steps, _ in rounds] == [
        [0, 1],  # prefill of the first two
        [0, 1],  # row 0 ends
        [2],  # prefill of row 2, which ends at once
        [3],  # prefill of row 3
        [3, 1],
        [3, 1],  # both end
    ]
    seconds = [round.seconds for round in rounds]
    assert seconds == sorted(seconds)


def test_a_model_that_takes_no_rows_finishes_the_batch_first() -> None:
    model = ClosedFake()
    rows = [replace(ROW, max_new_tokens=n) for n in (1, 3, 2, 2, 1)]
    decode(model, rows, at_once=2)
    assert model.batches == [2, 2, 1]


def test_the_batch_shrinks_when_nobody_waits() -> None:
    sizes = []

    class Watched(FakeGeneration):
        def advance(self, token_ids: Sequence[int]) -> Logits:
            sizes.append(len(token_ids))
            return super().advance(token_ids)

    class Model(FakeModel):
        def start(self, prompts: Sequence[Sequence[int]]) -> FakeGeneration:
            return Watched(self, [tuple(prompt) for prompt in prompts])

    decode(Model(), [replace(ROW, max_new_tokens=n) for n in range(2, 18)], at_once=16)
    assert sizes[0] == 16
    assert sizes == sorted(sizes, reverse=True)
    assert all(size <= max(4, (17 - step) * 4 / 3) for step, size in enumerate(sizes, 1))


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_row_that_cannot_start_is_reported_and_the_rest_goes_on(at_once: int) -> None:
    model = FakeModel(context_length=30)
    bad = replace(ROW, prompt_ids=[300] * 30, name="cell 7")
    rows = [replace(ROW, prompt_ids=()), ROW, bad, replace(ROW, seed=1), bad]
    together = decode(model, rows, at_once)
    errors = {number: steps[0].error for number, steps in together.items() if steps[0].error}
    assert set(errors) == {0, 2, 4}
    assert all(isinstance(error, PromptError) for error in errors.values())
    assert str(errors[0]).startswith("row 0: The prompt is empty")
    assert str(errors[2]).startswith("cell 7: The text has 30 tokens")
    assert together[0] == [RowStep(0, None, None, errors[0])]
    for number in (1, 3):
        assert together[number] == decode(model, [rows[number]])[0]


def test_a_row_without_a_distribution_is_named_and_the_rest_goes_on() -> None:
    def logits(ids: tuple[int, ...]) -> np.ndarray:
        return np.full(FakeModel().info.vocab_size, math.nan if ids[0] == 5 and len(ids) > 3 else 0)

    model = FakeModel(logits=logits)
    rows = [replace(ROW, prompt_ids=[first, 9]) for first in (6, 5, 7)]
    together = decode(model, rows)
    assert [len(together[number]) for number in range(3)] == [12, 3, 12]
    *_, last = together[1]
    assert (last.step, last.finish) == (None, None)
    assert isinstance(last.error, DistributionError)
    assert str(last.error).startswith("row 1, step 2: the logits must be")
    assert model.open_generations == 0


def test_random_numbers_go_on_where_a_row_was() -> None:
    whole = decode(FakeModel(), [ROW])[0]
    tokens = [entry.step.token for entry in whole if entry.step]
    rest = replace(ROW, written=tokens[:5], max_new_tokens=7)
    assert decode(FakeModel(), [rest])[0] == whole[5:]
    other = replace(ROW, source=2)
    coins = [entry.step.coin for entry in decode(FakeModel(), [other])[0] if entry.step]
    assert coins == [SharedRandomness(7, 2).coin(step) for step in range(len(coins))]


def test_no_rows_are_no_rounds() -> None:
    assert list(decode_rows(FakeModel(), [])) == []


def test_logits_that_are_no_tensor_reach_the_stack_as_they_are() -> None:
    class Listed(FakeGeneration):
        @property
        def logits(self) -> Any:
            return list(super().logits)

        def advance(self, token_ids: Sequence[int]) -> Any:
            return list(super().advance(token_ids))

    class Model(FakeModel):
        def start(self, prompts: Sequence[Sequence[int]]) -> FakeGeneration:
            return Listed(self, [tuple(prompt) for prompt in prompts])

    rows = [ROW, replace(ROW, seed=3)]
    assert decode(Model(), rows) == decode(FakeModel(), rows)


@pytest.mark.parametrize(
    ("values", "name"),
    [({"seed": -1}, "seed"), ({"max_new_tokens": 0}, "max_new_tokens"),
     ({"top_candidates": 5}, "top_candidates")],
)  # fmt: skip
def test_a_row_checks_its_numbers(values: dict[str, Any], name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        replace(ROW, **values)


def test_at_least_one_row_is_decoded_at_once() -> None:
    with pytest.raises(SettingsError, match="`at_once` must be at least 1, but is 0"):
        next(decode_rows(FakeModel(), [ROW], at_once=0))


def test_a_row_ends_for_the_reasons_that_a_lane_does() -> None:
    script: Callable[[int], int] = FakeModel().encode(" the girl . the").__getitem__

    def logits(ids: tuple[int, ...]) -> np.ndarray:
        row = np.full(FakeModel().info.vocab_size, -math.inf)
        row[script(len(ids) - 1) if len(ids) < 4 else END] = 0
        return row

    rows = [replace(ROW, prompt_ids=[9], max_new_tokens=n, stop=stop)
            for n, stop in ((2, ()), (9, ("girl",)), (9, ()))]  # fmt: skip
    finishes = [steps[-1].finish for steps in decode(FakeModel(logits=logits), rows).values()]
    assert finishes == [FinishReason.LENGTH, FinishReason.STOP, FinishReason.EOS]


@pytest.fixture
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.story_model
@pytest.mark.usefixtures("one_thread")
def test_on_the_story_model_every_row_writes_what_it_writes_alone() -> None:
    """In float32, with one thread: the same tokens, though a batch may round differently."""
    model = LocalModel.load(str(STORY_MODEL))
    texts = [prompt["text"] for prompt in json.loads(PROMPTS.read_text(encoding="utf-8"))]
    stacks = [SamplerSettings(), XTC, STACK, PENALIZED]
    rows = [
        Row(model.encode(text), stacks[n % 4], seed=n, max_new_tokens=8 + 11 * n % 23, stop=("!",))
        for n, text in enumerate([*texts, " ".join(texts[:3])])
    ]
    assert len({len(row.prompt_ids) for row in rows}) > 5
    together = tokens(decode(model, rows))
    assert tokens(decode(model, rows, 7)) == together
    assert tokens(decode(model, rows, 1)) == together
    assert any(
        len(row) < given.max_new_tokens for row, given in zip(together, rows, strict=True)
    ), "some end early"


def tokens(rows: dict[int, list[RowStep]]) -> list[list[int]]:
    """Return the tokens of each row."""
    return [
        [entry.step.token for entry in rows[number] if entry.step] for number in range(len(rows))
    ]


# --- a model that shows only its most probable tokens ---------------------------------------


def test_rows_of_a_model_that_shows_a_part_come_and_go_as_well():
    """What it does not mark is what the whole model gives."""
    whole, part = FakeModel(vocab_size=400), FakeModel(vocab_size=400, candidates=60)
    sampler = SamplerSettings(xtc=XTCSettings(0.5, 0.1))
    ids = whole.encode("Once upon")
    rows = [Row([*ids, 300 + n], sampler, seed=n, max_new_tokens=12) for n in range(9)]
    written: list[dict[int, list[Step]]] = [{}, {}]
    for steps, model in zip(written, (whole, part), strict=True):
        for round_ in decode_rows(model, rows, at_once=4):
            for row, step, *_ in round_.steps:
                assert step
                steps.setdefault(row, []).append(step)
    certain = 0
    for row in range(len(rows)):
        for exact, bounded in zip(written[0][row], written[1][row], strict=False):
            assert bounded.bound & Bound.ENTROPY
            assert (bounded.eligible, bounded.removed) == (exact.eligible, exact.removed)
            if bounded.bound & Bound.DRAW:
                break
            assert bounded.token == exact.token
            certain += 1
    assert certain > 20
    assert part.open_generations == 0


def widening(logits: torch.Tensor, count: int) -> PartialLogits:
    """What a server tells of logits, (V,), that shows four times as many where it is asked to."""
    known = most_probable(logits, count)
    if count >= len(logits):
        return replace(known, outside=0.0)
    return replace(known, wider=lambda: widening(logits, 4 * count))


class ServedGeneration(FakeGeneration):
    """One whose rows all cost, ended or not."""

    costs_by_row: Literal[True] = True
    asked: ClassVar[list[int]] = []

    def _shown(self, rows: Sequence[torch.Tensor]) -> Logits:
        self.asked.append(len(rows))
        return [widening(row, 2) for row in rows]


class ServedFake(FakeModel):
    def start(self, prompts: Sequence[Sequence[int]]) -> FakeGeneration:
        return ServedGeneration(self, [tuple(prompt) for prompt in prompts])


def test_what_a_server_shows_is_asked_for_until_a_step_is_exact() -> None:
    samplers = [XTC, SamplerSettings(top_p=0.9), SamplerSettings(top_k=30, xtc=XTC.xtc)]
    rows = [
        replace(ROW, sampler=sampler, seed=seed, max_new_tokens=6, forced=forced)
        for sampler in samplers
        for seed, forced in ((1, ()), (2, (END + 7,)))
    ]
    home, served = (by_row(decode_rows(model, rows)) for model in (FakeModel(), ServedFake()))
    for number, steps in home.items():
        for ours, theirs in zip(steps, served[number], strict=True):
            assert ours.step
            assert theirs.step
            assert not theirs.step.bound & (Bound.DRAW | Bound.ELIGIBLE | Bound.TRUNCATION)
            for name in ("token", "counterfactual", "outcome", "eligible", "removed", "rank"):
                assert getattr(theirs.step, name) == getattr(ours.step, name), name
            assert theirs.step.p == pytest.approx(ours.step.p, rel=1e-4)
            # The ids may differ where many are equally unlikely.
            np.testing.assert_allclose(theirs.step.probs[:100], ours.step.probs[:100], rtol=1e-4)


def test_a_row_that_has_ended_is_dropped_at_once_where_it_would_cost() -> None:
    ServedGeneration.asked.clear()
    rows = [replace(ROW, max_new_tokens=length) for length in (1, 4)]
    list(decode_rows(ServedFake(), rows))
    assert max(ServedGeneration.asked[2:]) == 1
