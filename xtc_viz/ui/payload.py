"""Records as the compact JSON that the page draws from. Pure: steps in, plain values out.

Two shapes go to the page. A *chip* is what the lanes, the colours and the timeline need of a step
(about 45 bytes); chips are streamed. A *block* is what the inspector needs of 64 steps; it is
fetched when someone looks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from xtc_viz.errors import XTCVizError
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.records.step import NO_COIN, Bound, Step
from xtc_viz.runs.chain import has_own_xtc
from xtc_viz.runs.explained import Roll
from xtc_viz.runs.stats import OUTCOMES
from xtc_viz.sampling import stageview
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.rule import decide
from xtc_viz.settings import LaneSettings, SamplerSettings
from xtc_viz.texts import mended
from xtc_viz.ui import sentence

BLOCK = 64
NEARLY_ALL = 0.9
CHANGED, FORCED, BOUNDED = 4, 8, 16  # added to a chip's outcome number

INEXACT = ~Bound.DICE
"""What the page marks as a bound; whose dice drew a token, a note says."""

LONGEST_ANSWER = 64_000_000
"""In characters; as long as a trace that the page reads, so that what it gives can come back."""

TokenText = Callable[[int], str]
_NUMBER = {outcome: i for i, outcome in enumerate(OUTCOMES)}


class TooLongError(XTCVizError):
    """An answer that is longer than any may be."""


def encode(value: object) -> str:
    """JSON without a `<`, so that no layer on the way can take token text for markup, and without
    half characters, which no layer can send."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return mended(text.replace("<", "\\u003c"))


class Json(str):
    """A value that is written already."""


def answer(value: object) -> Json:
    """Return the answer to a question. Raises `TooLongError`."""
    text = value if isinstance(value, Json) else Json(encode(value))
    if len(text) > LONGEST_ANSWER:
        raise TooLongError(
            f"This would be {len(text):,} characters, and the page gives at most "
            f"{LONGEST_ANSWER:,}: fewer lanes, a shorter text or fewer candidates take less."
        )
    return text


def rounded(value: float, digits: int = 5) -> float:
    """`value` to so many significant digits: a bar is at most 1,000 pixels long."""
    return float(f"{value:.{digits}g}")


def chip(step: Step, token_text: TokenText) -> list[Any]:
    """Return [token, text, outcome, p, rank, entropy, eligible, removed mass].

    p and mass are in 1/10,000, entropy in 1/1,000 nats; the outcome's
    number is 4 higher when XTC changed the word, 8 higher when a person chose it, 16 higher when
    not all of the step is exact.

    A token that adds no text (an end-of-sequence, half a character) has its own text as a ninth
    value, to be shown as a sign.
    """
    flags = _NUMBER[step.outcome] + (CHANGED if step.changed else 0)
    flags += FORCED if step.forced else 0
    flags += BOUNDED if step.bound & INEXACT else 0
    values = [
        step.token,
        step.text,
        flags,
        round(1e4 * step.p),
        step.rank,
        round(1e3 * step.entropy),
        step.eligible,
        round(1e4 * step.removed_mass),
    ]
    return values if step.text else [*values, token_text(step.token)]


def step_view(
    step: Step, sampler: SamplerSettings, eos: frozenset[int], candidates: int
) -> dict[str, Any]:
    """Return one step for the inspector: its most probable `candidates`, all that is eligible,
    and the drawn and the counterfactual token.

    `tail` is the share of all tokens below τ, before XTC and in what is drawn from; it is at most
    that where `tail_bound` says so. `final` is q of each token of `ids`, where it is not just
    p / (1 − removed mass) of those that are not in `removed`. `bounded` says that not all of this
    is exact; the `notes` say what.
    """
    ids, probs = list(step.ids), list(step.probs)
    shown = max(candidates, step.eligible)
    keep = [i for i, v in enumerate(ids) if i < shown or v in (step.token, step.counterfactual)]
    plan = plan_of(sampler)
    digits_lost = step.removed_mass > NEARLY_ALL  # to one who divides by what is left of 1
    final = stageview.final_probs(step, sampler) if plan.after or digits_lost else None
    xtc = plan.xtc
    rest = max(0.0, 1.0 - math.fsum(probs[i] for i in keep))
    if plan.truncations and rest < stageview.ROUNDING:
        rest = 0.0  # all that was not cut is shown
    said = sentence.describe(step, sampler)
    decided = decide(ids[: step.eligible], probs[: step.eligible], step.coin, xtc)
    return {
        "token": step.token,
        "instead": step.counterfactual,
        "outcome": str(step.outcome),
        "changed": step.changed,
        "coin": rounded(step.coin, 6),
        "tossed": step.coin != NO_COIN,
        "rho": xtc.rho,
        "tau": xtc.tau,
        "eligible": step.eligible,
        "removed": list(step.removed),
        "kept": [v for v in step.ids[: step.eligible] if v not in step.removed],
        "underdog": decided.underdog,
        "removed_mass": rounded(step.removed_mass),
        "removable_mass": rounded(step.removable_mass),
        "entropy": rounded(step.entropy),
        "p": rounded(step.p),
        "q": rounded(step.q),
        "rank": step.rank,
        "forced": step.forced,
        "bounded": bool(step.bound & INEXACT),
        "ids": [ids[i] for i in keep],
        "probs": [rounded(probs[i]) for i in keep],
        "final": final and [rounded(final[i]) for i in keep],
        "rest": rounded(rest),
        "tail": [rounded(share) for share in stageview.tail_shares(step, sampler)],
        "tail_bound": bool(step.bound & Bound.ELIGIBLE),
        "said": said.before,
        "drew": said.drew,
        "notes": sentence.warnings(step, sampler, eos),
    }


