"""What two conditions differ by, and how sure that is: paired by prompt, on values of metrics.

The prompts are the sample: values are averaged over samples and seeds first. Randomness is passed
in. Where an argument x has the shape (n,) or (n, k), n counts prompts and k is any number of
statistics that are resampled together; results have the shape () or (k,).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xtc_viz.lab.generation import Group

Floats = npt.NDArray[np.float64]
CONFIDENCE = 0.95
RESAMPLES = 2_000
FLIPS = 5_000
FEW = 8
"""Fewer values than this tell a bootstrap too little: of pure noise it would call 9 % real at five,
and half at two."""
POWER = 0.8


class Pairs(NamedTuple):
    """The values of two conditions for the prompts that both have, (n,) each."""

    prompts: tuple[str, ...]
    baseline: Floats
    condition: Floats

    @property
    def difference(self) -> Floats:
        return self.condition - self.baseline

    @property
    def percent(self) -> Floats:
        """The change of each prompt in percent of its baseline, NaN where that is 0."""
        base = np.where(self.baseline == 0, np.nan, self.baseline)
        return 100 * self.difference / base


def paired(values: Mapping[Group, float | None], baseline: str, condition: str) -> Pairs:
    """Pair the values of a metric in two conditions by prompt and seed; see `by_prompt`."""
    prompts, table = by_prompt(values, (baseline, condition))
    return Pairs(prompts, table[:, 0], table[:, 1])


def by_prompt(
    values: Mapping[Group, float | None], conditions: Sequence[str]
) -> tuple[tuple[str, ...], Floats]:
    """Return prompts in rising order, and their values in these conditions, (n, conditions).

    A (prompt, seed) counts where all of them have a value; then seeds are averaged.
    """
    seeds: dict[str, list[list[float]]] = {}
    for group in values:
        if group.condition == conditions[0]:
            row = [values.get(group._replace(condition=name)) for name in conditions]
            known = [value for value in row if value is not None]
            if len(known) == len(row):
                seeds.setdefault(group.prompt, []).append(known)
    prompts = tuple(sorted(seeds))
    means = [np.mean(seeds[prompt], axis=0) for prompt in prompts]
    return prompts, np.array(means).reshape(len(prompts), len(conditions))


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over n prompts with its interval; both ends are NaN for fewer than two prompts."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def interval(x: Floats, rng: np.random.Generator, resamples: int = RESAMPLES) -> Interval:
    """Return the mean of x (n,) with its 95 % interval; see `bounds`. NaNs are left out."""
    x = np.asarray(x, dtype=np.float64)
    x = x[~np.isnan(x)]
    low, high = bounds(x, rng, resamples)
    return Interval(float(x.mean()) if len(x) else np.nan, float(low), float(high), len(x))


def bounds(
    x: Floats, rng: np.random.Generator, resamples: int = RESAMPLES
) -> tuple[Floats, Floats]:
    """Return the ends of the 95 % bootstrap intervals of the means of x, (n,) or (n, k).

    The expanded percentile (Hesterberg 2015, section 5.3): quantiles of the resampled means at
    Φ(√(n/(n − 1))·t) and its mirror, t the quantile of Student's t with n − 1 degrees, as the plain
    percentile is too narrow for few prompts. At n = 24 it covers 95 % of the true means for normal
    differences and those of rates, 94 % for moderately skewed ones (skewness 1), 93 % for
    exponential ones and only 88 % for lognormal ones, whose mean hangs on values that a small
    sample lacks. For fewer than `FEW` prompts, whose resamples repeat themselves, it is Student's
    interval.
    """
    n = len(x)
    if n < 2:
        nothing = np.full(np.shape(x)[1:], np.nan)
        return nothing, nothing
    if n < FEW:
        spread = student_quantile((1 + CONFIDENCE) / 2, n - 1) * np.std(x, axis=0, ddof=1)
        centre, half = np.mean(x, axis=0), spread / np.sqrt(n)
        return centre - half, centre + half
    weights = rng.multinomial(n, np.full(n, 1 / n), size=resamples)
    means: Floats = weights @ x / n
    tail = NormalDist().cdf(np.sqrt(n / (n - 1)) * student_quantile((1 - CONFIDENCE) / 2, n - 1))
    low: Floats = np.quantile(means, tail, axis=0)
    high: Floats = np.quantile(means, 1 - tail, axis=0)
    return low, high


@lru_cache(maxsize=256)
def student_quantile(share: float, degrees: int) -> float:
    """Return the quantile of Student's t distribution, share in (0, 1)."""
    from scipy.special import stdtrit  # a third of a second

    return float(stdtrit(degrees, share))


