"""What a spread over seeds shows, in sentences that claim no more than its intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xtc_viz.lab.spread import (
    CHANGED,
    DISTINCT,
    FIRED,
    LEAST,
    LENGTH,
    QUANTITIES,
    RATIO,
    SHARE,
    TAIL,
    TOKENS,
    Summary,
)
from xtc_viz.lab.statistics import Interval
from xtc_viz.settings import LaneSettings

UNITS = {one.name: one.unit for one in QUANTITIES}
ONE_PROMPT = "This is one prompt only. Whether it holds for others, the Lab shows."
_SIDES = {
    FIRED: ("XTC fires more often", "XTC fires less often", "how often XTC fires"),
    CHANGED: ("more words are changed", "fewer words are changed", "how many words are changed"),
    DISTINCT: (
        "more of the pairs of words are different ones",
        "fewer of the pairs of words are different ones",
        "the variety of word pairs",
    ),
    LENGTH: ("the texts are longer", "the texts are shorter", "the length"),
    TAIL: ("the tail share is larger", "the tail share is smaller", "the tail share"),
}
"""What a difference says where it lies above 0, below 0, and what it is a difference of."""


_WRITTEN = {SHARE: (100, 1, " points"), RATIO: (1, 3, ""), TOKENS: (1, 1, " tokens")}
"""What a unit's numbers are multiplied by, their decimals, and what follows them."""


def sentences(found: Summary, lanes: Sequence[LaneSettings], asked: int) -> list[str]:
    """Return what the seeds show; nothing is claimed of a difference whose interval includes 0.

    `asked` seeds were to be written. Where fewer were, no average is given: texts that end early
    are there first.
    """
    if found.seeds < asked:
        return [
            f"Only {found.seeds} of {asked} seeds are there, those with short texts first: no "
            "averages are given, and no lanes are compared.",
            ONE_PROMPT,
        ]
    said = [_acts(found, k, lane) for k, lane in enumerate(lanes) if lane.sampler.xtc.rho > 0]
    if found.seeds < LEAST:
        said.append(f"Fewer than {LEAST} seeds are too few for intervals: no lanes are compared.")
    else:
        others = [k for k in range(len(lanes)) if k != found.reference]
        said += [_against(found, k, lanes) for k in others]
    return [*said, ONE_PROMPT]


def _acts(found: Summary, k: int, lane: LaneSettings) -> str:
    fired, changed = found.means[k][FIRED], found.means[k][CHANGED]
    head = "" if lane.name == "XTC" else f"{lane.name}: "
    if not fired.mean > 0:
        return f"{head}XTC never fired in these {found.seeds} texts."
    return (
        f"{head}XTC fired at {_mean(fired, SHARE)} of the steps and changed "
        f"{_mean(changed, SHARE)} of the words."
    )


def _against(found: Summary, k: int, lanes: Sequence[LaneSettings]) -> str:
    other = lanes[found.reference]
    # Where XTC is off, it does not fire: nothing to compare.
    trivial = (
        {FIRED, CHANGED} if 0 in (lane.sampler.xtc.rho for lane in (other, lanes[k])) else set()
    )
    own = {name: d for name, d in found.differences[k].items() if name not in trivial}
    claims = [_claim(name, d) for name, d in own.items() if d.excludes_zero]
    same = [name for name, d in own.items() if d.low == d.high == 0.0]
    open_ = [n for n, d in own.items() if n not in same and not d.excludes_zero and d.n]
    few = [name for name in open_ if math.isnan(own[name].low)]
    shown = [name for name in open_ if name not in few]
    head = f"{lanes[k].name} against {other.name}, seed by seed: "
    parts = [_listed(claims)] if claims else []
    if shown:
        parts.append(f"no difference is shown in {_listed([_SIDES[n][2] for n in shown])}")
    if same:
        parts.append(f"no seed differs in {_listed([_SIDES[n][2] for n in same])}")
    if few:
        parts.append(
            f"too few seeds differ to say something of {_listed([_SIDES[n][2] for n in few])}"
        )
    if TAIL not in own:
        parts.append("the tail shares lie below different τ and are not compared")
    if not parts:
        return f"{head}nothing could be compared."
    return head + "; ".join(parts) + "." + _caution(own)


def _caution(own: Mapping[str, Interval]) -> str:
    """Distinct-2 falls as texts get longer, so a difference of both ways may be of one alone."""
    pairs, length = own.get(DISTINCT), own.get(LENGTH)
    if not pairs or not length or not (pairs.excludes_zero and length.excludes_zero):
        return ""
    if (pairs.mean > 0) == (length.mean > 0):
        return ""
    return " Shorter texts repeat fewer pairs by themselves, so a part of that may be the length."


def _claim(name: str, difference: Interval) -> str:
    words = _SIDES[name][0 if difference.mean > 0 else 1]
    return f"{words} ({_signed(difference, UNITS[name])})"


def _signed(d: Interval, unit: str) -> str:
    """Return a difference with its interval: `+4.1 points, +2.0 to +6.3`.

    No number that is not 0 is written as one.
    """
    scale, digits, after = _WRITTEN[unit]
    values = [scale * x for x in (d.mean, d.low, d.high)]
    least = min((abs(x) for x in values if x), default=1.0)
    digits = max(digits, math.ceil(-math.log10(least)))
    mean, low, high = (f"{x:+.{digits}f}" for x in values)
    return f"{mean}{after}, {low} to {high}".replace("-", "−")


def _mean(one: Interval, unit: str) -> str:
    """Return a mean with its interval: `21 % (19 to 23 %)`."""
    assert unit == SHARE
    if math.isnan(one.low) or one.low == one.high:
        return f"{100 * one.mean:.1f}\u00a0%"
    return f"{100 * one.mean:.1f}\u00a0% ({100 * one.low:.1f} to {100 * one.high:.1f}\u00a0%)"


def _listed(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
