"""The penalties on hand-worked contexts, their properties, and what they come from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import RepetitionPenaltyLogitsProcessor

from xtc_viz.sampling.stages.base import Change
from xtc_viz.sampling.stages.dry import dry
from xtc_viz.sampling.stages.frequency_penalty import frequency
from xtc_viz.sampling.stages.presence_penalty import presence
from xtc_viz.sampling.stages.repetition_penalty import repetition

VOCABULARY = 12
BREAKER = 9
contexts = st.lists(st.integers(0, VOCABULARY - 1), max_size=40)
repetitive = st.lists(st.integers(0, 3), max_size=30)
logits = st.floats(-50, 50, width=32) | st.just(-np.inf)
rows = st.lists(logits, min_size=VOCABULARY, max_size=VOCABULARY).map(lambda x: np.array(x, "f4"))
penalties = st.floats(-2, 2, width=32)


def lowered(change: Change) -> dict[int, float]:
    assert change.factor == 1.0
    assert (np.diff(change.ids) > 0).all()
    return dict(zip(change.ids.tolist(), change.lowered.tolist(), strict=True))


def test_repetition_by_hand():
    change = repetition(2.0, 0, [3, 1, 3])
    assert change.ids.tolist() == [1, 3]
    old = np.array([4.0, -1.5], "f4")
    assert change.apply(old).tolist() == [2.0, -3.0]
    assert old.tolist() == [4.0, -1.5]


def test_presence_and_frequency_by_hand():
    context = [5, 2, 5, 5, 7]
    assert lowered(presence(0.5, 0, context)) == {2: 0.5, 5: 0.5, 7: 0.5}
    assert lowered(frequency(0.5, 0, context)) == {2: 0.5, 5: 1.5, 7: 0.5}
    assert frequency(0.5, 0, context).apply(np.array([1, 1, -1], "f4")).tolist() == [
        0.5,
        -0.5,
        -1.5,
    ]


@pytest.mark.parametrize("penalty", [presence, frequency])
def test_a_window_forgets_what_lies_before_it(penalty):
    assert lowered(penalty(1.0, 2, [5, 2, 5, 7])) == {5: 1.0, 7: 1.0}
    assert repetition(1.5, 2, [5, 2, 5, 7]).ids.tolist() == [5, 7]


def test_dry_by_hand():
    # The last three tokens, 1 2 3, stood before 4; the last one, 3, also before 8.
    context = [1, 2, 3, 4, 0, 3, 8, 1, 2, 3]
    assert lowered(dry(2.0, 3.0, 2, 0, frozenset(), context)) == {4: 2.0 * 3}
    assert lowered(dry(2.0, 3.0, 1, 0, frozenset(), context)) == {4: 2.0 * 3**2, 8: 2.0}


def test_dry_takes_the_longest_match_of_a_token():
    context = [1, 2, 3, 4, 2, 3, 4, 7, 1, 2, 3]
    assert lowered(dry(1.0, 2.0, 1, 0, frozenset(), context)) == {4: 2.0**2}


def test_dry_matches_may_overlap_the_end():
    assert lowered(dry(1.0, 2.0, 1, 0, frozenset(), [6, 6, 6, 6])) == {6: 2.0**2}


def test_dry_breakers_end_a_match_and_are_never_lowered():
    breakers = frozenset({BREAKER})
    assert lowered(dry(1.0, 2.0, 1, 0, breakers, [1, 9, 3, 4, 1, 9, 3])) == {4: 1.0}
    assert lowered(dry(1.0, 2.0, 1, 0, breakers, [1, 3, 9, 1, 3])) == {}
    assert lowered(dry(1.0, 2.0, 1, 0, breakers, [9, 4, 9])) == {}


def test_dry_looks_back_no_further_than_fifty_tokens():
    block = list(range(60))
    change = dry(1.0, 1.1, 2, 0, frozenset(), [*block, 99, *block])
    assert lowered(change) == {99: pytest.approx(1.1**48, rel=1e-6)}


def test_a_penalty_ends_at_the_largest_float():
    change = dry(1.0, 1e30, 1, 0, frozenset(), [6] * 60)
    assert lowered(change) == {6: np.finfo(np.float32).max}
    assert change.apply(np.array([-3.0], "f4")) == -np.finfo(np.float32).max


@pytest.mark.parametrize(
    "change",
    [
        repetition(1.0, 0, [1, 2]),
        presence(0.0, 0, [1, 2]),
        frequency(0.0, 0, [1, 2]),
        dry(0.0, 2.0, 1, 0, frozenset(), [1, 1, 1]),
        repetition(2.0, 0, []),
        frequency(1.0, 0, []),
        dry(1.0, 2.0, 1, 0, frozenset(), []),
        dry(1.0, 2.0, 1, 0, frozenset(), [1]),
    ],
)
def test_nothing_changes_where_a_penalty_is_off_or_nothing_was_said(change):
    assert len(change.ids) == len(change.lowered) == 0


@given(contexts, rows, st.floats(0.1, 10))
def test_repetition_is_that_of_transformers(context, row, penalty):
    change = repetition(penalty, 0, context)
    ours = row.copy()
    ours[change.ids] = change.apply(row[change.ids])
    ids = torch.tensor([context], dtype=torch.int64)
    theirs = RepetitionPenaltyLogitsProcessor(penalty)(ids, torch.from_numpy(row[None].copy()))
    np.testing.assert_array_equal(ours, theirs[0].numpy())


@given(contexts, penalties, penalties, rows)
def test_presence_and_frequency_follow_the_formula_of_openai(context, present, often, row):
    changes = presence(present, 0, context), frequency(often, 0, context)
    ours = row.copy()
    for change in changes:
        ours[change.ids] = change.apply(ours[change.ids])
    counts = np.bincount(np.array(context, int), minlength=VOCABULARY)
    np.testing.assert_allclose(ours, row - counts * often - (counts > 0) * present, atol=1e-4)


@given(contexts, penalties, st.randoms(use_true_random=False), st.integers(0, 50))
def test_the_order_of_a_context_matters_to_dry_alone(context, penalty, random, window):
    shuffled = context[-window:]
    random.shuffle(shuffled)
    for function in presence, frequency:
        assert lowered(function(penalty, window, context)) == lowered(
            function(penalty, 0, shuffled)
        )


def by_definition(multiplier, base, allowed_length, window, breakers, context):
    """DRY by comparing the end of the context with what stands before each of its tokens."""
    context = context[-window:] if window else context
    penalties: dict[int, float] = {}
    for place in range(1, len(context)):
        match = 0
        for n in range(1, min(place, 50) + 1):
            if context[place - n : place] == context[-n:] and not breakers & set(context[-n:]):
                match = n
        if match >= allowed_length and context[place] not in breakers:
            penalty = multiplier * base ** (match - allowed_length)
            penalties[context[place]] = max(penalty, penalties.get(context[place], 0.0))
    return penalties


@given(
    repetitive,
    st.integers(1, 5),
    st.integers(0, 30),
    st.frozensets(st.integers(0, 3), max_size=2),
    st.floats(1, 4),
)
def test_dry_is_its_definition(context, allowed_length, window, breakers, base):
    arguments = 0.8, base, allowed_length, window, breakers, context
    assert lowered(dry(*arguments)) == pytest.approx(by_definition(*arguments), rel=1e-6)


@given(repetitive, rows, st.floats(0.5, 2), penalties)
def test_undo_takes_back_what_apply_did_and_leaves_masks_alone(context, row, factor, penalty):
    changes = (
        repetition(factor, 0, context),
        presence(penalty, 0, context),
        frequency(penalty, 0, context),
        dry(0.8, 1.3, 1, 0, frozenset(), context),
    )
    for change in changes:
        old = row[change.ids]
        kept = old.copy()
        new = change.apply(old)
        np.testing.assert_array_equal(old, kept)
        np.testing.assert_array_equal(np.isneginf(new), np.isneginf(old))
        assert new.dtype == np.float32
        back = change.undo(new)
        assert back.dtype == np.float32
        finite = np.isfinite(old)
        np.testing.assert_array_equal(back[~finite], old[~finite])
        scale = np.abs(change.lowered[finite]) + np.abs(old[finite])
        least = np.finfo(np.float32).tiny  # below it float32 has fewer digits
        assert (np.abs(back[finite] - old[finite]) <= 4e-7 * scale + least).all()


def test_a_repetition_penalty_and_a_subtraction_undo_in_reverse_order():
    change = Change(np.array([4]), 2.0, np.array([3.0], "f4"))
    assert change.apply(np.array([4.0], "f4")).tolist() == [-1.0]
    assert change.undo(np.array([-1.0], "f4")).tolist() == [4.0]
