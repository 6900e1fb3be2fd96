"""The plan of a stack: the stages that are on, in their order, with their cutoffs.

The sampler runs it, and the views of a record read it; nobody else knows an order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from xtc_viz.settings import SamplerSettings, Stage

PENALTIES = frozenset(
    {Stage.REPETITION_PENALTY, Stage.PRESENCE_PENALTY, Stage.FREQUENCY_PENALTY, Stage.DRY}
)
"""The stages that look at the tokens so far."""
RESCALING = PENALTIES | {Stage.TEMPERATURE}
"""The stages that change logits. Those that are neither these nor XTC drop tokens: truncation."""

_OFF = SamplerSettings()


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages that are on. XTC always is, if only to say what it could have done."""

    settings: SamplerSettings
    before: tuple[Stage, ...]
    after: tuple[Stage, ...]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All of them in running order."""
        return (*self.before, Stage.XTC, *self.after)

    @property
    def greedy(self) -> bool:
        """Whether the end of it is to take the most probable token that is left."""
        return self.settings.temperature == 0.0

    @property
    def late_temperature(self) -> float | None:
        """The temperature that comes after XTC where nothing else does, 1 without one.

        None where what follows XTC is more than that: then its result is recorded.
        """
        if not self.after:
            return 1.0
        plain = self.after == (Stage.TEMPERATURE,) and not self.dynamic
        return self.settings.temperature if plain else None

    @property
    def dynamic(self) -> bool:
        """Whether the temperature follows the entropy of each step."""
        return self.settings.dynatemp_range > 0.0 and not self.greedy

    @property
    def truncations(self) -> tuple[Stage, ...]:
        """The stages before XTC that drop tokens (`Step.kept`, `Step.cut_by`)."""
        return tuple(stage for stage in self.before if stage not in RESCALING)

    @property
    def truncation_runs(self) -> tuple[tuple[Stage, ...], ...]:
        """The truncation stages before XTC, in runs that nothing else interrupts."""
        runs = groupby(self.before, key=lambda stage: stage in RESCALING)
        return tuple(tuple(stages) for rescales, stages in runs if not rescales)

    @property
    def rescalings(self) -> tuple[Stage, ...]:
        """The stages before XTC that change logits (`Step.log_zs`)."""
        return tuple(stage for stage in self.before if stage in RESCALING)

    def cutoff(self, stage: Stage, top: float) -> float | None:
        """Return the probability at which a stage cuts, where it is one that can be drawn.

        `top` is the largest probability that the stage receives.
        """
        if stage is Stage.XTC:
            return self.settings.xtc.tau
        if stage is Stage.MIN_P:
            return self.settings.min_p * top
        return self.settings.epsilon_cutoff if stage is Stage.EPSILON_CUTOFF else None

    def reach(self, stage: Stage) -> float | None:
        """Return the mass at which top-p and typical-p stop."""
        return {
            Stage.TOP_P: self.settings.top_p,
            Stage.TYPICAL_P: self.settings.typical_p,
        }.get(stage)


@lru_cache(maxsize=256)
def plan_of(settings: SamplerSettings) -> Plan:
    """Return the plan of a stack."""
    stages = [stage for stage in settings.order if stage is Stage.XTC or _is_on(settings, stage)]
    if settings.temperature == 0.0:
        # An argmax of what XTC leaves, so XTC sees the unscaled distribution.
        stages.remove(Stage.TEMPERATURE)
        stages.append(Stage.TEMPERATURE)
    place = stages.index(Stage.XTC)
    return Plan(settings, tuple(stages[:place]), tuple(stages[place + 1 :]))


def _is_on(settings: SamplerSettings, stage: Stage) -> bool:
    if stage is Stage.TEMPERATURE:
        return settings.temperature != 1.0 or settings.dynatemp_range > 0.0
    name = "dry_multiplier" if stage is Stage.DRY else str(stage)
    value: float = getattr(settings, name)
    off: float = getattr(_OFF, name)
    return value != off
