"""The draw: argmax of log p plus the shared Gumbel noise, with and without XTC's removals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xtc_viz.sampling.distribution import Distribution, Floats, Head, Ids, Probs
from xtc_viz.sampling.randomness import Noise, gumbel, noise_above


class Drawn(NamedTuple):
    """The token, and the one that the same noise draws where nothing was removed.

    `certain` is False where a token that nobody has shown could have won.
    """

    token: int
    counterfactual: int
    certain: bool = True


def draw(
    distribution: Distribution,
    head: Head,
    kept: npt.NDArray[np.bool_],
    noise: Noise,
    temperature: float = 1.0,
) -> Drawn:
    """Draw one token after XTC and, with the same noise, the one without it.

    Args:
        distribution: what XTC received.
        head: its first tokens, at least all that clear τ.
        kept: for each token of the head, whether XTC left it in.
        noise: (V,) this step's noise integers.
        temperature: applied after XTC; 1 changes nothing, 0 takes the most probable token.
    """
    if temperature == 0.0:
        return Drawn(int(head.ids[kept.argmax()]), int(head.ids[0]))
    ids = head.ids
    scores = _scores(head.probs, noise[ids], temperature)
    survivors = scores[kept]
    tail, certain = ids[:0], True
    if head.has_tail:
        contenders = _contenders(head, float(survivors.max()), noise, temperature)
        if distribution.ids is None:
            p = distribution.p[contenders]
            tail = contenders[(p > 0) & (p < head.cut)]
        else:
            certain = bool(np.isin(contenders, ids).all())
    if len(tail):
        tail_scores = _scores(distribution.p[tail], noise[tail], temperature)
        ids, scores = np.concatenate((ids, tail)), np.concatenate((scores, tail_scores))
        kept = np.concatenate((kept, np.ones(len(tail), np.bool_)))
    without = _best(ids, scores)
    # What wins among all wins among those that are left too, if it is one of them.
    wins_anyway = kept.all() or bool(kept[ids == without][0])
    return Drawn(without if wins_anyway else _best(ids[kept], scores[kept]), without, certain)


def reaching(ids: Ids, probs: Probs, number: float, temperature: float = 1.0) -> int:
    """Return the first of these tokens at which the sum of what they are drawn with, p^(1/T) of
    their share in all, reaches a number in [0, 1)."""
    sums = np.cumsum(probs.astype(np.float64) ** (1.0 / temperature))
    place = int(np.searchsorted(sums, sums[-1] * number))
    return int(ids[min(place, len(ids) - 1)])


def _scores(probs: Probs, noise: Noise, temperature: float) -> Floats:
    log_p: Floats = np.log(probs.astype(np.float64)) / temperature
    return log_p + gumbel(noise)


def _contenders(head: Head, best: float, noise: Noise, temperature: float) -> Ids:
    """Return the tokens whose noise could lift one of the tail over `best`: a handful of V."""
    needed = best - float(np.log(head.cut)) / temperature
    return np.flatnonzero(noise >= noise_above(needed))


def _best(ids: Ids, scores: Floats) -> int:
    """The token of the highest score, equal ones by the lowest id."""
    return int(ids[scores == scores.max()].min())
