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
from typing import Any, NamedTuple

from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import Verdict, acting, acting_coin, causes_of, verdict, with_rule
from xtc_viz.records.step import Step
from xtc_viz.sampling.dialect import PAPER, Dialect
from xtc_viz.sampling.plan import plan_of
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
    # No rule has more eligible tokens than the paper's, and where these are fewer than two, none
    # removes any.
    most = replace(sampler.xtc, dialect=PAPER)
    known = [cleared(step, most, top_candidates) for step in steps]
    exact = all(complete for _, _, complete in known)
    own = [
        _Shown(place, step.coin, ids, probs)
        for place, (step, (ids, probs, _)) in enumerate(zip(steps, known, strict=True))
        if len(ids) > 1
    ]
    at_one = [shown._replace(coin=acting_coin(shown.coin, sampler.xtc)) for shown in own]
    questions = [
        (shown, settings, _verdicts(shown, plan_of(settings).xtc))
        for shown, settings in ((own, sampler), (at_one, acting(sampler)))
    ]
    result = {}
    for engine in engines.values():
        of_own, of_fired = (_differences(*one, engine.dialect) for one in questions)
        result[engine.name] = Along(engine.name, of_own, of_fired, exact)
    return result


class _Shown(NamedTuple):
    """The place of a step, its coin, and the recorded tokens that clear τ with their p."""

    place: int
    coin: float
    ids: Sequence[int]
    probs: Sequence[float]


def _verdicts(steps: Sequence[_Shown], xtc: XTCSettings) -> list[Verdict]:
    return [verdict(ids, probs, coin, xtc) for _, coin, ids, probs in steps]


def _differences(
    steps: Sequence[_Shown], sampler: SamplerSettings, chosen: Sequence[Verdict], other: Dialect
) -> Differences:
    theirs = _verdicts(steps, with_rule(sampler, other))
    places = []
    causes = Counter[str]()
    for (place, coin, ids, probs), result, ours in zip(steps, theirs, chosen, strict=True):
        if not result.same(ours):
            places.append(place)
            causes.update(causes_of(result, ids, probs, coin, sampler, other))
    return Differences(tuple(places), dict(causes.most_common()))
