"""The server draws, we explain: what llama.cpp's own XTC did at each token of one request.

Its server writes a text by itself and reports the raw probabilities of every step. From these the
stages are gone through again in its order (`chain`). Its dice are known too. XTC and the draw have
a Mersenne Twister each, both seeded with the request's seed: the coin is one 32-bit word over 2³²,
the draw two words, low one first, over 2⁶⁴. So the coin of a step is made of the number that drew a
token before it, and is no coin of its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np

from xtc_viz.models.remote.kinds.base import Drawn
from xtc_viz.models.remote.kinds.llamacpp import LlamaCpp
from xtc_viz.records.step import NO_COIN, Step
from xtc_viz.runs.chain import Chain
from xtc_viz.sampling.stack import SamplerStack


class Explained(NamedTuple):
    """One token that the server wrote.

    `step` is the whole record of it but for its text, `expected` the token that the recomputed draw
    gives.
    """

    step: Step
    expected: int

    @property
    def token(self) -> int:
        return self.step.token

    @property
    def left(self) -> bool:
        """Whether XTC had left the token in: where not, the server does something else than the
        rule."""
        return self.token not in self.step.removed


class Dice:
    """The numbers that llama.cpp draws for one seed: of XTC's coins, and of the draws."""

    def __init__(self, seed: int) -> None:
        self._coins, self._draws = (_words(seed) for _ in range(2))

    def coin(self) -> float:
        """Return the next coin, uniform in [0, 1)."""
        # A float32 has no room for the digits of a word so near to 2³².
        return min(float(np.float32(next(self._coins))) / 2.0**32, 1.0 - 2.0**-24)

    def draw(self) -> float:
        """Return the next number of a draw, uniform in [0, 1)."""
        low, high = next(self._draws), next(self._draws)
        return (low + high * 2.0**32) / 2.0**64


def _words(seed: int) -> Iterator[int]:
    """Yield the 32-bit words of a Mersenne Twister, made some at once."""
    source = np.random.RandomState(seed)
    while True:
        yield from source.randint(0, 2**32, 64, dtype=np.uint32).tolist()


class Explainer:
    """Explains the tokens of one text, one after another."""

    def __init__(self, chain: Chain, top_candidates: int = 100) -> None:
        self._chain = chain
        self._dice = Dice(chain.seed)
        self._stack = SamplerStack(chain.sampler, top_candidates)

    def explain(self, drawn: Drawn) -> Explained:
        """Return the explanation of the next token, given what the server reported at its step.

        Raises:
            DistributionError: it reported no distribution.
        """

        def toss(count: int) -> float:
            return self._dice.coin() if self._chain.tosses(count) else NO_COIN

        number = self._dice.draw()
        return Explained(*self._stack.retrace(drawn.known, drawn.token, toss, number))


def explained(
    server: LlamaCpp, prompt: Sequence[int], chain: Chain, length: int
) -> Generator[Explained, None, None]:
    """Let the server write up to `length` tokens after `prompt` and explain each as it comes.

    Closing this generator stops the server.

    Raises:
        ServerError: it gave no answer, or none that can be used.
    """
    with closing(server.stream(prompt, length, chain.top_k, chain.request())) as steps:
        yield from explain(steps, chain)


def explain(steps: Iterable[Drawn], chain: Chain) -> Generator[Explained, None, None]:
    """Yield the explanation of each token, given what the server reported at its step."""
    explainer = Explainer(chain)
    for drawn in steps:
        yield explainer.explain(drawn)


class Roll(NamedTuple):
    """The numbers of one step: its draw, its coin, None where none was tossed, and which step's
    draw (from 0) that coin is made of, None where the number has decided nothing else."""

    draw: float
    coin: float | None
    source: int | None


def rolls(steps: Iterable[Step], chain: Chain) -> Generator[Roll, None, None]:
    """Yield the numbers of each step of a text.

    Coins take one word of their generator, draws two of the same ones, of which the second decides.
    """
    dice, coins = Dice(chain.seed), 0
    for step in steps:
        coin = source = None
        if chain.tosses(len(step.ids)):
            coin, source = dice.coin(), coins // 2 if coins % 2 else None
            coins += 1
        yield Roll(dice.draw(), coin, source)
