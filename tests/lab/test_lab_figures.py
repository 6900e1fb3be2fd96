"""Figures of a run: which it can have, that they draw whatever is there, and what they claim."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab.made import made, suite, watched
from xtc_viz.errors import SettingsError
from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.figures import FIGURES, figure
from xtc_viz.lab.figures.view import USUAL, Options, View
from xtc_viz.lab.figures.words import claims, verdict
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.results import Results
from xtc_viz.lab.statistics import Interval
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings

SIX = ("distinct_2", "repeated_trigrams", "self_bleu", "embedding_distance", "self_repetition",
       "tokens")  # fmt: skip
ALWAYS = {"bars", "forest", "win_tie_loss", "pareto", "genre", "radar"}
MECHANISM = {"positions", "activation_gain"}
NAMES = (
    "baseline",
    "<b>bold</b> & <a href='javascript:alert(1)'>x</a>",
    "<script>alert(1)</script>",
    "%{x} %{customdata[0]} $\\alpha$",
    "a" * 1_000,
    "a" * 999 + "b",
    "one, two; three and four",
    "\u202eturned\n\tround",
    "\u200b?",
)


def lane(name: str, rho: float = 0.0, tau: float = 0.1, **stack: float) -> LaneSettings:
    return LaneSettings(name, SamplerSettings(**stack, xtc=XTCSettings(rho=rho, tau=tau)))


@cache
def results(
    name: str, prompts: int = 12, only: tuple[str, ...] = (), baseline: str = ""
) -> Results:
    """Return results of one of the app's experiments with random scores, and a random mechanism."""
    conditions = EXPERIMENTS[name].conditions
    rng = np.random.default_rng(0)
    table = rng.normal(0.5, 0.1, (len(conditions), prompts))
    return made(
        conditions, lambda i, j, _: float(table[i, j] + 0.05 * i), prompts=prompts, metrics=SIX,
        observed=watched(conditions, suite(prompts)), embedder="LSA, within this run",
        only=only or None, baseline=baseline,
    )  # fmt: skip


def drawn(results: Results, options: Options = USUAL) -> dict[str, go.Figure]:
    """Return all figures that these results can have; each must draw, say and serialize."""
    found = {}
    for name, one in FIGURES.items():
        if one.missing(results, options):
            assert not one.needs(results, options)
            with pytest.raises(SettingsError, match="that this run can have"):
                one.draw(results, options)
            continue
        found[name] = one.draw(results, options)
        json.loads(found[name].to_json())
        assert re.search(r"\d+ prompts?\b", one.sentence(results, options)), name
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "own"),
    [
        ("main", {"region"}),
        ("grid", {"grid", "region"}),
        ("rho", {"region"}),
        ("strategies", {"ablation"}),
        ("composition", {"composition", "interaction", "synergy"}),
        ("temperature-factorial", {"composition", "interaction", "synergy", "region"}),
        ("structured", {"region"}),
    ],
)
def test_which_figures_an_experiment_has(experiment: str, own: set[str]) -> None:
    wanted = ALWAYS | MECHANISM | own
    assert {*drawn(results(experiment))} == wanted
    without = replace(results(experiment), observed={})
    assert {*drawn(without)} == wanted - MECHANISM
    assert "was not read" in FIGURES["positions"].missing(without)


def test_each_says_how_to_read_it() -> None:
    own = results("main")
    assert [one.place for one in FIGURES.values()] == sorted({o.place for o in FIGURES.values()})
    for name, one in FIGURES.items():
        assert one.name == name
        assert one.label
        assert one.meaning.endswith(".")
        assert {*one.choices(own)} == ({*SIX} if one.metrics else set())


def test_all_share_the_look() -> None:
    for theme, paper in (("light", "#ffffff"), ("dark", "#141517")):
        found = drawn(results("grid"), Options(theme=theme))
        for name, one in found.items():
            assert one.layout.paper_bgcolor == paper, name
            # The template named "none" is empty: plotly's own is 7 kB a figure.
            assert not one.layout.template.layout.to_plotly_json(), name
            assert one.layout.height >= 200


