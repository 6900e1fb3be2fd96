"""An edited lane: what of it stands, and where the lanes part then."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import SettingsError
from xtc_viz.models.fake import FakeModel
from xtc_viz.records.step import Step
from xtc_viz.records.trace import Branch, LaneTrace, Trace
from xtc_viz.runs.editing import check_change, shortened, standing
from xtc_viz.runs.protection import NOTHING
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.settings import RunSettings

MODEL = FakeModel()


@cache
def run() -> Trace:
    return record(MODEL, Request("Once", RunSettings(max_new_tokens=30), NOTHING))


def steps(*texts: str) -> list[Step]:
    """Steps that differ by their texts alone."""
    return [replace(run().lanes[0].steps[0], text=text) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" a bear was", (3, "")),
        (" a bear is", (2, " is")),
        (" a bears was", (1, " bears was")),  # the word is taken back whole
        (" a beer was", (1, " beer was")),
        (" a bear wash", (2, " wash")),
        (" a bear was, then", (3, ", then")),
        (" a", (1, "")),
        ("", (0, "")),
        ("the", (0, "the")),
    ],
)
def test_what_stands_ends_before_the_first_word_that_was_changed(text, expected):
    assert standing(steps(" a", " bear", " was"), text) == expected


def test_half_a_character_and_the_end_do_not_stand_alone():
    lane = steps(" a", "", "🐉", "")
    assert standing(lane, " a") == (1, "")
    assert standing(lane, " a🐉") == (3, "")
    assert standing(lane, " a🐉!") == (3, "!")


def test_without_spaces_only_what_was_changed_is_taken_back():
    lane = steps(*"从前有一只小熊住在山上的森林里")
    assert standing(lane, "从前有一只小熊住在山上的房子") == (12, "房子")


@given(st.integers(0, 30), st.text(max_size=12))
def test_what_stands_and_the_rest_are_the_text(keep: int, typed: str):
    lane = run().lanes[0].steps
    text = "".join(step.text for step in lane[:keep]) + typed
    count, rest = standing(lane, text)
    assert "".join(step.text for step in lane[:count]) + rest == text


def test_lanes_part_no_later_than_at_the_change():
    first = run().lanes[0]
    twig = LaneTrace(first.settings, first.steps[:20], branch=Branch(0, 8))
    lanes = (first, twig, replace(twig, branch=Branch(1, 15)))

    def branches(lane: int, count: int) -> list[Branch | None]:
        left = shortened(lanes, lane, count)
        assert left[lane].steps == lanes[lane].steps[:count]
        assert left[lane].finish is None
        others = [k for k in range(len(lanes)) if k != lane]
        assert all(left[k].steps == lanes[k].steps for k in others)
        return [other.branch for other in left]

    assert branches(0, 5) == [None, Branch(0, 5), Branch(1, 15)]
    assert branches(0, 9) == [None, Branch(0, 8), Branch(1, 15)]
    assert branches(1, 10) == [None, Branch(0, 8), Branch(1, 10)]
    assert branches(1, 3) == [None, Branch(0, 3), Branch(1, 3)]
    assert branches(2, 4) == [None, Branch(0, 8), Branch(1, 4)]


def test_a_text_that_was_only_cut_says_why_it_cannot_go_on():
    with pytest.raises(SettingsError, match="same dice write the same words"):
        check_change("")
    check_change(" more")
