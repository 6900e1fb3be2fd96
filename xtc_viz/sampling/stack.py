"""The sampler stack of one lane: repetition penalty, temperature, truncation, XTC, the draw."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from transformers import RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper

from xtc_viz.knobs import KNOBS
from xtc_viz.records.trace import Step
from xtc_viz.sampling.distribution import Distribution, Head, Ids, Probs
from xtc_viz.sampling.draw import draw
from xtc_viz.sampling.randomness import Noise
from xtc_viz.sampling.rule import Decision, decide
from xtc_viz.sampling.truncation import Truncated, filters, truncate
from xtc_viz.settings import SamplerSettings, XTCPlace

CUT_SHOWN = 20
"""How many of the most probable tokens that truncation dropped are recorded at a step."""


@dataclass(frozen=True, slots=True)
class StageResult:
    """One stage of the stack and the distribution that it left, (V,) float32, summing to 1."""

    name: str
    p: Probs


@dataclass(frozen=True, slots=True)
class _Received:
    """What XTC receives: its input distribution and how it came about."""

    logits: torch.Tensor  # (V,), after penalties
    distribution: Distribution  # after temperature, before truncation
    truncated: Truncated | None
    head: Head  # the input of XTC itself
    entropy: float
    log_z_raw: float


class SamplerStack:
    """Turns logits into a token by one lane's settings. Holds no state between steps."""

    def __init__(
        self, settings: SamplerSettings, top_candidates: int = int(KNOBS["top_candidates"].default)
    ) -> None:
        """`top_candidates` tokens are recorded at every step; the draw never depends on it."""
        self.settings = settings
        self._top = top_candidates
        late = settings.xtc_place is XTCPlace.BEFORE_TEMPERATURE or settings.temperature == 0.0
        # Temperature 0 is an argmax of what XTC leaves, so XTC sees the unscaled distribution.
        self._late_temperature = settings.temperature if late else 1.0
        self._temperature = (
            None
            if late or settings.temperature == 1.0
            else TemperatureLogitsWarper(settings.temperature)
        )
        self._penalty = (
            None
            if settings.repetition_penalty == 1.0
            else RepetitionPenaltyLogitsProcessor(settings.repetition_penalty)
        )
        self._filters = filters(settings)

    def run(self, context: torch.Tensor, logits: torch.Tensor, coin: float, noise: Noise) -> Step:
        """Draw the next token and say how it came about.

        Args:
            context: (T,) int64, the token ids so far, prompt included.
            logits: (V,) float32 on the CPU. Never written to.
            coin: uniform in [0, 1).
            noise: (V,) this step's noise integers, shared by all lanes (`randomness`).

        Returns:
            The step, its `text` still empty.

        Raises:
            DistributionError: the logits are no distribution.
        """
        received = self._receive(context, logits)
        head, p = received.head, received.distribution.p
        decision = self._decide(head, coin)
        kept = _survivors(head, decision)
        token, counterfactual = draw(head, kept, p, noise, self._late_temperature)
        log_z_final = self._log_z_final(received, decision)
        p_token, rank = _place(head, p, token)
        shown_ids, shown_probs = _shown(
            head, p, max(self._top, len(decision.eligible)), token, counterfactual
        )
        cut_ids, cut_probs, cut_by = _cut(received.truncated, self._top)
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
            entropy=received.entropy,
            p=p_token,
            q=self._final_probability(p_token, log_z_final),
            rank=rank,
            log_z_raw=received.log_z_raw,
            log_z=received.distribution.log_z,
            log_z_final=log_z_final,
            ids=array("i", shown_ids.astype(np.intc).tobytes()),
            probs=array("f", shown_probs.tobytes()),
            kept=received.truncated.kept if received.truncated else (),
            cut_ids=array("i", cut_ids.astype(np.intc).tobytes()),
            cut_probs=array("f", cut_probs.tobytes()),
            cut_by=array("b", cut_by.tobytes()),
        )

    def stages(self, context: torch.Tensor, logits: torch.Tensor, coin: float) -> list[StageResult]:
        """Return the distribution after every stage that is on, dense, for looking and testing.

        The first is `raw`, then come the stages by their settings' names in running order, and
        the last one is what the token is drawn from. Arguments as for `run`.
        """
        received = self._receive(context, logits)
        dense = [StageResult("raw", Distribution.of(logits).p)]
        if self._penalty:
            dense.append(StageResult("repetition_penalty", Distribution.of(received.logits).p))
        if self._temperature:
            dense.append(StageResult("temperature", received.distribution.p))
        p = received.distribution.p
        if received.truncated:
            long_head, cut_by = received.truncated.head, received.truncated.cut_by
            for number, (name, _) in enumerate(self._filters):
                left = (cut_by < 0) | (cut_by > number)
                p = _dense(p, long_head.ids[left])
                dense.append(StageResult(name, p))
        decision = self._decide(received.head, coin)
        p = p.copy()
        p[list(decision.removed)] = 0.0
        dense.append(StageResult("xtc", p / p.sum()))
        if self._late_temperature == 0.0:
            dense.append(StageResult("temperature", (np.arange(len(p)) == p.argmax()).astype("f4")))
        elif self._late_temperature != 1.0:
            late = np.power(dense[-1].p, 1.0 / self._late_temperature)
            dense.append(StageResult("temperature", late / late.sum()))
        return dense

    def _receive(self, context: torch.Tensor, logits: torch.Tensor) -> _Received:
        penalized = logits
        if self._penalty:
            penalized = self._penalty(context[None], logits[None])[0]
        warped = penalized
        if self._temperature:
            warped = self._temperature(context[None], penalized[None])[0]
        distribution = Distribution.of(warped)
        log_z_raw = distribution.log_z if warped is logits else Distribution.of(logits).log_z
        entropy = distribution.entropy()
        head = distribution.head(self._top, self.settings.xtc.tau)
        truncated = None
        if self._filters:
            truncated = truncate(distribution, head, [f for _, f in self._filters], entropy)
            head = truncated.left()
            probs = head.probs.astype(np.float64)
            entropy = max(0.0, float(-(probs * np.log(probs)).sum()))
        return _Received(penalized, distribution, truncated, head, entropy, log_z_raw)

    def _decide(self, head: Head, coin: float) -> Decision:
        n = int(np.count_nonzero(head.probs >= np.float32(self.settings.xtc.tau)))
        return decide(head.ids[:n].tolist(), head.probs[:n].tolist(), coin, self.settings.xtc)

    def _log_z_final(self, received: _Received, decision: Decision) -> float:
        """The log of what the final distribution is normalized by (`Step.log_z_final`)."""
        if self._late_temperature == 1.0:
            return float(np.log1p(-decision.removed_mass))
        if self._late_temperature == 0.0:
            return 0.0
        if received.head.has_tail:
            scores = (received.distribution.logits - received.distribution.log_z).astype("f8")
            scores[list(decision.removed)] = -np.inf
        else:
            probs = received.head.probs[_survivors(received.head, decision)]
            scores = np.log(probs.astype("f8"))
        return float(np.log(np.exp(scores / self._late_temperature).sum()))

    def _final_probability(self, p: float, log_z_final: float) -> float:
        if self._late_temperature == 0.0:
            return 1.0
        return min(1.0, float(np.exp(np.log(p) / self._late_temperature - log_z_final)))


