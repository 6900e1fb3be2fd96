"""Metrics of 8 generations of 200 tokens by the story model, one group of a laboratory run.

The lexical panel is all metrics that need the texts alone; the whole panel has parts of speech and
embeddings too, fitted before. The mechanism is read from the packed steps of the same generations.
The statistics compare eight conditions with a baseline over 24 prompts in 20 metrics.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bench.decode import STACKS, XTC
from bench.models import story_model
from bench.timing import Result, interleaved, main
from xtc_viz.lab.generation import Generation
from xtc_viz.lab.mechanism import observe, pooled
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.metrics import measure as values_of
from xtc_viz.lab.metrics.base import LEXICAL
from xtc_viz.lab.samples import Samples, context
from xtc_viz.lab.statistics import bounds, sign_flip
from xtc_viz.records.packed import Steps
from xtc_viz.rows import Row, decode_rows

SAMPLES, TOKENS = 8, 200
STACK = replace(STACKS["usual stack"], xtc=XTC)
PANEL = tuple(metric for metric in METRICS.values() if metric.family in LEXICAL)


def generations(samples: int = SAMPLES, tokens: int = TOKENS) -> list[Generation]:
    """Return so many texts of the story model from one beginning."""
    model = story_model()
    prompt = model.encode("Once upon a time")
    rows = [
        Row(prompt_ids=prompt, sampler=STACK, seed=seed, max_new_tokens=tokens)
        for seed in range(samples)
    ]
    records = [Steps() for _ in rows]
    for steps, _ in decode_rows(model, rows):
        for row, step, _, error in steps:
            assert step, error
            records[row].append(step)
    return [
        Generation("p", "xtc", 0, number, "".join(step.text for step in steps), steps=steps)
        for number, steps in enumerate(records)
    ]


def measure() -> list[Result]:
    return compare(generations())


def compare(group: list[Generation], rounds: int = 15) -> list[Result]:
    """Measure the metrics of one group, its mechanism, and the statistics of a whole run."""
    run = context(one.text for one in group)
    rng = np.random.default_rng(0)
    differences = rng.normal(size=(24, 8 * 20))
    times = interleaved(
        {
            "lexical": lambda _: values_of(Samples(group), PANEL),
            "whole": lambda _: values_of(Samples(group, run)),
            "mechanism": lambda _: pooled(observe(one.steps, STACK.xtc) for one in group),
            "intervals": lambda _: bounds(differences, rng),
            "tests": lambda _: sign_flip(differences, rng),
        },
        rounds,
    )
    steps = sum(len(one.steps) for one in group)
    texts = f"{len(group)} generations × {steps // len(group)} tokens"
    table = "24 prompts × 160 differences"
    return [
        Result(f"{len(PANEL)} lexical metrics, {texts}", times["lexical"] * 1e3, "ms", at_most=10),
        Result(f"all {len(METRICS)} metrics, {texts}", times["whole"] * 1e3, "ms"),
        Result("mechanism, each step", times["mechanism"] / steps * 1e6, "µs"),
        Result(f"bootstrap intervals, {table}", times["intervals"] * 1e3, "ms"),
        Result(f"sign-flip tests, {table}", times["tests"] * 1e3, "ms"),
    ]


if __name__ == "__main__":
    main(measure, __doc__)
