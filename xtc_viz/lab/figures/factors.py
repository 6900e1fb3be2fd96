"""Which conditions belong together: grids of ρ and τ, samplers alone and with XTC, strategies.

What a condition is, its sampler says, never its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from xtc_viz.lab.figures.view import View, stack
from xtc_viz.settings import XTC_OFF, SamplerSettings, Strategy, XTCSettings

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Surface:
    """Conditions that differ in ρ and τ alone: by their places in `rhos` and `taus`."""

    rhos: tuple[float, ...]
    taus: tuple[float, ...]
    cells: Mapping[Cell, str]


def surface(view: View) -> Surface:
    """Return the largest grid of ρ and τ among the conditions, that of the baseline's own stack
    where two are alike."""
    groups: dict[tuple[SamplerSettings, Strategy], dict[tuple[float, float], str]] = {}
    for name, one in view.conditions.items():
        xtc = one.sampler.xtc
        if xtc.rho > 0:
            own = groups.setdefault((stack(one.sampler), xtc.strategy), {})
            own[xtc.rho, xtc.tau] = name
    base = stack(view.conditions[view.results.baseline].sampler)
    points = max(
        groups.items(), key=lambda item: (len(item[1]), item[0][0] == base), default=((), {})
    )[1]
    rhos = tuple(sorted({rho for rho, _ in points}))
    taus = tuple(sorted({tau for _, tau in points}))
    places = {(rhos.index(rho), taus.index(tau)): name for (rho, tau), name in points.items()}
    return Surface(rhos, taus, places)


class Combination(NamedTuple):
    """The conditions of two factors, by name: a sampler, and XTC."""

    neither: str
    first: str
    second: str
    both: str


@dataclass(frozen=True, slots=True)
class Factorial:
    """Samplers × XTC: `rows` are the conditions without XTC, by name, `columns` the settings of
    XTC, the first of which is off; `cells` the conditions by row and column."""

    rows: tuple[str, ...]
    columns: tuple[XTCSettings, ...]
    cells: Mapping[Cell, str]

    @property
    def pairs(self) -> list[tuple[str, str, XTCSettings]]:
        """The conditions that differ in XTC alone: without, with, and which."""
        return [
            (self.rows[i], name, self.columns[j]) for (i, j), name in self.cells.items() if j > 0
        ]

    @property
    def combinations(self) -> list[Combination]:
        """Where both factors, each one and neither are there; neither is the first row's."""
        combinations = []
        for (i, j), both in self.cells.items():
            if i > 0 and j > 0 and (0, j) in self.cells:
                combinations.append(Combination(self.rows[0], self.rows[i], self.cells[0, j], both))
        return combinations


def factorial(view: View) -> Factorial:
    """Return the samplers that are there alone and with XTC, the baseline's own first."""
    alone: dict[SamplerSettings, str] = {}
    together: dict[SamplerSettings, dict[XTCSettings, str]] = {}
    for name, one in view.conditions.items():
        own, xtc = stack(one.sampler), replace(one.sampler.xtc, protected=frozenset())
        if xtc.rho == 0:
            alone[own] = name
        else:
            together.setdefault(own, {})[xtc] = name
    samplers = [own for own in alone if own in together]
    columns = [XTC_OFF]
    columns += dict.fromkeys(xtc for own in samplers for xtc in together[own])
    cells = {(i, 0): alone[own] for i, own in enumerate(samplers)}
    for i, own in enumerate(samplers):
        for xtc, name in together[own].items():
            cells[i, columns.index(xtc)] = name
    return Factorial(
        tuple(alone[own] for own in samplers), tuple(columns), dict(sorted(cells.items()))
    )


def xtc_words(xtc: XTCSettings) -> str:
    """Return XTC's settings in few words: `ρ 0.5, τ 0.1`."""
    if xtc.rho == 0:
        return "no XTC"
    words = f"ρ {xtc.rho:g}, τ {xtc.tau:g}"
    if xtc.strategy is not Strategy.KEEP_LEAST:
        words += f", {str(xtc.strategy).replace('_', ' ')}"
    return words


def strategies(view: View) -> dict[Strategy, str]:
    """Return the conditions that differ in their strategy alone, by it: the most there are."""
    groups: dict[SamplerSettings, dict[Strategy, str]] = {}
    for name, one in view.conditions.items():
        xtc = one.sampler.xtc
        if xtc.rho > 0:
            plain = replace(xtc, strategy=Strategy.KEEP_LEAST, protected=frozenset())
            own = groups.setdefault(replace(one.sampler, xtc=plain), {})
            own[xtc.strategy] = name
    most = max(groups.values(), key=len, default={})
    return {strategy: most[strategy] for strategy in Strategy if strategy in most}
