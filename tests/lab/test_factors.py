"""Which conditions belong together: by their samplers, whatever their names say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.lab.made import made
from xtc_viz.lab.builtin import EXPERIMENTS, RHOS, TAUS
from xtc_viz.lab.figures.factors import factorial, strategies, surface, xtc_words
from xtc_viz.lab.figures.pareto import undominated
from xtc_viz.lab.figures.placing import ENOUGH, RADIUS, beside
from xtc_viz.lab.figures.positions import smoothed
from xtc_viz.lab.figures.signs import cut, kind, labels, mixed, series
from xtc_viz.lab.figures.view import View, quoted
from xtc_viz.settings import LaneSettings, SamplerSettings, Strategy, XTCSettings


def view(experiment: str) -> View:
    """Return a view of an experiment whose conditions have names that say nothing."""
    conditions = [
        replace(condition, name=f"name {i}")
        for i, condition in enumerate(EXPERIMENTS[experiment].conditions)
    ]
    return View(made(conditions, lambda i, j, _: i + j, metrics=("distinct_2",), prompts=3))


def test_a_grid_is_found() -> None:
    own = surface(view("grid"))
    assert (own.rhos, own.taus) == (RHOS, TAUS)
    assert len(own.cells) == 16
    assert own.cells[0, 0] == "name 1"
    assert own.cells[3, 3] == "name 16"


def test_a_sweep_is_a_grid_of_one_row() -> None:
    own = surface(view("rho"))
    assert (own.rhos, own.taus) == ((0.1, *RHOS), (0.05,))


def test_a_factorial_is_found() -> None:
    own = factorial(view("temperature-factorial"))
    assert own.rows == ("name 0", "name 3", "name 6")
    assert [xtc_words(xtc) for xtc in own.columns] == ["no XTC", "ρ 0.5, τ 0.1", "ρ 1, τ 0.1"]
    assert [tuple(four) for four in own.combinations] == [
        ("name 0", "name 3", "name 1", "name 4"),
        ("name 0", "name 3", "name 2", "name 5"),
        ("name 0", "name 6", "name 1", "name 7"),
        ("name 0", "name 6", "name 2", "name 8"),
    ]
    assert len(own.pairs) == 6
    assert not factorial(view("main")).combinations


def test_a_factorial_with_holes() -> None:
    own = factorial(view("strong-baselines"))
    assert own.rows == ("name 0", "name 3", "name 4")
    assert {tuple(four) for four in own.combinations} == {
        ("name 0", "name 3", "name 5", "name 7"),
        ("name 0", "name 4", "name 6", "name 8"),
    }


def test_strategies_are_found() -> None:
    assert [*strategies(view("strategies"))] == [*Strategy]
    assert len(strategies(view("grid"))) == 1


def test_kinds() -> None:
    own = view("composition")
    assert [kind(own, name) for name in own.conditions] == [
        "baseline", "xtc", "other", "both", "other", "both", "other", "both",
    ]  # fmt: skip
    # ρ = 0 is no XTC, whatever its τ.
    off = LaneSettings("off", SamplerSettings(temperature=2.0, xtc=XTCSettings(0.0, 0.3)))
    base = LaneSettings("baseline")
    assert kind(View(made([base, off], lambda *_: 1.0)), "off") == "other"


def test_names_as_they_are_shown() -> None:
    assert cut("a <b>&\n") == "a &lt;b&gt;&amp;"
    assert cut("\u200b") == "∅"
    assert len(cut("x" * 1_000)) == 26
    assert labels(["y" * 99, "y" * 98]) == ["y" * 20 + "… (1)", "y" * 20 + "… (2)"]
    assert quoted("ρ 1, τ 0.1") == "“ρ 1, τ 0.1”"
    assert quoted("plain") == "plain"
    assert series([str(i) for i in range(16)])[::5] == ["0", "15"]
    assert mixed("#000000", "#ffffff", 0.5) == "#808080"


def test_who_is_outdone() -> None:
    points = {"a": (1.0, 1.0), "b": (2.0, 0.0), "c": (1.0, 0.5), "d": (2.0, 0.0), "e": (0.0, 2.0)}
    assert undominated(points) == ["a", "b", "d", "e"]
    assert undominated({}) == []


def test_numbers_stand_beside_their_points() -> None:
    points = {"a": (0.0, 0.0), "b": (0.01, 0.0), "c": (1.0, 1.0), "d": (0.0, 0.0)}
    found = beside(points, (1.0, 1.0))
    for right, up in found.values():
        assert right**2 + up**2 == pytest.approx(RADIUS**2)
    assert found["a"] != found["d"]
    assert beside({"a": (1.0, 1.0)}, (0.0, 0.0)).keys() == {"a"}
    assert ENOUGH > RADIUS


def test_a_line_is_smoothed() -> None:
    values = np.array([0.0, 3.0, np.nan, 6.0])
    assert smoothed(values, 3).tolist() == [1.5, 1.5, 4.5, 6.0]
    assert smoothed(values, 1)[[0, 1, 3]].tolist() == [0.0, 3.0, 6.0]
