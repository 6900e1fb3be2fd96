"""A lane's words with their marks, as data: where each stands, and which sign is over it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.ui.factories import BOY, DOG, GIRL, MAN, TEXTS, decode, make_step, sampler
from xtc_viz.figures.text import placed, text_figure, width
from xtc_viz.records.step import Step
from xtc_viz.records.trace import LaneTrace
from xtc_viz.settings import LaneSettings, SamplerSettings

PIECES = st.lists(
    st.text(alphabet=st.sampled_from("ab 　\n\t界é"), min_size=0, max_size=12), max_size=30
)


def stands(pieces: list[str], room: int) -> list[tuple[str, int, int]]:
    return [(word.text, word.row, word.column) for word in placed(pieces, room)]


def test_words_in_lines_by_hand() -> None:
    pieces = ["Once", " upon", " a", " ti", "me", ",", "\n\n", "The end"]
    assert stands(pieces, 11) == [
        ("Once", 0, 0),
        ("upon", 0, 5),
        ("a", 0, 10),
        ("ti", 1, 0),  # with the rest of its word it would not fit
        ("me", 1, 2),
        (",", 1, 4),
        ("", 1, 5),  # the sign of a new line stands where it is met
        ("The end", 3, 0),
    ]


def test_full_width_characters_take_two_cells() -> None:
    assert width("界a") == 3
    assert width("e\u0301") == 1
    assert stands(["界", "界", "界"], 4) == [("界", 0, 0), ("界", 0, 2), ("界", 1, 0)]


@given(PIECES, st.integers(8, 40))
@example(["aaaa界", " aaaaaa\n界界"], 17)
def test_no_word_leaves_its_line_or_lies_on_another(pieces: list[str], room: int) -> None:
    words = placed(pieces, room)
    assert [word.text.split() for word in words] == [piece.split() for piece in pieces]
    end = (0, 0)
    for word in words:
        assert (word.row, word.column) >= end or not word.text
        if word.text:
            assert word.column == 0 or word.column + word.width <= room
            end = (word.row, word.column + word.width)


def lane(*steps: Step, settings: SamplerSettings | None = None) -> LaneTrace:
    return LaneTrace(LaneSettings("XTC", settings or sampler()), steps)


def traces(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.name}


def test_each_mark_stands_over_its_word() -> None:
    fired, skipped = make_step(sampler()), make_step(sampler(), coin=0.9, token=BOY)
    guarded = make_step(sampler(protected=(BOY,)), token=DOG)
    same = make_step(sampler(), token=MAN, counterfactual=MAN)
    alone = make_step(sampler(), probs=(0.9, 0.04))
    figure = text_figure("The", lane(fired, skipped, guarded, same, alone), TEXTS)
    marks = traces(figure)
    # "The man boy dog man girl": man begins at column 4.
    assert list(marks["XTC fired"].x) == [5.5, 17.5]
    assert marks["XTC fired"].marker.symbol == "x-thin"
    assert list(marks["the coin said no"].x) == [9.5]
    assert list(marks["protected"].x) == [13.5]
    assert list(marks["… and changed the word"].x) == [4, 7, None]
    assert marks["… and changed the word"].line.dash == "dot"


def test_a_word_from_below_the_floor_has_a_sign_of_its_own() -> None:
    from_tail = make_step(sampler(), token=DOG)
    marks = traces(text_figure("The", lane(make_step(sampler()), from_tail), TEXTS))
    assert list(marks["XTC fired"].x) == [5.5]
    assert (marks["~ from below τ"].text, list(marks["~ from below τ"].x)) == ("~", [9.5])
    assert list(marks["… and changed the word"].x) == [4, 7, None, 8, 11, None]


def test_a_what_if_changed_no_word_and_a_lane_without_xtc_has_no_marks() -> None:
    told = traces(text_figure("The", lane(make_step(sampler())), TEXTS, imagined=True))
    assert set(told) == {"XTC would fire"}
    off = sampler(rho=0.0)
    step = make_step(off, token=GIRL)
    figure = text_figure("The", lane(step, settings=off), TEXTS)
    assert not traces(figure)
    assert "XTC off" in figure.data[1].customdata[0]


def test_hostile_text_stays_text_and_an_end_of_text_has_a_sign() -> None:
    texts = {**TEXTS, MAN: "<|end|>"}
    end = replace(make_step(sampler()), text="")
    figure = text_figure("<b>x</b>", lane(end), texts)
    assert figure.data[0].text == ("&lt;b&gt;x&lt;/b&gt;",)
    assert figure.data[1].text == ("&lt;|end|&gt;",)


@pytest.mark.parametrize("pixels", [320, 1600])
def test_a_figure_is_as_wide_as_it_is_asked_to_be(pixels: int) -> None:
    trace, _ = decode(length=60)
    figure = text_figure(trace.prompt, trace.lanes[1], trace.vocabulary, pixels=pixels)
    assert figure.layout.width == pixels
    last = max(x for part in figure.data[:2] for x in part.x)
    assert last <= figure.layout.xaxis.range[1]
    assert len(figure.data[1].text) == len(trace.lanes[1].steps)