def block(
    lane: LaneSettings,
    steps: Sequence[Step],
    first: int,
    candidates: int,
    token_text: TokenText,
    eos: frozenset[int],
) -> dict[str, Any]:
    """Return the views of these steps, the first at position `first`, and their tokens' texts."""
    views = [step_view(step, lane.sampler, eos, candidates) for step in steps]
    tokens: set[int] = set()
    for view in views:
        tokens.update(view["ids"], view["removed"], (view["token"], view["instead"]))
    return {"first": first, "steps": views, "texts": {t: token_text(t) for t in tokens}}


def stage_view(
    step: Step,
    sampler: SamplerSettings,
    context: Sequence[int],
    candidates: int,
    token_text: TokenText,
) -> dict[str, Any]:
    """Return what each stage of the stack made of the same candidates, in running order.

    `line` is the cutoff of a stage, drawn over the bars that it received; `reach` the mass at
    which top-p or typical-p stop. `context` are the tokens before the step.
    """
    seen = stageview.view(step, sampler, context)
    order = sorted(range(len(seen.ids)), key=lambda i: -seen.stages[0].probs[i])
    shown = order[: max(candidates, step.eligible)]
    marked = {i for i, v in enumerate(seen.ids) if v in (step.token, step.counterfactual)}
    keep = [*shown, *sorted(marked - set(shown))]
    ids = [seen.ids[i] for i in keep]
    return {
        "ids": ids,
        "texts": {t: token_text(t) for t in ids},
        "token": step.token,
        "eligible": list(step.ids[: step.eligible]),
        "removed": list(step.removed),
        "stages": stages_of(seen.stages, keep, sampler),
    }


def stages_of(
    stages: Sequence[stageview.StageProbs], keep: Sequence[int], sampler: SamplerSettings
) -> list[dict[str, Any]]:
    """Return stages in running order with the candidates at these places, and their cutoffs."""
    views = []
    for number, stage in enumerate(stages):
        received = stages[max(0, number - 1)].probs
        probs = [stage.probs[i] for i in keep]
        views.append(
            {
                "name": stage.name,
                "probs": [rounded(p) for p in probs],
                "rest": rounded(max(0.0, 1.0 - math.fsum(probs))),
                **_cutoff(stage.stages, sampler, max(received)),
            }
        )
    return views


def _cutoff(names: Sequence[str], sampler: SamplerSettings, top: float) -> dict[str, float]:
    plan = plan_of(sampler)
    values = {"line": plan.cutoff(names[0], top), "reach": plan.reach(names[0])} if names else {}
    return {name: rounded(value) for name, value in values.items() if value is not None}


def dice_row(step: Step, roll: Roll, token_text: TokenText) -> dict[str, Any]:
    """Return the numbers that a server drew a token with."""
    return {
        "word": token_text(step.token),
        "draw": rounded(roll.draw),
        "coin": None if roll.coin is None else rounded(roll.coin),
        "source": roll.source,
        "outcome": str(step.outcome),
    }


def model_line(info: ModelInfo) -> dict[str, Any]:
    """What the page says about the model that runs; null for what is not known of it."""
    placement = info.placement
    return {
        "name": info.name,
        "revision": info.revision,
        "parameters": info.parameters,
        "dtype": placement and placement.dtype,
        "device": placement and placement.device,
        "decoding": placement and placement.decoding,
        "served": info.served and asdict(info.served),
        "draws": has_own_xtc(info),
        "context": info.context_length,
        "chat": info.has_chat_template,
        "thinks": info.has_thinking_switch,
    }
