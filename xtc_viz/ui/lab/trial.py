"""How fast a model writes, tried out for a second, where nothing that it wrote is known."""

from __future__ import annotations

from contextlib import closing
from time import perf_counter

from xtc_viz.errors import XTCVizError
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.runner import ROWS
from xtc_viz.lab.suite import Suite
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.host import ModelHost
from xtc_viz.rows import Row, decode_rows

SECONDS = 1.0
PATIENCE = 0.3  # seconds for which it waits for the model; who writes with it goes first
LENGTH = 64


def tried_rate(
    host: ModelHost, model: LanguageModel, experiment: Experiment, suite: Suite
) -> float | None:
    """Return how many tokens a second `model` writes of an experiment, side by side as a run does.

    None where it is in use, is another by now, or cannot write these prompts.
    """
    with host.turn(background=True) as turn:
        if not turn.wait(PATIENCE) or host.resident is not model:
            return None
        conditions, prompts = experiment.conditions, suite.prompts
        try:
            rows = [
                Row(
                    model.encode(prompts[k % len(prompts)].text),
                    conditions[k % len(conditions)].sampler,
                    max_new_tokens=LENGTH,
                )
                for k in range(ROWS)
            ]
            tokens, begin, now = 0, perf_counter(), 0.0
            with closing(decode_rows(model, rows, at_once=ROWS)) as rounds:
                for entries, _ in rounds:
                    tokens += sum(entry.step is not None for entry in entries)
                    now = perf_counter() - begin
                    if now > SECONDS or turn.wanted:
                        break
        except (XTCVizError, RuntimeError):
            return None  # the run will say what is wrong, condition by condition
    return tokens / now if tokens and now else None
