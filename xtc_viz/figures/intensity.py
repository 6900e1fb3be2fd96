"""How strongly XTC would act along a text, over ρ and τ, and where the present settings stand."""

from __future__ import annotations

from typing import Literal

import plotly.graph_objects as go

from xtc_viz.figures.labels import setting
from xtc_viz.figures.theme import LIGHT, Theme, axis, layout
from xtc_viz.sampling.whatif import IntensityMap
from xtc_viz.settings import XTCSettings

Quantity = Literal["interventions", "removed_mass"]
WORDS: dict[Quantity, str] = {
    "interventions": "Interventions to expect per 100 tokens",
    "removed_mass": "Probability to be removed per token, in %",
}
UNITS: dict[Quantity, str] = {
    "interventions": "interventions per 100 tokens",
    "removed_mass": "% per token",
}


def intensity_figure(
    intensity: IntensityMap,
    present: XTCSettings,
    quantity: Quantity = "interventions",
    *,
    theme: Theme = LIGHT,
) -> go.Figure:
    """Draw the map: τ to the right (logarithmic), ρ upwards, the present point ringed.

    Along this text, not of a new generation.
    """
    values = [[100.0 * value for value in row] for row in getattr(intensity, quantity)]
    figure = go.Figure()
    figure.add_heatmap(
        x=list(intensity.taus),
        y=list(intensity.rhos),
        z=values,
        zmin=0,
        zmax=max((max(row) for row in values), default=0) or 1,
        colorscale=[[0, theme.paper], [1, theme.removed]],
        colorbar={
            "title": {"text": UNITS[quantity], "side": "right", "font": {"size": 12}},
            "outlinewidth": 0,
            "thickness": 12,
            "len": 1,
            "tickfont": {"color": theme.ink_2, "size": 12},
        },
        hovertemplate=f"ρ %{{y:.2f}}, τ %{{x:.3f}}: %{{z:.1f}} {UNITS[quantity]}<extra></extra>",
    )
    figure.add_scatter(
        x=[present.tau],
        y=[present.rho],
        mode="markers",
        marker={
            "symbol": "circle",
            "size": 13,
            "color": theme.paper,
            "line": {"color": theme.ink, "width": 3},
        },
        cliponaxis=False,
        name="present settings",
        hovertemplate=f"ρ {setting(present.rho)}, τ {setting(present.tau)}<extra></extra>",
    )
    shown = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    figure.update_layout(
        layout(
            theme,
            360,
            title={"text": f"{WORDS[quantity]}, along this text", "font": {"size": 14}, "x": 0.02},
            margin={"l": 56, "r": 24, "t": 56, "b": 52},
            showlegend=False,
            xaxis=axis(
                theme,
                type="log",
                title={"text": "τ, the plausibility floor"},
                tickvals=shown,
                ticktext=[setting(tau) for tau in shown],
                showgrid=False,
            ),
            yaxis=axis(
                theme, title={"text": "ρ, how often XTC acts"}, showgrid=False, zeroline=False
            ),
        )
    )
    return figure