def test_differences_are_drawn_as_they_are() -> None:
    conditions = (lane("baseline"), lane("up", 0.5), lane("noise", 1.0))
    wiggle = (-0.3, 0.3, -0.2, 0.2, -0.1, 0.1)
    own = made(conditions, lambda i, j, _: (0.5, 0.75 + j / 100, 0.5 + wiggle[j])[i])
    one = FIGURES["forest"].draw(own, Options(metric="distinct_2"))
    points = [trace for trace in one.data if trace.error_x.array is not None]
    assert [x for point in points for x in point.x] == pytest.approx([0.275, 0.0])
    paper = one.layout.paper_bgcolor
    assert [fill == paper for point in points for fill in point.marker.color] == [False, True]
    said = FIGURES["forest"].sentence(own, Options(metric="distinct_2"))
    assert said.startswith("Against baseline, on 6 prompts. Distinct-2 (more is more varied): more")
    assert "more with up (+0.275 [" in said
    # Of six prompts no test of signs shows anything, where two conditions are compared.
    assert "; no difference shown with noise. With up by its own interval alone" in said


def test_what_may_be_chance_among_so_many_is_said() -> None:
    """One of eleven conditions differs, by an interval that hardly leaves zero out."""
    noise = (lane(f"noise {i}", 0.05 * (i + 1)) for i in range(10))
    conditions = [lane("baseline"), *noise, lane("odd", 0.9)]
    up = (0.05, 0.01, 0.06, -0.01, 0.04, 0.02)
    wiggle = (-0.3, 0.3, -0.2, 0.2, -0.1, 0.1)
    own = made(conditions, lambda i, j, _: 0.5 + (i == 11) * up[j] + (0 < i < 11) * wiggle[j])
    odd = own.comparison("distinct_2", "odd")
    assert odd
    assert odd.difference.excludes_zero
    assert not odd.firm
    said = FIGURES["forest"].sentence(own, Options(metric="distinct_2"))
    assert "more with odd (+0.028 [" in said
    assert said.endswith("With odd by its own interval alone: among so many it may be chance.")


def test_options_are_checked() -> None:
    with pytest.raises(SettingsError, match="`theme` must be one of light, dark"):
        Options(theme="blue")
    with pytest.raises(SettingsError, match="`metric` must be one of"):
        Options(metric="beauty")
    with pytest.raises(SettingsError, match="`conditions` must be a list of names"):
        Options(conditions="baseline")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="`figure` must be one of bars"):
        figure("nothing")
    own = results("main")
    for one in FIGURES.values():
        with pytest.raises(SettingsError, match="`conditions` must be names of baseline"):
            one.missing(own, Options(conditions=("nobody",)))
        with pytest.raises(SettingsError, match="one that was measured"):
            one.missing(own, Options(metric="chamfer"))


def test_a_choice_of_conditions_keeps_the_baseline() -> None:
    own = results("main")
    options = Options(conditions=("XTC strong",))
    bars = FIGURES["bars"].draw(own, options)
    assert tuple(bars.layout.yaxis.ticktext) == ("baseline", "XTC strong")
    assert "T 1.1" not in FIGURES["bars"].sentence(own, options)
    assert {*drawn(own, options)} >= {"forest", "positions"}


def test_what_an_embedder_measured_is_said() -> None:
    own = results("main")
    for name in ("bars", "forest", "pareto", "radar"):
        assert "Embedding distance: measured by LSA, within" in FIGURES[name].sentence(own)
    assert "LSA" not in FIGURES["forest"].sentence(own, Options(metric="distinct_2"))


