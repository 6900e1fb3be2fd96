"""The line of numbers over a lane, kept up to date step by step."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from xtc_viz.rule import Outcome
from xtc_viz.trace import Step

OUTCOMES = tuple(Outcome)


class LaneStats:
    """Counts over the steps of one lane; `add` costs the same at every step.

    distinct-2 is the share of different token pairs among all pairs; a repeated trigram is one
    that occurred before in the lane.
    """

    def __init__(self) -> None:
        self._outcomes: Counter[Outcome] = Counter()
        self._recent: deque[int] = deque(maxlen=3)
        self._pairs: set[tuple[int, ...]] = set()
        self._trigrams: set[tuple[int, ...]] = set()
        self._steps = self._changed = self._repeated = 0
        self._removed = 0.0

    def add(self, step: Step) -> None:
        self._steps += 1
        self._outcomes[step.outcome] += 1
        self._changed += step.changed
        self._removed += step.removed_mass
        self._recent.append(step.token)
        last = tuple(self._recent)
        if len(last) >= 2:
            self._pairs.add(last[-2:])
        if len(last) == 3:
            self._repeated += last in self._trigrams
            self._trigrams.add(last)

    def values(self) -> dict[str, Any]:
        """Return the numbers: `outcomes` counts in the order of `OUTCOMES`; `removed` is the mean
        removed mass of the steps that fired; the shares are None while there are too few steps.
        """
        fired = self._outcomes[Outcome.FIRED]
        pairs, trigrams = self._steps - 1, self._steps - 2
        return {
            "tokens": self._steps,
            "outcomes": [self._outcomes[outcome] for outcome in OUTCOMES],
            "changed": self._changed,
            "removed": round(self._removed / fired, 4) if fired else None,
            "distinct2": round(len(self._pairs) / pairs, 4) if pairs > 0 else None,
            "repeated3": round(self._repeated / trigrams, 4) if trigrams > 0 else None,
        }
