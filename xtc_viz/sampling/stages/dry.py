"""DRY, "don't repeat yourself": lower what would go on repeating a sequence of the context."""

from __future__ import annotations

import math

import numpy as np

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import NO_CHANGE, Change, Context, Ids, Logits, Penalty, last

LONGEST_MATCH = 50
"""DRY looks this many tokens back at most, as in text-generation-webui."""


def dry(
    multiplier: float,
    base: float,
    allowed_length: int,
    window: int,
    breakers: frozenset[int],
    context: Context,
) -> Change:
    """Lower the logits of tokens that would go on repeating a sequence of the context.

    DRY, "don't repeat yourself": where the last n tokens stood earlier too, the token that
    followed there is lowered by multiplier · base^(n - allowed_length), with n the longest such
    match of that token, at least `allowed_length` and at most 50. A match holds no breaker, and a
    breaker is never lowered.

    This is `DRYLogitsProcessor` of text-generation-webui (modules/sampler_hijack.py), by the
    author of XTC. llama.cpp (`llama_sampler_dry_apply`) differs in these: it has no longest match
    and bounds the exponent where float32 would overflow; its breakers are texts, and any tokens
    that spell one break a match, where text-generation-webui takes the last token of each text;
    and its window of 0 is off.

    Args:
        multiplier: at least 0, 0 is off.
        base: at least 1. A penalty ends at the largest float32 value.
        allowed_length: at least 1.
        window: how many of the last tokens count, 0 for all; matches end at its border.
        breakers: the token ids that interrupt a match.
        context: (T,), the token ids so far, prompt included.
    """
    tokens = last(window, context)
    longest = _after_last_breaker(tokens[-LONGEST_MATCH:], breakers)
    if multiplier == 0.0 or longest < max(1, allowed_length):
        return NO_CHANGE
    # Where the last token stood before; round by round one token more before it has to agree.
    end = len(tokens) - 1
    matching = tokens[:end] == tokens[end]
    lengths = matching.astype(np.int8)
    for n in range(1, longest):
        matching[:n] = False
        matching[n:] &= tokens[: end - n] == tokens[end - n]
        if not matching.any():
            break
        lengths += matching
    places = np.flatnonzero(lengths >= allowed_length)
    ids, token = np.unique(tokens[places + 1], return_inverse=True)
    exponents = np.zeros(len(ids))
    np.maximum.at(exponents, token, lengths[places] - allowed_length)
    penalized = np.array([v not in breakers for v in ids.tolist()], dtype=np.bool_)
    with np.errstate(over="ignore"):
        penalties = multiplier * np.power(float(base), exponents[penalized])
    lowered: Logits = np.minimum(penalties, np.finfo(np.float32).max).astype(np.float32)
    return Change(ids[penalized], 1.0, lowered)


def _after_last_breaker(tokens: Ids, breakers: frozenset[int]) -> int:
    """Return how many tokens stand after the last breaker among them."""
    for n, token in enumerate(reversed(tokens.tolist())):
        if token in breakers:
            return n
    return len(tokens)


STAGE = Penalty(
    name="dry",
    label="DRY",
    place=40,
    knobs=(
        Knob(
            "dry_multiplier",
            "DRY multiplier",
            0.0,
            0.0,
            100.0,
            0.05,
            "How strongly DRY lowers tokens that would continue a repetition. 0 is off.",
            soft_high=5.0,
        ),
        Knob(
            "dry_base",
            "DRY base",
            1.75,
            1.0,
            10.0,
            0.05,
            "How fast DRY grows with the length of the repetition.",
            soft_high=4.0,
        ),
        Knob(
            "dry_allowed_length",
            "DRY allowed length",
            2,
            1,
            50,
            1,
            "Repetitions up to this many tokens are left alone.",
            integer=True,
            soft_high=20,
        ),
        Knob(
            "dry_window",
            "DRY window",
            0,
            0,
            math.inf,
            1,
            "How many of the last tokens DRY looks at. 0 means all.",
            integer=True,
            soft_high=4096,
        ),
    ),
    change=lambda settings, context: dry(
        settings.dry_multiplier,
        settings.dry_base,
        settings.dry_allowed_length,
        settings.dry_window,
        settings.dry_breakers,
        context,
    ),
)
