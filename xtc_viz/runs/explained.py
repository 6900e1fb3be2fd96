"""The server draws, we explain: what llama.cpp's own XTC did at each token of one request.

Its server writes a text by itself and reports the raw probabilities of every step. From these the
stages are gone through again in its order: top-k, min-p, XTC, temperature (its
`src/llama-sampler.cpp`). Its dice are known too. XTC and the draw have a Mersenne Twister each,
both seeded with the request's seed: the coin is one 32-bit word over 2³², the draw two words, low
one first, over 2⁶⁴. So the coin of a step is made of the number that drew a token before it, and is
no coin of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from xtc_viz.engines.known.llamacpp import ENGINE
from xtc_viz.errors import SettingsError
from xtc_viz.models.remote.kinds.llamacpp import LlamaCpp
from xtc_viz.sampling.distribution import Floats, PartialLogits
from xtc_viz.sampling.rule import Decision, decide
from xtc_viz.settings import XTCSettings

MOST_TOP_K = 1000


@dataclass(frozen=True, slots=True)
class Chain:
    """What the server is asked to draw with. Without a `top_k` there would be a tail that nobody
    sees."""

    xtc: XTCSettings
    top_k: int = 50
    min_p: float = 0.0
    temperature: float = 1.0
    seed: int = 7

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MOST_TOP_K:
            raise SettingsError("top_k", f"in [1, {MOST_TOP_K}]", self.top_k)
        if not 0.0 <= self.min_p <= 1.0:
            raise SettingsError("min_p", "in [0, 1]", self.min_p)
        if not self.temperature > 0.0:
            raise SettingsError("temperature", "above 0", self.temperature)
        if not 0 <= self.seed < 2**32 - 1:  # the last one stands for a seed by chance
            raise SettingsError("seed", f"in [0, {2**32 - 1})", self.seed)

    def request(self) -> dict[str, object]:
        """Return the values by which the server knows it."""
        return {
            "samplers": ["top_k", "min_p", "xtc", "temperature"],
            "top_k": self.top_k,
            "min_p": self.min_p,
            "xtc_probability": self.xtc.rho,
            "xtc_threshold": self.xtc.tau,
            "temperature": self.temperature,
            "seed": self.seed,
        }


class Explained(NamedTuple):
    """One token that the server wrote.

    `p` is its probability as XTC received it, `decision` what XTC decided there by the rule and by
    the recomputed coin, and `expected` the token that the recomputed draw gives. `left` says that
    XTC had left the token in: where not, the server does something else than the rule.
    """

    token: int
    p: float
    decision: Decision
    expected: int

    @property
    def left(self) -> bool:
        return self.token not in self.decision.removed


class Dice:
    """The numbers that llama.cpp draws for one seed: of XTC's coins, and of the draws."""

    def __init__(self, seed: int) -> None:
        self._coins, self._draws = (np.random.RandomState(seed) for _ in range(2))

    def coin(self) -> float:
        """Return the next coin, uniform in [0, 1)."""
        return float(np.float32(self._word(self._coins)) / np.float32(2**32))

    def draw(self) -> float:
        """Return the next number of a draw, uniform in [0, 1)."""
        low, high = self._word(self._draws), self._word(self._draws)
        return (low + high * 2.0**32) / 2.0**64

    @staticmethod
    def _word(source: np.random.RandomState) -> int:
        return int(source.randint(0, 2**32, dtype=np.uint32))


def explained(
    server: LlamaCpp, prompt: Sequence[int], chain: Chain, length: int
) -> list[Explained]:
    """Let the server write up to `length` tokens after `prompt` and explain each of them.

    Raises:
        ServerError: it gave no answer, or none that can be used.
    """
    return list(explain(server.write(prompt, length, chain.top_k, chain.request()), chain))


def explain(steps: Sequence[tuple[int, PartialLogits]], chain: Chain) -> Iterator[Explained]:
    """Yield the explanation of each token, given what the server reported at its step."""
    dice = Dice(chain.seed)
    xtc = replace(chain.xtc, dialect=ENGINE.dialect)
    for token, known in steps:
        ids, probs = _truncated(known, chain)
        # A coin is tossed where there is something to choose from, and XTC is on at all.
        on = chain.xtc.rho > 0.0 and chain.xtc.tau <= 0.5
        coin = dice.coin() if on and len(ids) > 1 else 1.0
        decision = decide(ids.tolist(), probs.tolist(), coin, xtc)
        kept = ~np.isin(ids, decision.removed)
        weights = probs[kept].astype(np.float64) ** (1.0 / chain.temperature)
        sums = np.cumsum(weights)
        best = int(np.searchsorted(sums, sums[-1] * dice.draw()))
        p = float(probs[ids == token].sum())
        yield Explained(token, p, decision, int(ids[kept][min(best, len(weights) - 1)]))


def _truncated(known: PartialLogits, chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Return what top-k and min-p leave, as XTC receives it: ids (n,), probabilities (n,)."""
    logs: Floats = known.log_probs[: chain.top_k].astype(np.float64)
    left = logs >= logs[0] + (np.log(chain.min_p) if chain.min_p else -np.inf)
    left &= np.isfinite(logs)
    probs = np.exp(logs[left])
    return known.ids[: chain.top_k][left], (probs / probs.sum()).astype(np.float32)