def test_which_metrics_are_shown() -> None:
    known = ("passed", "distinct_2", "repeated_trigrams", "self_bleu")

    def shown(name: str, known: tuple[str, ...], chosen: str = "") -> tuple[str, ...]:
        choice = FIGURES[name].metrics
        assert choice is not None
        return choice(known, chosen)

    assert shown("forest", known) == known
    assert shown("forest", known, "self_bleu") == ("self_bleu",)
    assert shown("grid", known) == ("passed",)
    assert shown("region", known) == ("distinct_2", "passed")
    assert shown("region", known[1:], "self_bleu") == ("self_bleu", "repeated_trigrams")
    assert shown("region", known[1:2]) == ()
    assert shown("pareto", known) == ("distinct_2", "passed", "distinct_2", "repeated_trigrams")
    assert shown("pareto", known[1:])[2:] == ("distinct_2", "self_bleu")
    assert shown("pareto", known, "self_bleu") == ("self_bleu", "repeated_trigrams")


# Whatever is there


@pytest.mark.slow
@pytest.mark.parametrize("prompts", [1, 2])
@pytest.mark.parametrize("experiment", ["main", "composition", "strategies"])
def test_few_prompts_draw(experiment: str, prompts: int) -> None:
    assert drawn(results(experiment, prompts=prompts)).keys() >= {"bars", "forest"}


@pytest.mark.slow
@pytest.mark.parametrize("experiment", ["grid", "temperature-factorial"])
def test_partial_results_draw(experiment: str) -> None:
    names = [condition.name for condition in EXPERIMENTS[experiment].conditions]
    for only in (names[:1], names[::2]):
        own = results(experiment, only=tuple(only))
        assert "bars" in drawn(replace(own, observed={}))
        drawn(replace(own, observed={n: one for n, one in own.observed.items() if n in only}))


@pytest.mark.slow
@pytest.mark.parametrize("value", [None, math.nan, 0.0, 1e6])
def test_strange_values_draw(value: float | None) -> None:
    conditions = EXPERIMENTS["composition"].conditions
    drawn(made(conditions, lambda *_: value, metrics=SIX))
    drawn(made(conditions, lambda i, j, _: value if (i + j) % 3 else 0.5, metrics=SIX))


def test_one_condition_draws() -> None:
    own = made([lane("only", 0.5)], lambda i, j, _: 0.1 * j, metrics=SIX)
    assert {*drawn(own)} == {"bars"}


def test_a_metric_that_is_not_defined_says_so() -> None:
    own = made(EXPERIMENTS["main"].conditions, lambda *_: 0.5)
    nothing = dict.fromkeys(own.scores["distinct_2"])
    empty = {name: Interval(math.nan, math.nan, math.nan, 0) for name in own.conditions}
    own = replace(
        own,
        scores={**own.scores, "self_bleu": nothing},
        means={**own.means, "self_bleu": empty},
    )
    why = FIGURES["forest"].missing(own, Options(metric="self_bleu"))
    assert why == "Self-BLEU-4 has no value here: it may need several samples of a prompt."
    assert not FIGURES["forest"].missing(own)