def sign_flip(x: Floats, rng: np.random.Generator, flips: int = FLIPS) -> Floats:
    """Return the two-sided p values of differences x, (n,) or (n, k), by flipping their signs.

    p is the share of signings, the given one included, whose mean is at least as far from 0; all
    2ⁿ of them where they are no more than `flips`. NaN without a difference, or with one that is.

    It asks whether the differences lie symmetrically around 0. Where they do, at most 5 % come out
    below 0.05. Skewed differences of mean 0 are not symmetric: at n = 24 it is 6 % for a skewness
    of 1, 7 % for exponential and 13 % for lognormal ones.
    """
    n = len(x)
    if n == 0:
        return np.full(np.shape(x)[1:], np.nan)
    signs = _signs(n, rng, flips)
    sums = signs @ x
    # Sums of the same numbers in another order differ in their last bits.
    observed = np.abs(np.sum(x, axis=0)) - 1e-12 * np.abs(x).sum(axis=0)
    as_far = (np.abs(sums) >= observed).sum(axis=0)
    chance = 0 if 2**n <= flips else 1  # one more than were drawn: the given signing itself
    p = (as_far + chance) / (len(signs) + chance)
    return np.where(np.isnan(observed), np.nan, p)


def _signs(n: int, rng: np.random.Generator, flips: int) -> Floats:
    """Return rows of ±1: every possible one, or as many random ones as `flips`, (rows, n)."""
    if 2**n <= flips:
        return np.array(list(product((-1.0, 1.0), repeat=n)))
    return rng.choice(np.array([-1.0, 1.0]), size=(flips, n))


class WinTieLoss(NamedTuple):
    """On how many prompts a condition is better, equal, and worse than the baseline."""

    wins: int
    ties: int
    losses: int


def win_tie_loss(difference: Floats, sign: int = 1, tie: float = 1e-9) -> WinTieLoss:
    """Count the prompts; `sign` is −1 where less is better, and up to `tie` nothing differs.

    NaNs are left out.
    """
    better = sign * difference[~np.isnan(difference)]
    wins, losses = int((better > tie).sum()), int((better < -tie).sum())
    return WinTieLoss(wins, len(better) - wins - losses, losses)


def holm(p_values: Sequence[float]) -> Floats:
    """Return the p values of m tests adjusted together (Holm 1979), in the order given.

    NaNs stay and count for no test. With B sign flips no adjusted value is below m/(B + 1).
    """
    p = np.asarray(p_values, dtype=np.float64)
    m = int((~np.isnan(p)).sum())
    order = np.argsort(p, kind="stable")[:m]  # NaNs come last
    adjusted = np.full_like(p, np.nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate((m - np.arange(m)) * p[order]))
    return adjusted


def detectable(difference: Floats, power: float = POWER) -> float:
    """Return the least mean difference that a sample with this spread shows at 5 % with `power`.

    (t₀.₉₇₅ + t_power)·sd/√n, about 0.6 sd for 24 prompts; NaN for fewer than two. It says what the
    sample could show, not what is there.
    """
    n = len(difference)
    if n < 2:
        return float("nan")
    quantiles = student_quantile((1 + CONFIDENCE) / 2, n - 1) + student_quantile(power, n - 1)
    return float(quantiles * np.std(difference, ddof=1) / np.sqrt(n))


@dataclass(frozen=True, slots=True)
class Additivity:
    """What two factors do alone and together, against neither: means over prompts with intervals.

    `interaction` is `joint` − (`first` + `second`), prompt by prompt: 0 where the effects add up,
    and `p` is its sign-flip test.
    """

    first: Interval
    second: Interval
    joint: Interval
    interaction: Interval
    p: float


def additivity(
    neither: Floats,
    first: Floats,
    second: Floats,
    both: Floats,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    flips: int = FLIPS,
) -> Additivity:
    """Compare the joint effect with the sum of the single ones; arguments are (n,), by prompt.

    All intervals come from the same resamples of the prompts.
    """
    effects = np.stack([first - neither, second - neither, both - neither], axis=1)
    contrast = effects[:, 2] - effects[:, 0] - effects[:, 1]
    columns = np.column_stack([effects, contrast])
    n = len(columns)
    ends = bounds(columns, rng, resamples)
    means = columns.mean(axis=0) if n else np.full(4, np.nan)
    one, other, joint, interaction = (
        Interval(float(mean), float(low), float(high), n)
        for mean, low, high in zip(means, *ends, strict=True)
    )
    return Additivity(one, other, joint, interaction, float(sign_flip(contrast, rng, flips)))
