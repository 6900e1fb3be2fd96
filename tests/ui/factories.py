"""Runs and steps for the tests of the page: by hand, or decoded from the fake model."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from xtc_viz.decode import decode_lanes
from xtc_viz.models.fake import ASSISTANT, END, FakeModel
from xtc_viz.records.step import Step
from xtc_viz.records.trace import Trace
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.sampling.rule import decide
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

GIRL, BOY, MAN, BEAR, DOG = 11, 12, 13, 14, 15
TEXTS = {GIRL: " girl", BOY: " boy", MAN: " man", BEAR: " bear", DOG: " dog"}
PROBS = (0.41, 0.33, 0.12, 0.06, 0.04)  # the last 0.04 are everything else


def sampler(rho: float = 0.5, tau: float = 0.1, protected: Sequence[int] = ()) -> SamplerSettings:
    return SamplerSettings(xtc=XTCSettings(rho=rho, tau=tau, protected=frozenset(protected)))


def make_step(
    settings: SamplerSettings,
    coin: float = 0.23,
    probs: Sequence[float] = PROBS,
    **changes: Any,
) -> Step:
    """A step over girl, boy, man, bear, dog as the decoder would record it."""
    ids = tuple(TEXTS)[: len(probs)]
    eligible = sum(p >= settings.xtc.tau for p in probs)
    decision = decide(ids[:eligible], probs[:eligible], coin, settings.xtc)
    survivors = [v for v in ids if v not in decision.removed]
    token = changes.pop("token", survivors[0])
    p = probs[ids.index(token)]
    left = 1.0 - decision.removed_mass
    step = Step(
        token=token,
        text=TEXTS[token],
        counterfactual=ids[0],
        outcome=decision.outcome,
        coin=coin,
        eligible=eligible,
        removed=decision.removed,
        removed_mass=decision.removed_mass,
        removable_mass=decision.removable_mass,
        entropy=1.4,
        p=p,
        q=p / left,
        rank=ids.index(token) + 1,
        log_z_raw=0.0,
        log_z=0.0,
        log_z_final=math.log(left),
        ids=array("i", ids),
        probs=array("f", probs),
    )
    return replace(step, **changes)


def run_settings(length: int = 40, **changes: Any) -> RunSettings:
    lanes = (LaneSettings("Baseline"), LaneSettings("XTC", sampler()))
    return RunSettings(**{"lanes": lanes, "max_new_tokens": length, **changes})


def decode(
    model: FakeModel | None = None,
    prompt: str = "Once upon",
    prompt_ids: Sequence[int] = (),
    **changes: Any,
) -> tuple[Trace, FakeModel]:
    """A whole run of the fake model."""
    model = model or FakeModel()
    settings = run_settings(**changes)
    ids = prompt_ids or model.encode(prompt)
    recorder = Recorder(blank_trace(model, prompt, ids, settings))
    for column in decode_lanes(model, ids, settings):
        recorder.add(column, model.token_text)
    return recorder.trace(), model


def thinker(thought: int = 12, *, opened: bool = False) -> FakeModel:
    """A fake that thinks so many words of its own between `<think>` and `</think>`, and answers.

    It begins behind the turn of a chat or behind the first token. With `opened` its chat template
    has opened the thought already.
    """
    plain = FakeModel()
    begin, end = ([] if opened else plain.encode("<think>")), plain.encode("</think>")
    skipped = plain.encode("<think>\n\n</think>\n\n")

    def logits(ids: tuple[int, ...]) -> torch.Tensor:
        chat = ASSISTANT in ids
        start = ids.index(ASSISTANT) + 1 if chat else 1
        start += len(plain.encode("<think>")) if chat and opened else 0
        row = plain.logits(ids).clone()
        row[END] = -30.0
        at = len(ids) - start
        marks = [*begin, *[-1] * thought, *end]
        silent = list(ids[start : start + len(skipped)]) == skipped
        if not silent and at < len(marks) and marks[at] >= 0:
            row[:] = -30.0
            row[marks[at]] = 30.0
        return row

    class Thinker(FakeModel):
        def encode_chat(self, user: str, system: str = "", *, thinking: bool = True) -> list[int]:
            ids = super().encode_chat(user, system, thinking=thinking)
            return [*ids, *(self.encode("<think>") if opened and thinking else [])]

    return Thinker(logits=logits, name="thinker")
