"""Sentences of figures: what the intervals allow to say of all conditions, and no more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.wording import with_ends

MOST = 4
"""Conditions that a sentence names one by one."""
CLAIMS = {
    "more": "more with",
    "less": "less with",
    "same": "the same for each prompt with",
    "open": "no difference shown with",
    "few": "too few prompts for",
}


def listed(items: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    *first, last = items or [""]
    return f"{', '.join(first)} and {last}" if first else last


def verdict(difference: Interval) -> str:
    """Return which of `CLAIMS` an interval of differences allows."""
    if math.isnan(difference.low) or math.isnan(difference.high):
        return "few"
    if difference.low == difference.high == 0.0:
        return "same"
    if not difference.excludes_zero:
        return "open"
    return "more" if difference.mean > 0 else "less"


def claims(
    differences: Mapping[str, Interval], *, numbers: bool = True, what: str = "conditions"
) -> str:
    """Say of differences, by name, which are more, less or not shown: by their names where they
    are few, else by how many there are. `numbers` adds those of what is claimed."""
    groups: dict[str, list[str]] = {}
    for name, difference in differences.items():
        groups.setdefault(verdict(difference), []).append(name)
    last = next((claim for claim in reversed(CLAIMS) if claim in groups), "")
    parts = []
    for claim, words in CLAIMS.items():
        names = groups.get(claim, [])
        claimed = claim in ("more", "less")
        if not names:
            continue
        if not claimed and len(names) > 2 and len(groups) > 1 and claim == last:
            shown = f"the other {len(names)}"
        elif not claimed and len(names) > 2 and len(groups) == 1:
            shown = f"any of {len(names)} {what}" if claim == "open" else f"all {len(names)} {what}"
        elif len(names) <= MOST:
            named = [_named(name, differences[name], claimed and numbers) for name in names]
            shown = listed(named)
        else:
            shown = f"{len(names)} of {len(differences)} {what}"
            if claimed:
                largest = max(names, key=lambda name: abs(differences[name].mean))
                shown += f", most with {_named(largest, differences[largest], numbers)}"
        parts.append(f"{words} {shown}")
    return "; ".join(parts)


def _named(name: str, difference: Interval, numbered: bool) -> str:
    ends = f" ({with_ends(difference, signed=True)})" if numbered else ""
    return f"{quoted(name)}{ends}"


def against_baseline(view: View, conditions: Sequence[str] | None = None) -> str:
    """Say of each metric shown what these conditions, or all, differ by from the baseline."""
    names = view.others if conditions is None else conditions
    single = len(view.metrics) == 1
    sentences, counts = [], []
    for metric in view.metrics:
        comparisons = {name: view.compared(metric, name) for name in names}
        differences = {name: one.difference for name, one in comparisons.items() if one}
        if differences:
            counts += [one.n for one in differences.values()]
            own = view.of(metric)
            frail = [
                name
                for name, one in comparisons.items()
                if one and one.difference.excludes_zero and not one.firm
            ]
            sentences.append(
                f"{own.label} ({own.direction}): {claims(differences, numbers=single)}."
                f"{by_chance(frail)}"
            )
    if not sentences:
        return "There is nothing to compare with the baseline yet."
    base = quoted(view.results.baseline)
    return f"Against {base}, on {prompts(counts)}. {' '.join(sentences)}"


def by_chance(names: Sequence[str]) -> str:
    """Say which of the conditions that are claimed to differ may do so by chance, if any."""
    if not names:
        return ""
    its = "its own interval" if len(names) == 1 else "their own intervals"
    return f" With {some([*map(quoted, names)])} by {its} alone: among so many it may be chance."


def some(items: Sequence[str], what: str = "conditions") -> str:
    """Return all items where they are few, else how many there are."""
    return listed(items) if len(items) <= MOST else f"{len(items)} {what}"
