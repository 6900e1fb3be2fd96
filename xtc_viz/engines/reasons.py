"""Why an engine leaves something else: which of its properties make the difference, in words.

They are found by trying: the fewest properties that, taken over from the one engine into the other,
turn what the latter leaves into what the former leaves. A new engine, and a new property of
dialects, are looked at like all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations

from xtc_viz.parts import Part, joined, listed
from xtc_viz.sampling.dialect import PAPER, Coin, Comparison, Dialect, Removes, Ties, Veto, Zero
from xtc_viz.settings import XTCSettings


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an engine leaves something else than the chosen one.

    `cause` is the name of a property of the dialect, or of the chain: `order`, `lacks`.
    """

    cause: str
    words: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """What a sentence speaks of: a step, and what the engine of `xtc.dialect` did with it."""

    ids: Sequence[int]
    probs: Sequence[float]
    xtc: XTCSettings
    eligible: tuple[int, ...]
    removed: tuple[int, ...]
    underdogs: tuple[int, ...]

    @property
    def name(self) -> str:
        return called(self.xtc.dialect.name)


def called(engine: str) -> str:
    """Return an engine's name as a sentence has it."""
    return "the paper" if engine == PAPER.name else engine


def differing(one: Dialect, other: Dialect) -> tuple[str, ...]:
    """Return the names of the properties in which two dialects differ."""
    names = (f.name for f in fields(Dialect) if f.name != "name")
    return tuple(name for name in names if getattr(one, name) != getattr(other, name))


def taken_over(one: Dialect, other: Dialect, names: Sequence[str]) -> Dialect:
    """Return a dialect with these properties of another one."""
    return replace(one, **{name: getattr(other, name) for name in names})


def smallest(names: Sequence[str], explains: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...]:
    """Return the fewest of these properties that explain a difference, the first where several
    sets do. All of them together always do."""
    for count in range(1, len(names)):
        for some in combinations(names, count):
            if explains(some):
                return some
    return tuple(names)


def reason(cause: str, case: Case) -> Reason:
    """Say in words what a property of the engine's rule does at this step."""
    say = _WORDS.get(cause)
    if say is None:
        return Reason(cause, (f"{case.name} is another in this: {cause.replace('_', ' ')}",))
    return Reason(cause, joined(say(case)))


def _comparison(case: Case) -> list[Part]:
    at = [v for v, p in zip(case.ids, case.probs, strict=True) if p == case.xtc.tau32]
    equal = [*listed(at), " equals τ: " if len(at) == 1 else " equal τ: "]
    if case.xtc.dialect.comparison is Comparison.ABOVE:
        return [*equal, f"{case.name} wants more than τ"]
    return [*equal, f"that is enough for {case.name}"]


def _ties(case: Case) -> list[Part]:
    outside = case.xtc.protected if case.xtc.dialect.veto is Veto.OUTSIDE else frozenset()
    p_of = dict(zip(case.ids, case.probs, strict=True))
    eligible = [v for v in case.eligible if v not in outside]
    tied = [v for v in eligible if p_of[v] == p_of[eligible[-1]]]
    equal = [*listed(tied), " are equally likely: "]
    if case.xtc.dialect.ties is Ties.ALL:
        return [*equal, f"{case.name} keeps {'both' if len(tied) == 2 else 'all of them'}"]
    if case.xtc.dialect.ties is Ties.ANY:
        return [*equal, f"which of them {case.name} keeps is an accident of its sort"]
    end = "lowest" if case.xtc.dialect.ties is Ties.LOWEST_ID else "highest"
    return [*equal, f"{case.name} keeps the one with the {end} id, ", *case.underdogs]


def _veto(case: Case) -> list[Part]:
    protected = [v for v in case.eligible if v in case.xtc.protected]
    match case.xtc.dialect.veto:
        case Veto.NONE:
            gone = [v for v in case.removed if v in case.xtc.protected]
            return [f"{case.name} removes ", *listed(gone), ": it protects nothing"]
        case Veto.STEP:
            return [f"{case.name} leaves the step alone, to keep ", *listed(protected)]
        case Veto.EXEMPT:
            return [f"{case.name} keeps ", *listed(protected), " and removes the others"]
        case Veto.OUTSIDE:
            said: list[Part] = [f"{case.name} takes ", *listed(protected)]
            said.append(" out of the eligible set")
            if not case.removed:
                return [*said, ", so that there is nothing to remove"]
            if case.eligible[-1] not in case.xtc.protected:
                return [*said, " and goes on with the others"]
            become = " becomes the underdog" if len(case.underdogs) == 1 else " become underdogs"
            return [*said, ", so that ", *listed(case.underdogs), become]


def _inert_above(case: Case) -> list[Part]:
    limit = case.xtc.dialect.inert_above
    if limit is None:
        return [f"{case.name} acts at this τ too"]
    return [f"{case.name} does nothing above τ = {limit:g}"]


def _coin(case: Case) -> list[Part]:
    if case.xtc.dialect.coin is not Coin.MIXTURE:
        return [f"{case.name} tosses a coin: it removes all or nothing"]
    share = f"{100.0 * (1.0 - case.xtc.rho):.3g} % of "
    keeps = f" keeps {share}its probability" if len(case.removed) == 1 else f" keep {share}theirs"
    return [f"{case.name} tosses no coin but mixes: ", *listed(case.removed), keeps]


def _zero(case: Case) -> list[Part]:
    if case.xtc.dialect.zero is Zero.SKIPPED:
        return [f"{case.name} does without XTC at temperature 0"]
    return [f"{case.name} runs XTC at temperature 0 too"]


def _removes(case: Case) -> list[Part]:
    """Of exllamav2's defect: say what goes wrongly, or else what stays."""
    nearby = "the next id" if case.xtc.dialect.removes is Removes.BEFORE_BY_ID else "the next one"
    if case.xtc.dialect.removes is Removes.REST:
        return [f"{case.name} holds each token itself against τ"]
    said: list[Part] = [f"{case.name} holds {nearby} against τ, not the token itself: "]
    stay = [v for v in case.eligible if v not in case.removed and v not in case.underdogs]
    wrongly = [v for v in case.removed if v not in case.eligible or v in case.xtc.protected]
    if wrongly:
        said += ["it removes ", *listed(wrongly)]
    if stay:
        said += [" and leaves " if wrongly else "it leaves ", *listed(stay)]
    return said if wrongly or stay else [*said, "it removes ", *listed(case.removed)]


_WORDS: dict[str, Callable[[Case], list[Part]]] = {
    "comparison": _comparison,
    "ties": _ties,
    "veto": _veto,
    "inert_above": _inert_above,
    "coin": _coin,
    "zero": _zero,
    "removes": _removes,
}
