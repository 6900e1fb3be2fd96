"""The experiments that come with the app: those of the paper. One more is one more entry.

The paper samples plainly, at temperature 1 and without a min-p; so do these. Where it gives values
(24 prompts, 8 samples, 5 seeds in the factorials, 176 tokens, 64 positions of the mechanism) they
are taken; the τ and ρ of the grid and of the sweeps it does not list, so these are ours. Its seeds
are samples here: texts of one prompt and condition that differ by their random numbers alone.
What several experiments have in common is written once (`cell`).
"""

from __future__ import annotations

from typing import Any

from xtc_viz.lab.experiment import Experiment, Size
from xtc_viz.settings import LaneSettings, SamplerSettings, Strategy, XTCSettings

RHOS = (0.25, 0.5, 0.75, 1.0)
TAUS = (0.05, 0.1, 0.15, 0.2)


def _lane(name: str, rho: float = 0.0, tau: float = 0.1, **stack: Any) -> LaneSettings:
    return LaneSettings(name, SamplerSettings(**stack, xtc=XTCSettings(rho=rho, tau=tau)))


BASELINE = _lane("baseline")
LIGHT = _lane("XTC light", 0.25)
MEDIUM = _lane("XTC medium", 0.5)
STRONG = _lane("XTC strong", 1.0)
LOW = _lane("XTC .75 / .05", 0.75, 0.05)
TEMPERATURE = _lane("T 1.3", temperature=1.3)
TOP_P = _lane("top-p .95", top_p=0.95)
REPETITION = _lane("repetition 1.05", repetition_penalty=1.05)


def _grid(knob: str, label: str, values: tuple[float, ...]) -> tuple[LaneSettings, ...]:
    """Return each value of a knob without XTC, with the medium and with the strong one."""
    return tuple(
        _lane(f"{label} {value:g}{xtc}", rho, **{knob: value})
        for value in values
        for xtc, rho in (("", 0.0), (" + XTC medium", 0.5), (" + XTC strong", 1.0))
    )


_SWEEP = (BASELINE, *(_lane(f"ρ {r:g}", r) for r in (0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 1.0)))
"""Where exactness is wanted: ρ from little to always, at τ = 0.1."""

_ALL = (
    Experiment(
        "main",
        "creative",
        (
            BASELINE,
            _lane("T 1.1", temperature=1.1),
            TEMPERATURE,
            TOP_P,
            _lane("typical-p .95", typical_p=0.95),
            REPETITION,
            LIGHT,
            MEDIUM,
            STRONG,
        ),
        "Does XTC make texts more varied and less repetitive than what is usual?",
        small=Size(12, 2, 64),
    ),
    Experiment(
        "strong-baselines",
        "creative",
        (
            BASELINE,
            TOP_P,
            _lane("eta .0003", eta_cutoff=3e-4),
            _lane("min-p .10", min_p=0.1),
            TEMPERATURE,
            STRONG,
            LOW,
            _lane("min-p .10 + XTC strong", 1.0, min_p=0.1),
            _lane("T 1.3 + XTC .75 / .05", 0.75, 0.05, temperature=1.3),
        ),
        "Does XTC do more than well-tuned samplers of the tail, and more together with them?",
        small=Size(8, 2, 64),
    ),
    Experiment(
        "grid",
        "creative",
        (BASELINE, *(_lane(f"ρ {rho:g}, τ {tau:g}", rho, tau) for rho in RHOS for tau in TAUS)),
        "How do ρ and τ change what XTC does?",
    ),
    Experiment(
        "rho",
        "creative",
        (BASELINE, *(_lane(f"ρ {rho:g}", rho, 0.05) for rho in (0.1, *RHOS))),
        "How does the effect grow with ρ, at τ = 0.05?",
        small=Size(8, 2, 64),
    ),
    Experiment(
        "strategies",
        "creative",
        (
            BASELINE,
            *(
                LaneSettings(
                    str(strategy).replace("_", " "),
                    SamplerSettings(xtc=XTCSettings(rho=1.0, tau=0.1, strategy=strategy)),
                )
                for strategy in Strategy
            ),
        ),
        "Does it matter which of the eligible tokens is kept?",
        small=Size(8, 2, 64),
    ),
    Experiment(
        "composition",
        "creative",
        tuple(
            _lane(f"{name}{' + XTC medium' if rho else ''}", rho, **stack)
            for name, stack in (
                ("baseline", {}),
                ("T 1.1", {"temperature": 1.1}),
                ("top-p .95", {"top_p": 0.95}),
                ("repetition 1.05", {"repetition_penalty": 1.05}),
            )
            for rho in (0.0, 0.5)
        ),
        "Does XTC add something to each of the other samplers?",
        small=Size(8, 2, 64),
    ),
    Experiment(
        "temperature-factorial",
        "creative",
        _grid("temperature", "T", (1.0, 1.15, 1.3)),
        "Do the effects of temperature and XTC add up?",
        samples=5,
    ),
    Experiment(
        "repetition-factorial",
        "creative",
        _grid("repetition_penalty", "repetition", (1.0, 1.05, 1.1)),
        "Do the effects of a repetition penalty and XTC add up?",
        samples=5,
    ),
    Experiment(
        "longform",
        "longform",
        (
            BASELINE,
            REPETITION,
            MEDIUM,
            STRONG,
            _lane("repetition 1.05 + XTC medium", 0.5, repetition_penalty=1.05),
            _lane("T 1.3 + XTC medium", 0.5, temperature=1.3),
        ),
        "Do long texts repeat themselves less?",
        samples=4,
        length=512,
        small=Size(4, 2, 192),
    ),
    Experiment(
        "structured",
        "structured",
        _SWEEP,
        "From which ρ on does XTC break answers of a fixed form?",
        small=Size(4, 2, 64),
    ),
    Experiment(
        "code",
        "code",
        _SWEEP,
        "From which ρ on does XTC break code?",
        small=Size(4, 2, 64),
    ),
    Experiment(
        "quantization",
        "creative",
        (BASELINE, LIGHT, MEDIUM, STRONG),
        "Is the effect the same on a quantized model? Run it on both, and compare the runs.",
        small=Size(8, 2, 64),
    ),
    Experiment(
        "activation",
        "creative",
        (BASELINE, LIGHT, MEDIUM, STRONG),
        # The paper looks at 64 positions; these texts are there already where `main` was run.
        "How often does XTC act, by position, openness and genre?",
        small=Size(0, 1, 32),
    ),
)

EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""All of them, by name."""

PLAIN = {"creative": "story", "longform": "story"}
"""What a model without a chat template writes in place of a suite of instructions."""


def fitting_suite(suite: str, *, has_chat_template: bool) -> str:
    """Return the suite to take on a model: one that follows no instructions gets beginnings."""
    return suite if has_chat_template else PLAIN.get(suite, suite)
