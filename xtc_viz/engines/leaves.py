"""What each engine leaves of one step, and why they differ.

Two questions, each answered for every engine, at the step's own coin and as if it fired (ρ = 1):

- the rule alone (`rule_alone`): every engine receives what XTC received here;
- the whole chain (`engines.chain`): every engine starts from the model's raw distribution and runs
  the lane's stages in its own order.

The reasons are found by computation (`engines.reasons`), never by an engine's name.

Example: [.4, .3, .15, .15] at τ = 0.1, every engine beside the paper, as if it fired.

    >>> from xtc_viz.engines.leaves import rule_alone
    >>> from xtc_viz.settings import SamplerSettings, XTCSettings
    >>> lane = SamplerSettings(xtc=XTCSettings(rho=0.5, tau=0.1))
    >>> question = rule_alone((0, 1, 2, 3), (0.4, 0.3, 0.15, 0.15), 0.7, lane)
    >>> mlx = next(answer for answer in question.answers if answer.engine == "mlx-lm")
    >>> mlx.own.effect, mlx.fired.removed, [round(p, 3) for p in mlx.fired.probs]
    (<Effect.SKIPPED: 'skipped'>, (0, 1), [0.0, 0.0, 0.5, 0.5])
    >>> mlx.fired.reasons[0].cause, mlx.fired.reasons[0].words
    ('ties', (2, ' and ', 3, ' are equally likely: mlx-lm keeps both'))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from math import fsum
from typing import Any

from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.reasons import Case, Reason, differing, reason, smallest, taken_over
from xtc_viz.records.step import Bound
from xtc_viz.sampling.dialect import Coin, Dialect
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.rule import Decision, decide
from xtc_viz.sampling.stageview import StageProbs
from xtc_viz.settings import SamplerSettings, XTCSettings


class Effect(StrEnum):
    """What an engine's XTC does at a step: an outcome, or one of the two that have no coin."""

    UNAMBIGUOUS = "unambiguous"
    SKIPPED = "skipped"
    PROTECTED = "protected"
    FIRED = "fired"
    MIXED = "mixed"  # no coin: p and what XTC leaves of it, as 1 - ρ to ρ
    OFF = "off"  # ρ is 0, or the engine does without XTC at temperature 0


