"""At how many steps of a recorded lane each engine's rule decides otherwise, and why.

Along the text as it was written: an engine that removes other tokens would soon have written
another text, and met other steps. Every engine receives what XTC received in the lane.

    lane = trace.lanes[1]
    sums = along(lane.steps, lane.settings.sampler, trace.settings.top_candidates)
    sums["mlx-lm"].fired.steps    # such as (12, 40, 77)
    sums["mlx-lm"].fired.causes   # such as {'veto': 2, 'ties': 1}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import Verdict, causes_of, if_fired, verdict
from xtc_viz.records.step import Step
from xtc_viz.sampling.dialect import Dialect
from xtc_viz.sampling.whatif import cleared
from xtc_viz.settings import SamplerSettings, XTCSettings


@dataclass(frozen=True, slots=True)
class Differences:
    """The `steps`, 0-based, at which an engine leaves something else than the chosen one.

    `causes` counts the steps by the property of the engine's rule, the most frequent first; where
    it takes two to explain a step, it counts for both.
    """

    steps: tuple[int, ...]
    causes: dict[str, int]

    @property
    def first(self) -> int | None:
        return self.steps[0] if self.steps else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "count": len(self.steps),
            "first": self.first,
            "steps": list(self.steps),
            "causes": self.causes,
        }


@dataclass(frozen=True, slots=True)
class Along:
    """One engine along a lane, with the coins as they fell (`own`), and if every step `fired`.

    `exact` is False when a step may have had more eligible tokens than were recorded.
    """

    engine: str
    own: Differences
    fired: Differences
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "own": self.own.to_dict(),
            "fired": self.fired.to_dict(),
            "exact": self.exact,
        }


def along(
    steps: Sequence[Step],
    sampler: SamplerSettings,
    top_candidates: int,
    engines: Mapping[str, Engine] = ENGINES,
) -> dict[str, Along]:
    """Hold every engine's rule against the lane's own at each step, along the fixed text.

    `sampler.xtc.dialect` is the chosen engine's; `top_candidates` is K of the run that recorded the
    steps. Engines stand in the order of tables, the chosen one among them.
    """
    xtc, temperature, top = sampler.xtc, sampler.temperature, top_candidates
    at_one = replace(xtc, rho=1.0)
    own = [(step.coin, step.ids[:top], step.probs[:top]) for step in steps]
    fired = [(if_fired(coin, xtc), ids, probs) for coin, ids, probs in own]
    asked = [
        (at, settings, _verdicts(at, settings, temperature))
        for at, settings in ((own, xtc), (fired, at_one))
    ]
    result = {}
    for engine in engines.values():
        theirs = replace(xtc, dialect=engine.dialect)
        exact = all(cleared(step, theirs, top)[2] for step in steps)
        of_own, of_fired = (_differences(*one, engine.dialect, temperature) for one in asked)
        result[engine.name] = Along(engine.name, of_own, of_fired, exact)
    return result


Shown = tuple[float, Sequence[int], Sequence[float]]
"""The coin of a step, and the tokens that were recorded, with their p."""


def _verdicts(steps: Sequence[Shown], xtc: XTCSettings, temperature: float) -> list[Verdict]:
    return [verdict(ids, probs, coin, xtc, temperature) for coin, ids, probs in steps]


def _differences(
    steps: Sequence[Shown],
    xtc: XTCSettings,
    chosen: Sequence[Verdict],
    other: Dialect,
    temperature: float,
) -> Differences:
    theirs = _verdicts(steps, replace(xtc, dialect=other), temperature)
    places = [i for i, result in enumerate(theirs) if not result.same(chosen[i])]
    causes = Counter[str]()
    for i in places:
        coin, ids, probs = steps[i]
        causes.update(causes_of(theirs[i], ids, probs, coin, xtc, other, temperature))
    return Differences(tuple(places), dict(causes.most_common()))
