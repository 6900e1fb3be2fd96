"""Asking until it is known: what a server draws is judged again and again, and no more is asked for
than it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from xtc_viz.audit.observation import Observation
from xtc_viz.audit.verdict import FLOORS, Claim, Verdict, judge
from xtc_viz.errors import PromptError, SettingsError
from xtc_viz.models.remote.kinds.base import Drawn, Draws, OwnXTC, Server
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.wire import Wire

LENGTH = 64
"""Tokens of a request, each with a seed of its own."""
COLD = 0.6
"""The temperature at which the place of XTC shows: p before and after it differ there."""
FIRST = 256
"""Steps before the first look,"""
GROWTH = 1.2
"""and how many times as many before the next: looking often accuses by chance."""
MOST = 20_000
LARGEST = 1_000_000
LOWEST = 0.001
PROMPTS = (
    "Once upon a time",
    "The little girl opened the door and saw",
    "One day, the old man went to the",
    "Dear friend, I am writing to you because",
    "In the morning the children",
    "What I like most about winter is",
    "There was a house at the end of the road, and in it",
    "Tom said to his mother:",
)
"""Openings of texts in which there is much to choose from."""

Source = Callable[[float], Sequence[Observation]]
"""Gives more steps, drawn at a temperature; none where there are no more, or nobody wants them."""


def check_claim(rho: float, tau: float) -> Claim:
    """Return what is to be asked for. Raises `SettingsError` where it cannot be looked at."""
    if not 0.0 <= rho <= 1.0:
        raise SettingsError("rho", "in [0, 1]", rho)
    if not LOWEST <= tau <= 0.5:  # of two tokens one has no more than one half
        raise SettingsError("tau", f"in [{LOWEST:g}, 0.5] to be seen at work", tau)
    return Claim(rho, tau)


def check_steps(steps: int) -> int:
    if not FIRST <= steps <= LARGEST:
        raise SettingsError("steps", f"in [{FIRST}, {LARGEST:,}]", steps)
    return steps


def source(model: RemoteModel, claim: Claim, prompts: Sequence[str] = PROMPTS) -> Source:
    """Return what asks the server of a model to draw with this ρ and τ by itself.

    It goes round the prompts, each time with another seed; the same seeds each time it is made.

    Raises:
        PromptError: a prompt of no tokens, or too long for the context.
        ServerError: it is of a kind that has no XTC, or gives no usable answer.
    """
    server = drawing(model.server, model.wire)
    texts = [_encoded(model, prompt) for prompt in prompts]
    # All tokens that may clear the lowest floor that is looked at.
    count = min(math.ceil(1.0 / min(FLOORS[0], claim.tau)), model.info.vocab_size)
    seeds = np.random.default_rng(0)
    turn = 0

    def more(temperature: float) -> Sequence[Observation]:
        nonlocal turn
        turn += 1
        seed = int(seeds.integers(2**32 - 1))  # the last one stands for a seed by chance
        xtc = OwnXTC(claim.rho, claim.tau, temperature, seed)
        text = texts[turn % len(texts)]
        return [observed(one, temperature) for one in server.draw(text, LENGTH, count, xtc)]

    return more


def drawing(server: Server, wire: Wire) -> Draws:
    """Return a server as one that has an XTC of its own. Raises `ServerError` where it has none."""
    if not isinstance(server, Draws):
        words = f"is {server.kind}, which has no XTC of its own that could be asked for"
        raise wire.error(words)
    return server


def observed(drawn: Drawn, temperature: float) -> Observation:
    known = drawn.known
    probs = np.exp(known.log_probs.astype(np.float64)).tolist()
    return Observation(known.ids.tolist(), probs, drawn.token, temperature)


def verdicts(
    more: Source, claim: Claim, ends: frozenset[int] = frozenset(), most: int = MOST
) -> Iterator[Verdict]:
    """Ask for more and yield what is found so far, until that is known or `most` steps are seen.

    First with temperature 1; once it is known that XTC acts, colder, until its place is known too.
    The last one is the finding, also where `more` gives nothing. Raises `ServerError` as that does.
    """
    seen: list[Observation] = []
    temperature, due, over = 1.0, float(min(FIRST, most)), False
    while not over:
        while len(seen) < due and not over:
            steps = more(temperature)
            seen += steps[: most - len(seen)]
            over = not steps
        verdict = judge(seen, claim, ends)
        yield verdict
        placed = verdict.place is not None or verdict.acts is False
        over |= len(seen) >= most or (verdict.known and placed)
        if verdict.known:
            temperature = COLD
        due = min(max(len(seen) * GROWTH, len(seen) + LENGTH), most)


def _encoded(model: RemoteModel, prompt: str) -> list[int]:
    ids = model.encode(prompt)
    room = model.info.context_length - LENGTH
    if not 1 <= len(ids) <= room:
        raise PromptError(f"A prompt must have 1 to {room} tokens here, but one has {len(ids)}.")
    return ids