@dataclass(frozen=True, slots=True)
class Left:
    """What an engine leaves. `probs` are those of `Question.ids` and `rest` that of all others.

    `eligible`, `removed` and `underdogs` (several where an engine keeps all that are tied) are
    token ids. For the rule alone `probs` are the probabilities behind XTC, for the chain those at
    its end; there `stages` holds what the model gave and each stop after it, else it is empty.
    `reasons` is empty where the chosen engine leaves the same.
    """

    effect: Effect
    eligible: tuple[int, ...]
    removed: tuple[int, ...]
    underdogs: tuple[int, ...]
    probs: tuple[float, ...]
    rest: float
    stages: tuple[StageProbs, ...] = ()
    reasons: tuple[Reason, ...] = ()

    @property
    def differs(self) -> bool:
        return bool(self.reasons)

    def to_dict(self) -> dict[str, Any]:
        return {
            "effect": str(self.effect),
            "eligible": list(self.eligible),
            "removed": list(self.removed),
            "underdogs": list(self.underdogs),
            "probs": list(self.probs),
            "rest": self.rest,
            "stages": [
                {"name": stage.name, "probs": list(stage.probs), "rest": stage.rest}
                for stage in self.stages
            ],
            "differs": self.differs,
            "reasons": [{"cause": r.cause, "words": list(r.words)} for r in self.reasons],
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """What one engine leaves with the step's own coin, and as if it `fired`.

    Of a chain, `lacks` names the stages that are on in the lane and that the engine does not have,
    and `bound` says what is not exact because the record holds the most probable tokens only.
    """

    engine: str
    own: Left
    fired: Left
    lacks: tuple[str, ...] = ()
    bound: Bound = Bound.NONE

    def to_dict(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "own": self.own.to_dict(),
            "fired": self.fired.to_dict(),
            "lacks": list(self.lacks),
            "bound": [str(bound.name).lower() for bound in self.bound],
        }


@dataclass(frozen=True, slots=True)
class Question:
    """All engines on the same numbers, in the order of tables.

    `probs` are those of the token `ids` as the question begins: what XTC received, or what the
    model gave. `rest` is the mass of all other tokens. `chosen` is the engine that the others are
    held against; in the chain it runs the lane's own order.
    """

    chosen: str
    ids: tuple[int, ...]
    probs: tuple[float, ...]
    rest: float
    answers: tuple[Answer, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "chosen": self.chosen,
            "ids": list(self.ids),
            "probs": list(self.probs),
            "rest": self.rest,
            "answers": [answer.to_dict() for answer in self.answers],
        }


def rule_alone(
    ids: Sequence[int],
    probs: Sequence[float],
    coin: float,
    sampler: SamplerSettings,
    engines: Mapping[str, Engine] = ENGINES,
) -> Question:
    """Let the rule of every engine decide on what XTC received.

    Args:
        ids: the most probable tokens, at least all that clear τ, in order of falling probability,
            equal ones by rising id; less probable ones may follow in any order.
        probs: their probabilities, float32 values.
        coin: the step's own, uniform in [0, 1).
        sampler: the lane's settings; `sampler.xtc.dialect` is the chosen engine's.
    """
    received = Received(tuple(ids), tuple(probs), max(0.0, 1.0 - fsum(probs)))
    xtc = sampler.xtc
    answers = []
    for engine in engines.values():
        own = _answer(received, coin, sampler, engine)
        fired = _answer(received, acting_coin(coin, xtc), acting(sampler), engine)
        bound = unknown(received, own, fired)
        answers.append(Answer(engine.name, own, fired, bound=bound))
    return Question(xtc.dialect.name, received.ids, received.probs, received.rest, tuple(answers))


@dataclass(frozen=True, slots=True)
class Received:
    """What XTC receives at a step, `rest` outside of `ids`."""

    ids: tuple[int, ...]
    probs: tuple[float, ...]
    rest: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule decides: its effect, and the decision it comes from, none where XTC is off."""

    effect: Effect
    decision: Decision | None

    @property
    def removed(self) -> tuple[int, ...]:
        return self.decision.gone if self.decision else ()

    def same(self, other: Verdict) -> bool:
        """Whether both leave the same, whatever they call it."""
        mixed = (self.effect is Effect.MIXED) == (other.effect is Effect.MIXED)
        return mixed and set(self.removed) == set(other.removed)


def verdict(ids: Sequence[int], probs: Sequence[float], coin: float, xtc: XTCSettings) -> Verdict:
    """Return what the rule of `xtc.dialect` decides, with XTC as it acts in a plan (`Plan.xtc`).

    The other arguments are those of `rule_alone`.
    """
    if xtc.rho == 0.0:
        return Verdict(Effect.OFF, None)
    mixes = xtc.dialect.coin is Coin.MIXTURE
    decision = decide(ids, probs, coin * xtc.rho if mixes else coin, xtc)
    if mixes and decision.gone and xtc.rho < 1.0:
        return Verdict(Effect.MIXED, decision)
    return Verdict(Effect(decision.outcome), decision)


def acting(sampler: SamplerSettings) -> SamplerSettings:
    """Return a lane's settings with which XTC acts wherever it can: ρ is 1."""
    return replace(sampler, xtc=replace(sampler.xtc, rho=1.0))


def acting_coin(coin: float, xtc: XTCSettings) -> float:
    """Return the coin for that.

    Where it fired anyway the same tokens go as then: the coin is also the choice of `keep_random`.
    """
    return coin / xtc.rho if coin < xtc.rho else coin


def unknown(received: Received, *leaves: Left) -> Bound:
    """Return the bound of tokens that go though their p was not recorded (`dialect.Removes`)."""
    shown = frozenset(received.ids)
    gone = frozenset[int]().union(*(left.removed for left in leaves))
    return Bound.SCALE if received.rest and not gone <= shown else Bound.NONE


@lru_cache(maxsize=1024)
def with_rule(
    sampler: SamplerSettings, other: Dialect, names: tuple[str, ...] | None = None
) -> XTCSettings:
    """Return XTC as it acts in a lane with the rule of another engine, or some properties of it."""
    dialect = other if names is None else taken_over(sampler.xtc.dialect, other, names)
    return plan_of(replace(sampler, xtc=replace(sampler.xtc, dialect=dialect))).xtc


def causes_of(
    result: Verdict,
    ids: Sequence[int],
    probs: Sequence[float],
    coin: float,
    sampler: SamplerSettings,
    other: Dialect,
) -> tuple[str, ...]:
    """Return the properties by which `other` comes to a `result` that is not the lane's."""

    def explains(names: tuple[str, ...]) -> bool:
        return verdict(ids, probs, coin, with_rule(sampler, other, names)).same(result)

    return smallest(differing(sampler.xtc.dialect, other), explains)


def left(received: Received, result: Verdict, rho: float) -> Left:
    """Return what a verdict leaves of what XTC received."""
    if result.decision is None:
        return Left(result.effect, (), (), (), received.probs, received.rest)
    eligible, underdog = result.decision.eligible, result.decision.underdog
    gone = frozenset(result.removed)
    pairs = list(zip(received.ids, received.probs, strict=True))
    weights = [0.0 if v in gone else p for v, p in pairs]
    total = fsum(weights) + received.rest if gone else 1.0
    after, rest = [weight / total for weight in weights], received.rest / total
    if result.effect is Effect.MIXED:
        after = [_mixed(p, q, rho) for p, q in zip(received.probs, after, strict=True)]
        rest = _mixed(received.rest, rest, rho)
    least = next((p for v, p in pairs if v == underdog), None)
    kept = frozenset(eligible) - gone
    underdogs = tuple(v for v, p in pairs if v in kept and p == least)
    return Left(result.effect, eligible, result.removed, underdogs, tuple(after), rest)


def case_of(received: Received, xtc: XTCSettings, leaves: Left) -> Case:
    """Return what a reason speaks of."""
    return Case(
        received.ids, received.probs, xtc, leaves.eligible, leaves.removed, leaves.underdogs
    )


def _mixed(p: float, q: float, rho: float) -> float:
    return (1.0 - rho) * p + rho * q


def _answer(received: Received, coin: float, sampler: SamplerSettings, engine: Engine) -> Left:
    """Return what an engine leaves with this coin, and why that is not what the lane leaves."""
    ids, probs = received.ids, received.probs
    theirs = with_rule(sampler, engine.dialect)
    chosen = verdict(ids, probs, coin, plan_of(sampler).xtc)
    result = verdict(ids, probs, coin, theirs)
    leaves = left(received, result, theirs.rho)
    if result.same(chosen):
        return leaves
    causes = causes_of(result, ids, probs, coin, sampler, engine.dialect)
    case = case_of(received, theirs, leaves)
    return replace(leaves, reasons=tuple(reason(cause, case) for cause in causes))
