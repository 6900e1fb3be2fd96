"""The plan of a stack: the stages that are on, in their order, with their cutoffs.

The sampler runs it, and the views of a record read it; nobody else knows an order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from xtc_viz.sampling.dialect import Removes, Zero
from xtc_viz.sampling.stages import STAGES
from xtc_viz.sampling.stages.base import Stage, Truncation
from xtc_viz.settings import TEMPERATURE, XTC, SamplerSettings, XTCSettings

BY_NAME: dict[str, Stage] = {stage.name: stage for stage in STAGES}
SORTING = frozenset({"top_k", "top_p"})
"""The stages that leave exllamav2's candidates sorted (`Removes`)."""


def truncates(stage: str) -> bool:
    """Whether a stage drops tokens. Those that do not change logits: penalties, temperature."""
    return isinstance(BY_NAME[stage], Truncation)


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages that are on, by their names.

    XTC always is, if only to say what it could have done.
    """

    settings: SamplerSettings
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def stages(self) -> tuple[str, ...]:
        """All of them in running order."""
        return (*self.before, XTC, *self.after)

    @property
    def xtc(self) -> XTCSettings:
        """XTC as it acts in this plan, with ρ = 0 where it is bypassed.

        Whoever decides a step takes it from here.
        """
        xtc = self.settings.xtc
        if self.bypassed:
            xtc = replace(xtc, rho=0.0)
        if xtc.dialect.removes is Removes.BEFORE_BY_ID and SORTING.intersection(self.before):
            dialect = replace(xtc.dialect, removes=Removes.BEFORE_FALLING)
            xtc = replace(xtc, dialect=dialect)
        return xtc

    @property
    def bypassed(self) -> bool:
        """Whether the engine does without XTC because the temperature is 0."""
        return self.greedy and self.settings.xtc.dialect.zero is Zero.SKIPPED

    @property
    def greedy(self) -> bool:
        """Whether the end of it is to take the most probable token that is left."""
        return bool(self.settings.temperature == 0.0)

    @property
    def late_temperature(self) -> float | None:
        """The temperature that comes after XTC where nothing else does, 1 without one.

        None where what follows XTC is more than that, or where XTC takes tokens below τ too: then
        the result is recorded.
        """
        if self.xtc.dialect.removes is Removes.BEFORE_BY_ID:
            return None
        if not self.after:
            return 1.0
        plain = self.after == (TEMPERATURE,) and not self.dynamic
        return self.settings.temperature if plain else None

    @property
    def dynamic(self) -> bool:
        """Whether the temperature follows the entropy of each step."""
        return self.settings.dynatemp_range > 0.0 and not self.greedy

    @property
    def truncations(self) -> tuple[str, ...]:
        """The stages before XTC that drop tokens (`Step.kept`, `Step.cut_by`)."""
        return tuple(filter(truncates, self.before))

    @property
    def truncation_runs(self) -> tuple[tuple[str, ...], ...]:
        """These in runs that nothing else interrupts."""
        return tuple(tuple(stages) for cuts, stages in groupby(self.before, key=truncates) if cuts)

    @property
    def rescalings(self) -> tuple[str, ...]:
        """The stages before XTC that change logits (`Step.log_zs`)."""
        return tuple(stage for stage in self.before if not truncates(stage))

    def cutoff(self, stage: str, top: float) -> float | None:
        """Return the probability at which a stage cuts, where it is one that can be drawn.

        `top` is the largest probability that the stage receives.
        """
        if stage == XTC:
            return self.settings.xtc.tau
        about = BY_NAME[stage]
        draws = isinstance(about, Truncation) and about.line
        return draws(self.settings, top) if draws else None

    def reach(self, stage: str) -> float | None:
        """Return the mass at which a stage stops, such as top-p."""
        about = BY_NAME.get(stage)
        reaches = isinstance(about, Truncation) and about.reach
        return reaches(self.settings) if reaches else None


@lru_cache(maxsize=256)
def plan_of(settings: SamplerSettings) -> Plan:
    """Return the plan of a stack."""
    stages = [stage for stage in settings.order if stage == XTC or BY_NAME[stage].is_on(settings)]
    if settings.temperature == 0.0:
        # An argmax of what XTC leaves, so XTC sees the unscaled distribution.
        stages.remove(TEMPERATURE)
        stages.append(TEMPERATURE)
    place = stages.index(XTC)
    return Plan(settings, tuple(stages[:place]), tuple(stages[place + 1 :]))