def texts(value: object) -> Sequence[str]:
    """Return all texts of a figure's plain values."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts(each)]
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in texts(each)]
    return []


def test_hostile_names_are_text() -> None:
    """Plotly reads tags, entities, and %{…} in templates; a name is none of them."""
    rhos = np.linspace(0, 1, len(NAMES))
    conditions = [lane(name, float(rho)) for name, rho in zip(NAMES, rhos, strict=True)]
    rng = np.random.default_rng(0)
    own = made(conditions, lambda *_: float(rng.normal()), metrics=SIX,
               observed=watched(conditions, suite()))  # fmt: skip
    seen = ""
    for name, one in drawn(own).items():
        plain = json.loads(one.to_json())
        assert "hovertemplate" not in str(plain), name
        assert "texttemplate" not in str(plain), name
        every = texts(plain)
        seen += " ".join(every)
        for text in every:
            assert not re.search(r"<(?!/?b>|br>)", text), (name, text)
            assert len(text) < 1_000
            assert "\u202e" not in text
        sentence = FIGURES[name].sentence(own)
        assert "\n" not in sentence
        assert len(sentence) < 3_000
    assert "&lt;script&gt;" in seen
    assert "&lt;b&gt;bold&lt;/b&gt;" in seen
    ticks = FIGURES["forest"].draw(own).layout.yaxis.ticktext
    assert len({*ticks}) == len(ticks) == len(NAMES) - 1


def test_many_conditions_draw() -> None:
    conditions = [lane(f"condition {i}", i / 63, 0.1) for i in range(64)]
    own = made(
        conditions, lambda i, j, _: 0.001 * i + 0.01 * j, observed=watched(conditions[:20], suite())
    )
    assert "bars" in drawn(own)


# No more than the numbers allow

ENDS = st.floats(-1, 1).filter(lambda x: x == 0 or abs(x) > 1e-6)


@given(st.lists(st.tuples(ENDS, ENDS), min_size=1, max_size=8))
def test_nothing_is_claimed_where_zero_is_included(ends: list[tuple[float, float]]) -> None:
    differences = {
        f"c{i}": Interval((a + b) / 2, min(a, b), max(a, b), 9) for i, (a, b) in enumerate(ends)
    }
    words = claims(differences)
    claimed = [part for part in words.split("; ") if part.startswith(("more with", "less with"))]
    open_ = {name for name, one in differences.items() if one.low <= 0 <= one.high}
    for part in claimed:
        assert not open_ & {*re.findall(r"\bc\d\b", part)}
    n_claimed = len(differences) - len(open_)
    named = sum(
        int(count[1]) if (count := re.match(r"\w+ with (\d+) of", part)) else
        len(re.findall(r"\bc\d\b", part)) for part in claimed
    )  # fmt: skip
    assert named == n_claimed


def test_verdicts() -> None:
    nan = math.nan
    assert verdict(Interval(0.1, 0.05, 0.2, 9)) == "more"
    assert verdict(Interval(-0.1, -0.2, -0.05, 9)) == "less"
    assert verdict(Interval(0.1, -0.05, 0.2, 9)) == "open"
    assert verdict(Interval(0.1, 0.0, 0.2, 9)) == "open"
    assert verdict(Interval(0.0, 0.0, 0.0, 9)) == "same"
    assert verdict(Interval(0.1, nan, nan, 1)) == "few"


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["main", "grid", "composition", "strategies"]))
def test_no_figure_claims_what_noise_alone_gives(seed: int, experiment: str) -> None:
    """Where prompts come in pairs of opposite signs every interval includes zero."""
    conditions = EXPERIMENTS[experiment].conditions
    table = np.random.default_rng(seed).uniform(0.01, 0.1, (len(conditions), 6))
    table = np.concatenate([table, -table], axis=1)
    table[0] = 0
    own = made(
        conditions, lambda i, j, _: float(0.5 + table[i, j]), prompts=12, metrics=SIX,
        observed=watched(conditions, suite(12)),
    )  # fmt: skip
    assert not any(one.difference.excludes_zero for one in own.comparisons)
    for name in ("bars", "forest", "win_tie_loss", "pareto", "grid", "region"):
        one = FIGURES[name]
        if one.missing(own):
            continue
        words = one.sentence(own)
        assert "more with" not in words
        assert "less with" not in words
        if name == "pareto":
            assert "nothing is shown to be better than baseline in both" in words
        if name == "region":
            assert "in none of" in words
    assert "better in" not in FIGURES["radar"].sentence(own)


def test_one_prompt_claims_nothing() -> None:
    own = results("composition", prompts=1)
    for name in drawn(own):
        words = FIGURES[name].sentence(own)
        assert "more with" not in words, name
        assert "less with" not in words, name


def test_a_view_orders_the_baseline_first() -> None:
    own = results("main", baseline="XTC strong")
    view = View(own)
    assert next(iter(view.conditions)) == "XTC strong"
    assert view.others[0] == "baseline"
    assert set(METRICS) >= set(own.means)
