"""Penalties for what a text has already said: repetition, presence, frequency, DRY.

Each looks at the token ids so far and says how it would change the next step's logits. All of
them count the prompt too, as llama.cpp and text-generation-webui do; OpenAI's documentation and
vLLM count only what was generated, for presence and frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Logits = npt.NDArray[np.float32]
Context = Sequence[int] | Ids

LONGEST_MATCH = 50
"""DRY looks this many tokens back at most, as in text-generation-webui."""


@dataclass(frozen=True, slots=True)
class Change:
    """What penalties do to logits: those of `ids` change, all others stay.

    Both directions keep -inf as it is: a token that was masked stays masked.
    """

    ids: Ids  # (n,), rising, no id twice
    factor: float  # repetition penalty of these ids; 1 changes nothing
    lowered: Logits  # (n,), subtracted after that

    def apply(self, logits: Logits) -> Logits:
        """Return the new logits of `ids`, (n,) float32, given the old ones in the same order."""
        factor = np.float32(self.factor)
        return np.where(logits < 0, logits * factor, logits / factor) - self.lowered

    def undo(self, logits: Logits) -> Logits:
        """Return what `apply` was given, up to the rounding of float32.

        It rounds in steps of what was subtracted: a DRY penalty of millions leaves nothing to
        read the old logit from.
        """
        factor = np.float32(self.factor)
        scaled = logits + self.lowered
        return np.where(scaled < 0, scaled / factor, scaled * factor)


def repetition(penalty: float, window: int, context: Context) -> Change:
    """Divide positive logits of tokens that occurred by `penalty`, multiply others with it.

    With window 0 this is transformers' `RepetitionPenaltyLogitsProcessor` (Keskar et al., 2019,
    section 4.1, made to lower negative logits too), bit for bit.

    Args:
        penalty: above 0; above 1 it discourages, below 1 it encourages, 1 is off.
        window: how many of the last tokens count, 0 for all: `repetition_penalty_range` of
            text-generation-webui, `repeat_last_n` of llama.cpp (where 0 is off).
        context: (T,), the token ids so far, prompt included.
    """
    if penalty == 1.0:
        return _NONE
    ids, _ = _counts(window, context)
    return Change(ids, penalty, np.zeros(len(ids), dtype=np.float32))


def presence(penalty: float, window: int, context: Context) -> Change:
    """Lower the logits of tokens that occurred by `penalty`, however often they did.

    OpenAI's `presence_penalty` (from -2 to 2 there; negative encourages, 0 is off), as in
    llama.cpp's `llama_sampler_penalties_apply`. `window` and `context` as for `repetition`.
    """
    if penalty == 0.0:
        return _NONE
    ids, _ = _counts(window, context)
    return Change(ids, 1.0, np.full(len(ids), penalty, dtype=np.float32))


def frequency(penalty: float, window: int, context: Context) -> Change:
    """Lower the logits of tokens that occurred by `penalty` for each time that they did.

    OpenAI's `frequency_penalty` (from -2 to 2 there; negative encourages, 0 is off), as in
    llama.cpp's `llama_sampler_penalties_apply`. `window` and `context` as for `repetition`.
    """
    if penalty == 0.0:
        return _NONE
    ids, counts = _counts(window, context)
    return Change(ids, 1.0, counts.astype(np.float32) * np.float32(penalty))


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
    tokens = _last(window, context)
    longest = _after_last_breaker(tokens[-LONGEST_MATCH:], breakers)
    if multiplier == 0.0 or longest < max(1, allowed_length):
        return _NONE
    # Where the last token stood before; round by round one token more before it has to agree.
    last = len(tokens) - 1
    matching = tokens[:last] == tokens[last]
    lengths = matching.astype(np.int8)
    for n in range(1, longest):
        matching[:n] = False
        matching[n:] &= tokens[: last - n] == tokens[last - n]
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


_NONE = Change(np.empty(0, dtype=np.int64), 1.0, np.empty(0, dtype=np.float32))


def _last(window: int, context: Context) -> Ids:
    return np.asarray(context, dtype=np.int64)[-window:]


def _counts(window: int, context: Context) -> tuple[Ids, npt.NDArray[np.int64]]:
    return np.unique(_last(window, context), return_counts=True)


def _after_last_breaker(tokens: Ids, breakers: frozenset[int]) -> int:
    """Return how many tokens stand after the last breaker among them."""
    for n, token in enumerate(reversed(tokens.tolist())):
        if token in breakers:
            return n
    return len(tokens)
