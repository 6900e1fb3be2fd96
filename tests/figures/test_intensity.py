"""The map of ρ × τ, as data."""

from __future__ import annotations

import pytest

from tests.ui.factories import make_step, sampler
from xtc_viz.figures.intensity import intensity_figure
from xtc_viz.sampling.whatif import IntensityMap, intensity_map
from xtc_viz.settings import XTCSettings


def test_a_map_by_hand() -> None:
    # One step with E = girl .41, boy .33, man .12 at τ = .1; at τ = .3 man is out of E.
    found = intensity_map([make_step(sampler())], XTCSettings(), (0.0, 0.5, 1.0), (0.1, 0.3), 100)
    figure = intensity_figure(found, XTCSettings(0.5, 0.1), "removed_mass")
    heat, point = figure.data
    assert list(heat.x) == [0.1, 0.3]
    assert list(heat.y) == [0.0, 0.5, 1.0]
    assert [list(row) for row in heat.z] == [
        pytest.approx([0, 0]),
        pytest.approx([37, 20.5]),
        pytest.approx([74, 41]),
    ]
    assert heat.zmax == pytest.approx(74)
    assert heat.colorbar.title.text == "% per token"
    assert (list(point.x), list(point.y)) == ([0.1], [0.5])
    assert point.marker.line.width == 3, "the present point is ringed"
    assert figure.layout.xaxis.type == "log"
    assert "along this text" in figure.layout.title.text


def test_interventions_are_the_default() -> None:
    found = intensity_map([make_step(sampler())], XTCSettings(), (0.0, 1.0), (0.1, 0.6), 100)
    figure = intensity_figure(found, XTCSettings())
    assert [list(row) for row in figure.data[0].z] == [[0, 0], [100, 0]]
    assert figure.data[0].colorbar.title.text == "interventions per 100 tokens"


def test_where_nothing_ever_fires_the_scale_is_still_one() -> None:
    nothing = IntensityMap((0.0, 1.0), (0.6,), ((0.0,), (0.0,)), ((0.0,), (0.0,)))
    assert intensity_figure(nothing, XTCSettings()).data[0].zmax == 1
