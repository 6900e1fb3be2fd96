"""The draw: argmax of log p plus the shared Gumbel noise, with and without XTC's removals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from xtc_viz.sampling.distribution import Floats, Head, Ids, Probs
from xtc_viz.sampling.randomness import Noise, gumbel, noise_above


def draw(
    head: Head, kept: npt.NDArray[np.bool_], p: Probs, noise: Noise, temperature: float
) -> tuple[int, int]:
    """Draw one token after XTC and, with the same noise, the one without it.

    Args:
        head: the distribution that XTC received, its first tokens at least.
        kept: for each token of the head, whether XTC left it in.
        p: (V,) that distribution over the whole vocabulary; read only where `head` has a tail.
        noise: (V,) this step's noise integers.
        temperature: applied after XTC; 1 changes nothing, 0 takes the most probable token.

    Returns:
        (token, counterfactual).
    """
    if temperature == 0.0:
        return int(head.ids[kept.argmax()]), int(head.ids[0])
    ids = head.ids
    scores = _scores(head.probs, noise[ids], temperature)
    survivors = scores[kept]
    if head.has_tail:
        tail = _contenders(head, float(survivors.max()), p, noise, temperature)
        tail_scores = _scores(p[tail], noise[tail], temperature)
        token = _best(np.concatenate((ids[kept], tail)), np.concatenate((survivors, tail_scores)))
        if kept.all():
            return token, token
        return token, _best(np.concatenate((ids, tail)), np.concatenate((scores, tail_scores)))
    return _best(ids[kept], survivors), _best(ids, scores)


def _scores(probs: Probs, noise: Noise, temperature: float) -> Floats:
    log_p: Floats = np.log(probs.astype(np.float64)) / temperature
    return log_p + gumbel(noise)


def _contenders(head: Head, best: float, p: Probs, noise: Noise, temperature: float) -> Ids:
    """Return the tail tokens whose noise alone could lift them over `best`: a handful of V."""
    needed = best - float(np.log(head.cut)) / temperature
    ids = np.flatnonzero(noise >= noise_above(needed))
    tail = p[ids]
    return ids[(tail > 0) & (tail < head.cut)]


def _best(ids: Ids, scores: Floats) -> int:
    """The token of the highest score, equal ones by the lowest id."""
    return int(ids[scores == scores.max()].min())
