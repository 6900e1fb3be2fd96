"""A lane whose text somebody edited: what of it still stands, and where the lanes part then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xtc_viz.errors import SettingsError, Words
from xtc_viz.records.step import Step
from xtc_viz.records.trace import Branch, LaneTrace

WORD = 6
"""So many tokens may be a word; where more would have to be taken back, it is no word with an end,
as in scripts without spaces."""


def standing(steps: Sequence[Step], text: str) -> tuple[int, str]:
    """Return how many steps of a lane still stand in its edited text, and what follows these.

    A word that was changed within is taken back whole, so that it becomes the tokens that it would
    be by itself. So are steps without a text at the end: they are half a character, or the end.
    """
    ends = [0]
    for step in steps:
        end = ends[-1] + len(step.text)
        if text[ends[-1] : end] != step.text:
            break
        ends.append(end)
    count = len(ends) - 1
    while count and ends[count] == ends[count - 1]:
        count -= 1
    whole = next(
        (n for n in range(count, max(-1, count - WORD - 1), -1) if not _within(text, ends[n])),
        count,
    )
    return whole, text[ends[whole] :]


def _within(text: str, place: int) -> bool:
    """Whether a place is within a word."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def shortened(lanes: Sequence[LaneTrace], lane: int, count: int) -> tuple[LaneTrace, ...]:
    """Return the lanes of a run in which one has its first `count` steps alone, to go on from.

    Where another lane comes from it, or it from another, at a later step, they part here now.
    """

    def parted(number: int, other: LaneTrace) -> LaneTrace:
        branch = other.branch
        if branch and lane in (number, branch.lane) and branch.position > count:
            return replace(other, branch=Branch(branch.lane, count))
        return other

    left = [parted(number, other) for number, other in enumerate(lanes)]
    left[lane] = replace(left[lane], steps=lanes[lane].steps[:count], finish=None, unknown={})
    return tuple(left)


def check_change(rest: str) -> None:
    """Raise `SettingsError` for a text of which all stands: it would go on as it did."""
    if not rest:
        bounds = "changed, since the same dice write the same words after what was only cut"
        raise SettingsError("text", bounds, Words("only cut, or as it was"))
