"""What an audit found, in one sentence, and whether it has seen enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xtc_viz.audit.likelihood import DROP, Fit, fit, information, steps_for
from xtc_viz.audit.observation import Hypothesis, Observation, Observations, Place

SURE = math.log(1000)
"""Of two hypotheses one is taken as shown where it explains what was seen 1,000 times as well. For
one that is fixed beforehand, that happens by chance in one audit of 1,000, however often one looks
(Ville's inequality); ρ is chosen after the fact, which takes some of that away."""
WIDTH = 0.1
"""How wide the interval of ρ may be for the audit to have seen enough."""
NOTHING = 0.05
"""Where ρ is below this for sure, there is no XTC."""
FLOORS = tuple(round(0.01 * n, 2) for n in range(1, 51))
"""The τ that are looked through beside the one that is claimed."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a server was asked to do, or says that it does."""

    rho: float
    tau: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found.

    `steps` were looked at; `best` explains them best. `floors` are the τ that explain them about as
    well, (lowest, highest). `acts`, `as_claimed` and `ends_protected` are None, and `place` too,
    where what was seen does not decide; `more` steps would, or None where that cannot be said.
    """

    claim: Claim
    steps: int
    best: Fit
    floors: tuple[float, float]
    acts: bool | None
    as_claimed: bool | None
    place: Place | None
    ends_protected: bool | None
    more: int | None

    @property
    def known(self) -> bool:
        """Whether the main questions are answered: does it act, and as claimed?"""
        return self.acts is not None and self.as_claimed is not None

    @property
    def sentence(self) -> str:
        return _sentence(self)

    @property
    def effort(self) -> str:
        """How many steps that took, and how many more would tell what is open."""
        if self.known:
            return f"That took {self.steps:,} steps."
        more = f"; about {self.more:,} more would tell" if self.more else ""
        return f"{self.steps:,} steps so far{more}."

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values; null for what is not known."""
        best = self.best
        return {
            "claim": {"rho": self.claim.rho, "tau": self.claim.tau},
            "steps": self.steps,
            "known": self.known,
            "acts": self.acts,
            "as_claimed": self.as_claimed,
            "rho": [best.rho, best.low, best.high],
            "tau": [best.hypothesis.tau, *self.floors],
            "removable": best.removable,
            "through": best.through,
            "place": self.place,
            "ends_protected": self.ends_protected,
            "more": self.more,
            "sentence": self.sentence,
            "effort": self.effort,
        }


def judge(
    observations: Sequence[Observation], claim: Claim, ends: frozenset[int] = frozenset()
) -> Verdict:
    """Hold what was drawn against the claim and against other ways of doing XTC.

    `ends` are the tokens that end a text; whether they are protected is found out, not assumed.
    """
    taus = sorted({*FLOORS, claim.tau})
    every = Observations(observations, ends)
    # Steps at which an end of text would have been removed say something of that question alone,
    # and those at another temperature of the place: at 1 both places are the same.
    open_to = every.without_ends(min(taus))
    warm = open_to.only(open_to.warm)
    fits = {tau: fit(warm, Hypothesis(tau)) for tau in taus}
    claimed = fits[claim.tau]
    best = max(fits.values(), key=lambda own: own.likelihood)
    # Of so many one fits better by chance, on a few steps: another τ has to show itself.
    if best.likelihood - claimed.likelihood < SURE + math.log(len(fits)):
        best = claimed
    near = [tau for tau, own in fits.items() if own.likelihood > best.likelihood - DROP]
    acts = _acts(best)
    as_claimed = _as_claimed(best, claimed, claim)
    return Verdict(
        claim=claim,
        steps=len(observations),
        best=best,
        floors=(min(near), max(near)),
        acts=acts,
        as_claimed=as_claimed,
        place=_place(open_to, best) if acts else None,
        ends_protected=_protected(every, best) if acts else None,
        more=_more(warm, best, claimed, claim, acts, as_claimed),
    )


def _acts(best: Fit) -> bool | None:
    if best.likelihood - best.at(0.0) >= SURE:
        return True
    return False if best.removable and best.high < NOTHING else None


def _as_claimed(best: Fit, claimed: Fit, claim: Claim) -> bool | None:
    if best.likelihood - claimed.at(claim.rho) >= SURE:
        return False
    narrow = claimed.removable > 0 and claimed.high - claimed.low <= WIDTH
    return True if narrow and claimed.low <= claim.rho <= claimed.high else None


def _place(observations: Observations, best: Fit) -> Place | None:
    """Return which probabilities are held against τ, where some were drawn at a temperature."""
    cold = observations.only(~observations.warm)
    tau = best.hypothesis.tau
    ways = {place: fit(cold, Hypothesis(tau, place)).at(best.rho) for place in Place}
    before, after = ways[Place.BEFORE], ways[Place.AFTER]
    # Both may be impossible, as when ρ is 1 and something came through: then neither is shown.
    if not math.isfinite(max(before, after)) or abs(before - after) < SURE:
        return None
    return Place.BEFORE if before > after else Place.AFTER


def _protected(observations: Observations, best: Fit) -> bool | None:
    """Return whether a step is left alone where an end of text would be removed."""
    tau = best.hypothesis.tau
    warm = observations.only(observations.warm)
    open_to = fit(warm, Hypothesis(tau)).at(best.rho)
    closed = fit(warm, Hypothesis(tau, ends_protected=True)).at(best.rho)
    if math.isfinite(open_to) and abs(open_to - closed) < SURE:
        return None
    return closed > open_to


def _more(
    observations: Observations, best: Fit, claimed: Fit, claim: Claim,
    acts: bool | None, as_claimed: bool | None,
) -> int | None:  # fmt: skip
    """Return how many more steps like these it takes to answer what is open."""
    if acts is not None and as_claimed is not None:
        return 0
    masses = observations.evidence(claimed.hypothesis).mass
    masses = masses[masses > 0]
    if not len(masses):
        return None
    narrow = steps_for(masses, claimed.rho, WIDTH)
    apart = information(masses, best.rho, claim.rho)
    told = SURE / apart if apart > 0 else math.inf
    needed = min(narrow, told) if as_claimed is None else narrow
    share = len(masses) / len(observations)
    return max(1, math.ceil((needed - len(masses)) / share)) if math.isfinite(needed) else None


def _sentence(verdict: Verdict) -> str:
    best = verdict.best
    if not best.removable:
        return (
            f"In {verdict.steps:,} steps there was none at which XTC would have removed anything "
            f"at τ = {verdict.claim.tau:g}: nothing can be said."
        )
    interval = best.interval
    claimed = f"ρ = {verdict.claim.rho:g} at τ = {verdict.claim.tau:g}"
    if verdict.acts is False:
        says = _SAYS[verdict.as_claimed].format(claimed)
        return (
            f"There is no XTC at τ = {best.hypothesis.tau:g}: {interval}. At {best.through:,} of "
            f"{best.removable:,} steps it drew a token that XTC would have removed{says}"
        )
    if verdict.acts is None:
        return (
            f"So far it cannot be told whether XTC acts: {interval} after {verdict.steps:,} steps."
        )
    low, high = verdict.floors
    floor = f"τ = {best.hypothesis.tau:.2f}"
    floor += f" ({low:.2f} to {high:.2f})" if low != high else ""
    place = f", {verdict.place}" if verdict.place else ""
    ends = {
        None: "",
        True: "; the end of a text is protected",
        False: "; the end of a text is not protected",
    }
    own = f"XTC acts with {interval} at {floor}{place}{ends[verdict.ends_protected]}"
    return own + _SAYS[verdict.as_claimed].format(claimed)


_SAYS = {
    True: ", as it was asked to: {}.",
    False: ". It was asked for {}: that is not what it does.",
    None: ". Whether that is the {} that was asked for, is not clear yet.",
}