def _survivors(head: Head, decision: Decision) -> npt.NDArray[np.bool_]:
    """Which tokens of the head XTC left in; the eligible ones are its first."""
    kept = np.ones(len(head.ids), dtype=np.bool_)
    if decision.removed:
        kept[: len(decision.eligible)] = [v not in decision.removed for v in decision.eligible]
    return kept


def _place(head: Head, p: Probs, token: int) -> tuple[float, int]:
    """The probability of `token` and its 1-based rank in the distribution that XTC received."""
    found = np.flatnonzero(head.ids == token)
    if len(found):
        return float(head.probs[found[0]]), int(found[0]) + 1
    probability = p[token]
    return float(probability), 1 + int(np.count_nonzero(p > probability))


def _shown(head: Head, p: Probs, top: int, *drawn: int) -> tuple[Ids, Probs]:
    """The `top` most probable tokens, and behind them those of `drawn` that lie further out."""
    ids, probs = head.ids[:top], head.probs[:top]
    for token in dict.fromkeys(drawn):
        if not (ids == token).any():
            ids = np.append(ids, token)
            probs = np.append(probs, np.float32(_place(head, p, token)[0]))
    return ids, probs


def _cut(truncated: Truncated | None, top: int) -> tuple[Ids, Probs, npt.NDArray[np.int8]]:
    """The most probable tokens that truncation dropped, as `Step` records them."""
    if truncated is None:
        return np.empty(0, "i8"), np.empty(0, "f4"), np.empty(0, "i1")
    dropped = np.flatnonzero(truncated.cut_by[:top] >= 0)[:CUT_SHOWN]
    return truncated.head.ids[dropped], truncated.head.probs[dropped], truncated.cut_by[dropped]


def _dense(p: Probs, left: Ids) -> Probs:
    """Renormalize `p` over the tokens `left`."""
    result = np.zeros_like(p)
    result[left] = p[left] / p[left].sum()
    return result
