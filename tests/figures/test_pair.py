"""Two lanes beside one another, as data: a worked example, and that both add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.factories import BEAR, BOY, DOG, GIRL, MAN, TEXTS, decode, make_step, sampler
from xtc_viz.figures.pair import Side, pair_figure, pair_rows, words
from xtc_viz.figures.step import Row
from xtc_viz.records.trace import Trace
from xtc_viz.settings import LaneSettings, SamplerSettings

OFF = sampler(rho=0.0)
BOTH = [
    Side("Baseline <b>", make_step(OFF, token=GIRL), OFF),
    Side("XTC", make_step(sampler()), sampler()),
]


def test_two_lanes_by_hand() -> None:
    pairs = pair_rows(BOTH)
    assert [pair[0].token for pair in pairs if pair[0]] == [GIRL, BOY, MAN, BEAR, DOG, None]
    kinds = [(a.kind, b.kind) for a, b in pairs if a and b]
    assert kinds == [
        ("eligible", "removed"),
        ("eligible", "removed"),
        ("eligible", "kept"),
        *[("tail", "tail")] * 2,
        ("rest", "rest"),
    ]
    assert [b.q for _, b in pairs if b][2] == pytest.approx(0.12 / 0.26)


def test_what_only_one_lane_knows_is_said_to_be_unknown() -> None:
    few = [BOTH[0], Side("XTC", make_step(sampler(), probs=(0.6, 0.3)), sampler())]
    pairs = pair_rows(few)
    assert [pair[1] is None for pair in pairs] == [False, False, True, True, True, False]
    assert pair_figure(few, TEXTS).data


def test_only_so_many_candidates_but_all_that_matters() -> None:
    pairs = pair_rows(BOTH, candidates=1)
    assert [pair[0].token for pair in pairs if pair[0]] == [GIRL, BOY, MAN, None]
    (rest,) = [a for a, _ in pairs if a and a.token is None]
    assert rest.p == pytest.approx(0.14)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (Row(GIRL, 0.41, 0.0, "removed", instead=True), "△ <s>41\u00a0%</s> removed"),
        (Row(MAN, 0.12, 0.46, "kept", drawn=True), "▲ 12 → 46\u00a0%"),
        (Row(BOY, 0.33, 0.33, "eligible"), "33\u00a0%"),
        (None, "–"),
    ],
)
def test_the_words_behind_the_bars(row: Row | None, said: str) -> None:
    assert words(row).strip() == said


def test_the_figure() -> None:
    figure = pair_figure(BOTH, TEXTS)
    (removed,) = [bar for bar in figure.data if bar.name == "removed"]
    assert removed.xaxis == "x2"
    assert list(removed.x) == pytest.approx([0.41, 0.33])
    assert removed.marker.pattern.shape == "/"
    thin = [bar for bar in figure.data if bar.name == "thin: after XTC"]
    assert [bar.xaxis for bar in thin] == ["x", "x2"]
    assert list(thin[1].x)[:3] == pytest.approx([0, 0, 0.12 / 0.26])
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range
    heads = [note.text for note in figure.layout.annotations]
    assert heads == ["<b>Baseline &lt;b&gt;</b> τ 0.10, XTC off", "<b>XTC</b> τ 0.10"]
    named = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert len(named) == len(set(named)), "each meaning stands in the legend once"
    assert {"▲ drawn", "△ would have been drawn"} <= set(named)
    assert figure.layout.yaxis.ticktext[0] == "<b>·girl</b>", "one of the lanes drew it"


@pytest.fixture(scope="module")
def recorded() -> Trace:
    warm = SamplerSettings(temperature=0.8, top_p=0.9, xtc=sampler(rho=1.0).xtc)
    lanes = (LaneSettings("Baseline"), LaneSettings("XTC", warm))
    return decode(lanes=lanes, length=60)[0]


@given(data=st.data(), candidates=st.integers(0, 120), own=st.integers(0, 1))
def test_both_lanes_add_up_to_one(
    recorded: Trace, data: st.DataObject, candidates: int, own: int
) -> None:
    i = data.draw(st.integers(0, min(len(lane.steps) for lane in recorded.lanes) - 1))
    sides = [
        Side(lane.settings.name, lane.steps[i], lane.settings.sampler) for lane in recorded.lanes
    ]
    pairs = pair_rows(sides, candidates, own)
    for k, side in enumerate(sides):
        lane = [row for pair in pairs if (row := pair[k])]
        assert sum(row.p for row in lane) == pytest.approx(1.0, abs=1e-5)
        assert sum(row.q for row in lane) == pytest.approx(1.0, abs=1e-5)
        assert [row.token for row in lane if row.drawn] == [side.step.token]
    both = [pair if own == 0 else pair[::-1] for pair in pairs[:-1]]
    known = [(a.p, b.p) for a, b in both if a and b]
    assert known == sorted(known, key=lambda p: (-p[0], -p[1]))
