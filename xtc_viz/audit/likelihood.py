"""How probable what was drawn is under a ρ, and so which ρ, τ and order a server follows.

A step at which firing would remove the mass m draws a removable token with probability (1 − ρ)·m.
Whatever else decides which token it is, is the same for all hypotheses. So a step adds
log(1 − ρ) where a removable token came through, and else log(1 + ρ·m/(1 − m)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xtc_viz.audit.observation import Hypothesis, Observations

Floats = npt.NDArray[np.float64]
GRID = 400
"""Steps of ρ between 0 and 1 at which the likelihood is looked at."""
DROP = 1.920729
"""Half the 95 % quantile of χ² with one degree: how far an interval's ends lie below the top."""
RHOS: Floats = np.linspace(0.0, 1.0, GRID + 1)


@dataclass(frozen=True, slots=True)
class Fit:
    """The ρ that explains best what was seen under a hypothesis, with its 95 % interval.

    `likelihood` is the logarithm at that ρ, up to what all hypotheses share, and `curve` that of
    all `RHOS`. `removable` counts the steps at which firing would have removed something, and
    `through` those at which a removable token came through all the same.
    """

    hypothesis: Hypothesis
    rho: float
    low: float
    high: float
    likelihood: float
    removable: int
    through: int
    curve: Floats

    @property
    def interval(self) -> str:
        return f"ρ = {self.rho:.2f} ({self.low:.2f} to {self.high:.2f})"

    def at(self, rho: float) -> float:
        """Return the log-likelihood at this ρ."""
        return float(self.curve[round(rho * GRID)])


def fit(observations: Observations, hypothesis: Hypothesis) -> Fit:
    """Estimate ρ by maximum likelihood, its interval by the likelihood ratio."""
    mass, through = observations.evidence(hypothesis)
    removable = mass > 0
    curve = _curve(mass[removable], through[removable])
    best = int(curve.argmax())
    inside = np.flatnonzero(curve >= curve[best] - DROP)
    return Fit(
        hypothesis=hypothesis,
        rho=float(RHOS[best]),
        low=float(RHOS[inside[0]]),
        high=float(RHOS[inside[-1]]),
        likelihood=float(curve[best]),
        removable=int(removable.sum()),
        through=int(through[removable].sum()),
        curve=curve,
    )


def _curve(mass: Floats, through: npt.NDArray[np.bool_]) -> Floats:
    odds = mass[~through] / (1 - mass[~through])
    let = int(through.sum())
    with np.errstate(divide="ignore"):
        refused = let * np.log1p(-RHOS) if let else np.zeros(len(RHOS))
    curve: Floats = refused + np.log1p(RHOS[:, None] * odds[None, :]).sum(axis=1)
    return curve


def information(masses: Floats, rho: float, other: float) -> float:
    """Return how much a step tells `rho` from `other`, in nats: the mean log-likelihood ratio where
    `rho` is true, over steps at which firing would remove these masses (n,)."""
    if not len(masses):
        return 0.0
    through, instead = (1 - rho) * masses, (1 - other) * masses
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(through > 0, through * np.log(through / instead), 0.0)
        rest = (1 - through) * np.log((1 - through) / (1 - instead))
    return float(np.mean(own + rest))


def steps_for(masses: Floats, rho: float, width: float) -> float:
    """Return how many steps like these, (n,), give an interval of ρ of this width, by Fisher's
    information at `rho`."""
    through = np.clip((1 - rho) * masses, 1e-3, 1 - 1e-3)
    each = float(np.mean(masses**2 / (through * (1 - through))))
    return float((2 * np.sqrt(2 * DROP) / width) ** 2 / each)
