"""What the paper publishes, as typed in, and how far it can be held beside a run."""

from __future__ import annotations

import pytest

from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.experiment import effective
from xtc_viz.lab.mechanism import QUANTITIES
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.paper import Agreement, Reported, Statement, load, parse

PAPER = load()
FAR = {"structured", "quantization"}
"""Of which the paper speaks in words alone."""


def statement(place: str, model: str, metric: str, condition: str) -> Statement:
    found = [
        one
        for one in PAPER.statements
        if (one.at.place, one.metric.name, one.condition) == (place, metric, condition)
        and model in one.at.model
        and (one.level or one.percent)
    ]
    assert len(found) == 1
    return found[0]


def test_values_stand_with_their_places() -> None:
    one = statement("Table 1", "27B", "distinct_2", "XTC Strong")
    assert (one.base, one.level) == (0.609, 0.689)
    assert one.percent == Reported(13.1, 11.0, 18.1)
    assert one.direction == 1
    assert one.sampler is not None
    assert (one.sampler.xtc.rho, one.sampler.xtc.tau) == (1.0, 0.1)
    # Its interval ends at 0.
    assert statement("Table 1", "Llama", "repeated_trigrams", "XTC Strong").direction == 0
    # No interval, but two means.
    assert statement("Table 2", "27B", "chamfer", "T 1.3").direction == 1
    assert statement("Table 3", "27B", "repeated_trigrams", "Min-p + XTC").base == 0.081


def test_what_follows_from_the_values_is_what_the_abstract_says() -> None:
    # "38% (Distinct-2) and 71% (repeat trigram reduction) over baseline" of T 1.3 + XTC.
    composed = "T 1.3 + XTC ρ .75, τ .05"
    for metric, percent in (("distinct_2", 38), ("repeated_trigrams", -71)):
        one = statement("Table 2", "27B", metric, composed)
        assert one.level is not None
        assert one.base is not None
        assert round(100 * (one.level / one.base - 1)) == percent
    # The rows of Table 1 have the averages that it prints below them.
    rows = [one for one in PAPER.statements if one.at.place == "Table 1"]
    for metric, base, level in (("distinct_2", 0.624, 0.719), ("repeated_trigrams", 0.052, 0.031)):
        own = [one for one in rows if one.metric.name == metric]
        assert len(own) == 4
        assert sum(one.base or 0 for one in own) / 4 == pytest.approx(base, abs=5.1e-4)
        assert sum(one.level or 0 for one in own) / 4 == pytest.approx(level, abs=5.1e-4)
    changes = [one.percent.value for one in rows if one.percent]
    assert sum(changes) / 4 == pytest.approx(13.3, abs=0.05)


def test_every_metric_is_one_of_ours() -> None:
    known = {*METRICS, *(quantity.name for quantity in QUANTITIES)}
    for own in PAPER.definitions.values():
        assert {*own.ours} <= known, own.name
        assert own.note or own.agrees is Agreement.YES


def test_a_statement_with_settings_is_of_conditions_that_its_experiments_have() -> None:
    """What could never stand beside a run would be a slip of the pen."""
    for one in PAPER.statements:
        known = [EXPERIMENTS[name] for name in one.at.experiments]
        if one.sampler is None:
            assert "strongest" in one.condition
            continue
        samplers = [{effective(own.sampler) for own in each.conditions} for each in known]
        pair = {effective(one.sampler), effective(one.against_sampler or one.sampler)}
        assert any(pair <= own for own in samplers), (one.at.place, one.condition)


def test_experiments_are_ours() -> None:
    places = [one.at for one in PAPER.statements]
    places += [one.at for one in PAPER.readings]
    places += [one.at for one in PAPER.words]
    assert {name for at in places for name in at.experiments} <= {*EXPERIMENTS} | FAR
    assert all(at.place and at.section for at in places)


@pytest.mark.parametrize(
    ("value", "sign"),
    [((1, 0.5, 2), 1), ((-1, -2, -0.5), -1), ((1, -1, 2), 0), ((-1, -2, 0.0), 0), ((3,), 1)],
)
def test_an_interval_that_holds_zero_shows_no_direction(
    value: tuple[float, ...], sign: int
) -> None:
    assert Reported(*value).sign == sign


def test_a_metric_that_is_not_defined_is_an_error() -> None:
    text = (
        'title = ""\nauthors = ""\nleft_out = []\n[metrics]\n[samplers]\n'
        '[[tables]]\nplace = "Table 9"\nsection = "X"\nexperiments = []\nagainst = "a"\n'
        "levels.beauty = { a = 1, b = 2 }\n"
    )
    with pytest.raises(KeyError, match="beauty"):
        parse(text + "[[directions]]\n")
