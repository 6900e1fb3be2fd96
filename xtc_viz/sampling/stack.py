"""The sampler stack of one lane: the plan's stages, XTC among them, the draw, and the record."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from xtc_viz.knobs import KNOBS
from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.distribution import Distribution, Head, Ids, PartialLogits, Probs
from xtc_viz.sampling.draw import Drawn, draw
from xtc_viz.sampling.passage import Passage, through
from xtc_viz.sampling.plan import BY_NAME, Plan, plan_of
from xtc_viz.sampling.randomness import Noise
from xtc_viz.sampling.rule import Decision, decide, eligible_count
from xtc_viz.sampling.stages.base import Truncation
from xtc_viz.sampling.truncation import Truncated
from xtc_viz.settings import TEMPERATURE, SamplerSettings, XTCSettings

if TYPE_CHECKING:
    import torch

CUT_SHOWN = 20
"""How many of the most probable tokens that truncation dropped are recorded at a step."""


class Final(NamedTuple):
    """What was drawn, and from what.

    `q` is the token's probability at the end; `log_z_final` that of `Step`. `distribution` is what
    the token was drawn from, where more than a temperature comes after XTC.
    """

    drawn: Drawn
    q: float
    log_z_final: float
    distribution: Distribution | None = None
    temperature: float = 0.0
    bound: Bound = Bound.NONE


class SamplerStack:
    """Turns logits into a token by one lane's settings. Holds no state between steps."""

    def __init__(
        self, settings: SamplerSettings, top_candidates: int = int(KNOBS["top_candidates"].default)
    ) -> None:
        """`top_candidates` tokens are recorded at every step; the draw never depends on it."""
        self.plan = plan_of(settings)
        self._top = top_candidates

    def run(
        self,
        context: torch.Tensor,
        logits: torch.Tensor | PartialLogits,
        coin: float,
        noise: Noise,
        forced: int | None = None,
    ) -> Step:
        """Draw the next token and say how it came about.

        Args:
            context: (T,) int64, the token ids so far, prompt included.
            logits: (V,) float32 on the CPU, or what is known of them. Never written to.
            coin: uniform in [0, 1).
            noise: (V,) this step's noise integers, shared by all lanes (`randomness`).
            forced: the token to take instead of the one that is drawn.

        Returns:
            The step, its `text` still empty.

        Raises:
            DistributionError: the logits are no distribution.
        """
        settings, before = self.plan.settings, context.numpy()
        if isinstance(logits, PartialLogits):
            raw = Distribution.partly(logits)
        else:
            raw = Distribution.of(logits)
        received = through(self.plan.before, settings, raw, before, self._top)
        distribution = received.distribution
        head = distribution.head(self._top, settings.xtc.tau)
        decision = _decide(head, self.plan.xtc, coin)
        final = finish(self.plan, distribution, head, decision, noise, before)
        (token, counterfactual, _), q = final.drawn, final.q
        if forced is not None:
            token, q = forced, _chance(self.plan, distribution, decision, final, forced)
        p, rank = _place(head, distribution, token)
        most = max(self._top, len(decision.eligible))
        ids, probs = _shown(head, distribution, most, (token, counterfactual))
        cut_ids, cut_probs, cut_by = _cut(received.truncated, self._top)
        *log_zs, log_z = received.log_zs or (raw.log_z,)
        return Step(
            token=token,
            text="",
            counterfactual=counterfactual,
            outcome=decision.outcome,
            coin=coin,
            eligible=len(decision.eligible),
            removed=decision.removed,
            removed_mass=decision.removed_mass,
            removable_mass=decision.removable_mass,
            entropy=distribution.entropy(),
            p=p,
            q=q,
            rank=rank,
            log_z_raw=raw.log_z,
            log_z=log_z,
            log_z_final=final.log_z_final,
            ids=array("i", ids.astype(np.intc).tobytes()),
            probs=array("f", probs.tobytes()),
            kept=tuple(mass for result in received.truncated for mass in result.kept),
            cut_ids=cut_ids,
            cut_probs=cut_probs,
            cut_by=cut_by,
            log_zs=tuple(log_zs),
            temperature=final.temperature or received.temperature,
            final=final_of(final.distribution, ids),
            forced=forced is not None,
            bound=_bound(received, final, head, settings.xtc),
        )

    def wants_more(self, step: Step) -> bool:
        """Whether more of the distribution would make a step exact, or fill its record.

        What only the whole of it decides, such as its entropy or what a temperature divides by,
        is left a bound.
        """
        wanted = Bound.DRAW | Bound.ELIGIBLE
        if not any(_sees_all(stage) for stage in self.plan.stages):
            wanted |= Bound.TRUNCATION
        # Of a token that somebody chose, and that was not shown, nothing is known.
        unknown = len(step.ids) < self._top or step.p == 0.0
        return bool(step.bound & wanted or (step.bound & Bound.ENTROPY and unknown))


def _sees_all(stage: str) -> bool:
    about = BY_NAME.get(stage)
    return isinstance(about, Truncation) and about.sees_all


