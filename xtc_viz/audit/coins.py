"""The coin that is a draw: what llama.cpp's dice have in common, from what its server wrote.

XTC and the draw have a generator each, both seeded with the request's seed (`runs.explained`). The
coin of a step takes one number, a draw two, of which the second one decides. So the coin of the
second token is the number that drew the first, that of the fourth the second's, that of the sixth
the third's: of every second step the coin is known before. The coins between them are numbers that
decide nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from xtc_viz.errors import ServerError
from xtc_viz.models.remote.kinds.llamacpp import LlamaCpp
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.records.step import Step
from xtc_viz.runs.chain import Chain
from xtc_viz.runs.explained import Explained, Roll, explained, rolls
from xtc_viz.settings import XTCSettings

LENGTH = 64
TEXTS = 40
TOP_K = 50
SHOWN = 12
ENOUGH = 0.99
"""Of the tokens must be foretold: a sum that rounds to the other side of a draw may fail one."""


@dataclass(frozen=True, slots=True)
class Coins:
    """What texts of a server say of its dice.

    `foretold` of `tokens` are those that the recomputed dice give. `open` steps are those at which
    XTC could have removed something, `tied` those of them whose coin drew a token before; at `low`
    of these that draw lay below ρ. `low_through` and `high_through` count where a removable token
    came through, after a draw below ρ and after another. `first` is the beginning of one text.
    """

    rho: float
    texts: int
    tokens: int
    foretold: int
    open: int
    tied: int
    low: int
    low_through: int
    high_through: int
    first: tuple[tuple[Step, Roll], ...] = field(default=(), repr=False)

    @property
    def known(self) -> bool:
        """Whether these are the dice that are described here."""
        return self.foretold >= ENOUGH * self.tokens > 0

    @property
    def sentence(self) -> str:
        if not self.tokens:
            return "No text was written: nothing can be said of its dice."
        told = f"{self.foretold:,} of {self.tokens:,} tokens of {self.texts} texts"
        if not self.known:
            return (
                f"Only {told} are those that the seeds foretell: its dice are others than those "
                "of llama.cpp that are known here."
            )
        if not self.tied:
            return f"{told} are those that their seeds foretell; XTC had nothing to remove."
        high = self.tied - self.low
        return (
            f"{told} are those that their seeds foretell. At {self.tied:,} of the {self.open:,} "
            "steps at which XTC can act, its coin is the number that drew an earlier token: at "
            "token 2 that of token 1, at token 4 that of token 2, and so on. Where that draw lay "
            f"below ρ = {self.rho:g}, so that it took one of the more probable tokens, XTC fired: "
            f"of {self.low:,} such steps a removable token came through at {self.low_through:,}; "
            f"of the other {high:,} at {self.high_through:,}."
        )

    def to_dict(self) -> dict[str, Any]:
        counts = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "first"}
        return counts | {"known": self.known, "sentence": self.sentence}


def coins(
    model: RemoteModel,
    xtc: XTCSettings,
    prompts: Sequence[str],
    over: Callable[[], bool] = lambda: False,
) -> Coins:
    """Let a server of llama.cpp write texts with known seeds, and compare; fewer where it is `over`
    before all are there.

    Raises:
        ServerError: it is of another kind, or gives no usable answer.
    """
    server = model.server
    if not isinstance(server, LlamaCpp):
        raise ServerError(f"The dice of {server.kind} are not known here, but llama.cpp's are.")
    texts = [model.encode(prompt) for prompt in prompts]
    every = []
    for seed in range(TEXTS):
        if over():
            break
        chain = Chain(xtc, TOP_K, seed=seed)
        every.append((chain, list(explained(server, texts[seed % len(texts)], chain, LENGTH))))
    return summed(every, xtc.rho)


def summed(texts: Sequence[tuple[Chain, Sequence[Explained]]], rho: float) -> Coins:
    """Return what texts say, each with what the server was asked to draw it with."""
    steps = [each for _, text in texts for each in text]
    numbered = [_numbered(text, chain) for chain, text in texts]
    low, through = np.array(
        [pair for text in numbered for pair in _tied(text, rho)], dtype=bool
    ).reshape(-1, 2).T  # fmt: skip
    return Coins(
        rho=rho,
        texts=len(texts),
        tokens=len(steps),
        foretold=sum(each.step.token == each.expected for each in steps),
        open=sum(each.step.eligible > 1 for each in steps),
        tied=len(low),
        low=int(low.sum()),
        low_through=int((low & through).sum()),
        high_through=int((~low & through).sum()),
        first=tuple(next(iter(numbered), ())[:SHOWN]),
    )


def _numbered(text: Sequence[Explained], chain: Chain) -> list[tuple[Step, Roll]]:
    steps = [each.step for each in text]
    return list(zip(steps, rolls(steps, chain), strict=True))


def _tied(text: Sequence[tuple[Step, Roll]], rho: float) -> list[tuple[bool, bool]]:
    """Return of each open step with a coin that drew a token before, whether that draw lay below ρ
    and whether a removable token came through."""
    return [
        (text[roll.source][1].draw < rho, step.token in step.ids[: step.eligible - 1])
        for step, roll in text
        if roll.source is not None and step.eligible > 1
    ]
