"""Every numeric setting: its default, bounds, unit and help stand here, once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xtc_viz.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Knob:
    """A numeric setting: default, closed or open bounds, slider step, and one line of help.

    `hint` says what it is in a few words, to stand beside it. `soft_low` and `soft_high` are the
    ends of a slider where the bounds themselves are too wide to be useful on one.
    """

    name: str
    label: str
    default: float
    low: float
    high: float
    step: float
    help: str
    low_open: bool = False
    high_open: bool = False
    integer: bool = False
    soft_low: float | None = None
    soft_high: float | None = None
    hint: str = ""

    @property
    def interval(self) -> str:
        """The bounds as text, such as `in (0, 1)` or `an integer in [1, 4096]`."""
        kind = "an integer " if self.integer else ""
        if math.isinf(self.high):
            return f"{kind}{'>' if self.low_open else '>='} {self.low:g}"
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        high = "2^63 − 1" if self.high == 2**63 - 1 else f"{self.high:g}"
        return f"{kind}in {left}{self.low:g}, {high}{right}"

    @property
    def slider(self) -> tuple[float, float]:
        """The ends (low, high) of a slider for this setting; both are allowed values."""
        low = self.low if self.soft_low is None else self.soft_low
        high = self.high if self.soft_high is None else self.soft_high
        return low, high

    def check(self, value: object) -> float:
        """Return `value` as a number within the bounds, or raise `SettingsError`."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SettingsError(self.name, self.interval, value)
        low_ok = value > self.low if self.low_open else value >= self.low
        high_ok = value < self.high if self.high_open else value <= self.high
        whole = not self.integer or (math.isfinite(value) and value == int(value))
        if not (low_ok and high_ok and whole):
            raise SettingsError(self.name, self.interval, value)
        return int(value) if self.integer else float(value)


KNOBS: dict[str, Knob] = {
    knob.name: knob
    for knob in (
        Knob(
            "rho", "ρ probability", 0.5, 0.0, 1.0, 0.01,
            "How often XTC acts when it could. 0 switches it off, 1 acts at every chance.",
            hint="how often it acts",
        ),
        Knob(
            "tau", "τ floor", 0.1, 0.0, 1.0, 0.005,
            "A token is eligible when its probability is at least τ. Above 0.5 XTC can never act.",
            low_open=True, high_open=True, soft_low=0.005, soft_high=0.6,
            hint="what counts as plausible",
        ),
        Knob(
            "temperature", "Temperature", 1.0, 0.0, 100.0, 0.05,
            "Flattens (above 1) or sharpens (below 1) the distribution. 0 always takes the most "
            "probable token that is left; XTC still acts before that choice.",
            soft_high=2.0, hint="below 1 tamer, above 1 wilder",
        ),
        Knob(
            "repetition_penalty", "Repetition penalty", 1.0, 0.1, 10.0, 0.01,
            "Lowers the scores of tokens that already occurred. 1 is off.",
            soft_low=0.5, soft_high=2.0,
        ),
        Knob(
            "presence_penalty", "Presence penalty", 0.0, -2.0, 2.0, 0.05,
            "Lowers the scores of tokens that already occurred by this much. 0 is off.",
        ),
        Knob(
            "frequency_penalty", "Frequency penalty", 0.0, -2.0, 2.0, 0.05,
            "Lowers the score of a token by this much for each time that it occurred. 0 is off.",
        ),
        Knob(
            "penalty_window", "Penalty window", 0, 0, math.inf, 1,
            "How many of the last tokens the three penalties look at. 0 means all.",
            integer=True, soft_high=4096,
        ),
        Knob(
            "dry_multiplier", "DRY multiplier", 0.0, 0.0, 100.0, 0.05,
            "How strongly DRY lowers tokens that would continue a repetition. 0 is off.",
            soft_high=5.0,
        ),
        Knob(
            "dry_base", "DRY base", 1.75, 1.0, 10.0, 0.05,
            "How fast DRY grows with the length of the repetition.", soft_high=4.0,
        ),
        Knob(
            "dry_allowed_length", "DRY allowed length", 2, 1, 1000, 1,
            "Repetitions up to this many tokens are left alone.", integer=True, soft_high=20,
        ),
        Knob(
            "dry_window", "DRY window", 0, 0, math.inf, 1,
            "How many of the last tokens DRY looks at. 0 means all.", integer=True, soft_high=4096,
        ),
        Knob(
            "dynatemp_range", "Dynamic temperature", 0.0, 0.0, 100.0, 0.05,
            "Lets the temperature go this far down where the model is sure, and up where it is "
            "not. 0 is off.", soft_high=2.0,
        ),
        Knob(
            "dynatemp_exponent", "Dynamic exponent", 1.0, 0.01, 10.0, 0.05,
            "Above 1 the temperature stays low longer, below 1 it rises sooner.", soft_high=4.0,
        ),
        Knob(
            "top_n_sigma", "Top-nσ", 0.0, 0.0, 100.0, 0.05,
            "Keeps tokens whose score is within n standard deviations of the best. 0 is off.",
            soft_high=5.0,
        ),
        Knob(
            "top_k", "Top-k", 0, 0, math.inf, 1,
            "Keeps the k most probable tokens. 0 is off.", integer=True, soft_high=200,
        ),
        Knob(
            "top_p", "Top-p", 1.0, 0.0, 1.0, 0.01,
            "Keeps the most probable tokens that together reach p. 1 is off.", low_open=True,
            soft_low=0.01,
        ),
        Knob(
            "min_p", "Min-p", 0.0, 0.0, 1.0, 0.01,
            "Keeps tokens with at least this share of the top token's probability. 0 is off.",
        ),
        Knob(
            "typical_p", "Typical-p", 1.0, 0.0, 1.0, 0.01,
            "Keeps the tokens whose surprise is closest to the average, up to mass p. 1 is off.",
            low_open=True, soft_low=0.01,
        ),
        Knob(
            "epsilon_cutoff", "Epsilon cutoff", 0.0, 0.0, 1.0, 0.0001,
            "Drops tokens below this probability. 0 is off.", high_open=True, soft_high=0.01,
        ),
        Knob(
            "eta_cutoff", "Eta cutoff", 0.0, 0.0, 1.0, 0.0001,
            "Drops tokens below a floor that falls as the distribution gets flatter. 0 is off.",
            high_open=True, soft_high=0.01,
        ),
        Knob(
            "max_new_tokens", "Length", 160, 1, 4096, 1,
            "How many tokens each lane writes at most.", integer=True, soft_high=1000,
            hint="tokens for each lane",
        ),
        Knob(
            "seed", "Seed", 7, 0, 2**63 - 1, 1,
            "Fixes all random numbers: the same seed and settings give the same text.",
            integer=True, soft_high=9999,
        ),
        Knob(
            "top_candidates", "Candidates", 100, 100, 1000, 1,
            "How many of the most probable tokens are recorded at every step.", integer=True,
        ),
    )
}  # fmt: skip