def finish(
    plan: Plan,
    distribution: Distribution,
    head: Head,
    decision: Decision,
    noise: Noise,
    context: Ids,
) -> Final:
    """Draw from what XTC left, after the stages that come behind it."""
    temperature = plan.late_temperature
    if temperature is not None:
        kept = _survivors(head, decision)
        drawn = draw(distribution, head, kept, noise, temperature)
        log_z = _log_z_final(distribution, head, decision, temperature)
        p = distribution.probability(drawn.token)
        q = 1.0 if temperature == 0.0 else min(1.0, float(np.exp(np.log(p) / temperature - log_z)))
        scaled = distribution.outside and temperature not in (0.0, 1.0)
        return Final(drawn, q, log_z, bound=Bound.SCALE if scaled else Bound.NONE)
    passage = late(plan, distribution, decision.gone, context)
    token, _, certain = _draw_late(plan, passage.distribution, noise)
    without = token
    if decision.removed:
        plain = late(plan, distribution, (), context).distribution
        without, _, also = _draw_late(plan, plain, noise)
        certain = certain and also
    q = 1.0 if plan.greedy else min(1.0, passage.distribution.probability(token))
    drawn = Drawn(token, without, certain)
    log_z = float(np.log(distribution.mass_without(decision.gone)))
    shown = passage.distribution
    return Final(drawn, q, log_z, shown, passage.temperature, passage.bound)


def late(plan: Plan, distribution: Distribution, removed: Sequence[int], context: Ids) -> Passage:
    """Run the stages after XTC, but temperature 0, on what XTC left."""
    stages = [s for s in plan.after if not (plan.greedy and s == TEMPERATURE)]
    return through(stages, plan.settings, distribution.without(removed), context)


def final_of(distribution: Distribution | None, ids: Ids | Sequence[int]) -> array[float]:
    """Return the probabilities of these tokens, nothing without a distribution (`Step.final`)."""
    if distribution is None:
        return array("f")
    return array("f", [distribution.probability(int(token)) for token in ids])


def _chance(
    plan: Plan, distribution: Distribution, decision: Decision, final: Final, token: int
) -> float:
    """The probability at the end of the stack of a token that was not drawn."""
    if plan.greedy:
        return float(token == final.drawn.token)
    if final.distribution:
        return min(1.0, final.distribution.probability(token))
    p, temperature = distribution.probability(token), plan.late_temperature
    if temperature is None or p == 0.0 or token in decision.removed:
        return 0.0
    return min(1.0, float(np.exp(np.log(p) / temperature - final.log_z_final)))


def _draw_late(plan: Plan, distribution: Distribution, noise: Noise) -> Drawn:
    head = distribution.head(1, plan.settings.xtc.tau)
    kept = np.ones(len(head.ids), np.bool_)
    return draw(distribution, head, kept, noise, 0.0 if plan.greedy else 1.0)


def _decide(head: Head, xtc: XTCSettings, coin: float) -> Decision:
    most = xtc.max_eligible
    return decide(head.ids[:most].tolist(), head.probs[:most].tolist(), coin, xtc)


def _bound(received: Passage, final: Final, head: Head, xtc: XTCSettings) -> Bound:
    """Say what of a step is not exact."""
    if not received.distribution.outside:
        return received.bound
    bound = received.bound | final.bound | Bound.ENTROPY
    if eligible_count([head.cut], xtc):
        bound |= Bound.ELIGIBLE
    return bound if final.drawn.certain else bound | Bound.DRAW


def _survivors(head: Head, decision: Decision) -> npt.NDArray[np.bool_]:
    """Which tokens of the head XTC left in; the eligible ones are its first."""
    kept = np.ones(len(head.ids), dtype=np.bool_)
    if decision.removed:
        kept[: len(decision.eligible)] = [v not in decision.removed for v in decision.eligible]
    return kept


def _log_z_final(
    distribution: Distribution, head: Head, decision: Decision, temperature: float
) -> float:
    """The log of what the final distribution is normalized by (`Step.log_z_final`)."""
    if temperature == 1.0:
        return float(np.log(distribution.mass_without(decision.removed)))
    if temperature == 0.0:
        return 0.0
    if distribution.ids is None:
        scores = (distribution.logits - distribution.log_z).astype("f8")
        scores[list(decision.removed)] = -np.inf
    else:
        scores = np.log(head.probs[_survivors(head, decision)].astype("f8"))
    rest = distribution.outside ** (1.0 / temperature) if distribution.outside else 0.0
    return float(np.log(np.exp(scores / temperature).sum() + rest))


def _place(head: Head, distribution: Distribution, token: int) -> tuple[float, int]:
    """The probability of `token` and its 1-based rank in the distribution that XTC received."""
    places = np.flatnonzero(head.ids == token)
    if len(places):
        return float(head.probs[places[0]]), int(places[0]) + 1
    return distribution.probability(token), distribution.rank(token)


def _shown(
    head: Head, distribution: Distribution, top: int, drawn: Sequence[int]
) -> tuple[Ids, Probs]:
    """The `top` most probable tokens, and behind them those of `drawn` that lie further out."""
    ids, probs = head.ids[:top], head.probs[:top]
    for token in dict.fromkeys(drawn):
        if not (ids == token).any():
            ids = np.append(ids, token)
            probs = np.append(probs, np.float32(_place(head, distribution, token)[0]))
    return ids, probs


def _cut(truncated: Sequence[Truncated], top: int) -> tuple[array[int], array[float], array[int]]:
    """The most probable tokens that each run of truncation dropped, as `Step` records them."""
    ids, probs, cut_by = array("i"), array("f"), array("b")
    stages = 0
    for result in truncated:
        dropped = np.flatnonzero(result.cut_by[:top] >= 0)[:CUT_SHOWN]
        ids.frombytes(result.head.ids[dropped].astype(np.intc).tobytes())
        probs.frombytes(result.head.probs[dropped].tobytes())
        cut_by.frombytes((result.cut_by[dropped] + np.int8(stages)).tobytes())
        stages += len(result.kept)
    return ids, probs, cut_by
