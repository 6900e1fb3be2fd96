"""The line of numbers over a lane, kept up to date step by step."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from xtc_viz.records.step import Step
from xtc_viz.runs.reasoning import ThoughtReader
from xtc_viz.sampling.rule import Outcome

OUTCOMES = tuple(Outcome)


class _Counts:
    """Sums over some steps."""

    def __init__(self) -> None:
        self.steps = self.changed = self.tail = self.repeated = 0
        self.outcomes: Counter[Outcome] = Counter()
        self.removed = 0.0
        self._recent: deque[int] = deque(maxlen=3)
        self.pairs: set[tuple[int, ...]] = set()
        self.trigrams: set[tuple[int, ...]] = set()

    def add(self, step: Step) -> None:
        self.steps += 1
        self.outcomes[step.outcome] += 1
        self.changed += step.changed
        self.tail += step.from_tail
        self.removed += step.removed_mass
        self._recent.append(step.token)
        last = tuple(self._recent)
        if len(last) >= 2:
            self.pairs.add(last[-2:])
        if len(last) == 3:
            self.repeated += last in self.trigrams
            self.trigrams.add(last)


class LaneStats:
    """Counts over the steps of one lane; `add` costs the same at every step.

    A thought at the beginning is left out, as in the paper; `thinking` says that the prompt
    opened one. distinct-2 is the share of different token pairs among all pairs; a repeated
    trigram is one that occurred before in the lane.
    """

    def __init__(self, *, thinking: bool = False) -> None:
        self._reader = ThoughtReader(thinking=thinking)
        self._thought = _Counts()
        self._answer = _Counts()

    @property
    def thought(self) -> int:
        """How many steps, from the first on, are thought."""
        return self._thought.steps

    def add(self, step: Step, sign: str = "") -> None:
        """Count a step; `sign` is its token's own text, where it may be a mark without text."""
        self._reader.push(step.text or sign)
        if self._reader.steps <= self._thought.steps:
            self._answer.add(step)
            return
        if self._answer.steps:
            # What came before the mark was complete turns out to be thought.
            self._thought, self._answer = self._answer, _Counts()
        self._thought.add(step)

    def values(self) -> dict[str, Any]:
        """Return the numbers of the answer.

        `outcomes` counts in the order of `OUTCOMES`; `tail` counts the words from below τ where
        XTC fired; `removed` is the mean removed mass of the steps that fired; the shares are None
        while there are too few steps. `tokens` counts all steps. Where there is a thought,
        `thought` counts its steps and those of them at which XTC fired and changed the word, and
        `answering` says that it has ended.
        """
        answer = self._answer
        fired = answer.outcomes[Outcome.FIRED]
        pairs, trigrams = answer.steps - 1, answer.steps - 2
        values: dict[str, Any] = {
            "tokens": answer.steps + self.thought,
            "outcomes": [answer.outcomes[outcome] for outcome in OUTCOMES],
            "changed": answer.changed,
            "tail": answer.tail,
            "removed": round(answer.removed / fired, 4) if fired else None,
            "distinct2": round(len(answer.pairs) / pairs, 4) if pairs > 0 else None,
            "repeated3": round(answer.repeated / trigrams, 4) if trigrams > 0 else None,
        }
        if self.thought:
            inside = self._thought
            values["thought"] = [inside.steps, inside.outcomes[Outcome.FIRED], inside.changed]
            values["answering"] = self._reader.answering
        return values
