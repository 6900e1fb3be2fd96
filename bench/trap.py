"""Beside one other busy process: how much slower does the decode get?

Idle OpenMP threads that spin instead of sleeping once made a step up to 70 times slower there
(`xtc_viz.threads`). Each measurement is a process of its own with the threads that the app would
use, and time on the wall; the neighbour keeps one core busy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.timing import Result, main, relative

ROUNDS = 3
STEPS = 40
_DECODE = f"""
import time
from statistics import median
from bench.decode import XTC, prompt_ids
from bench.models import random_135m
from xtc_viz.decode import decode_lanes
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings
from xtc_viz.models.local.model import leave_a_core
import torch
leave_a_core()
model = random_135m(torch.bfloat16)
lanes = (LaneSettings(), LaneSettings("XTC", SamplerSettings(xtc=XTC)))
settings = RunSettings(lanes=lanes, max_new_tokens={STEPS})
times = [c.seconds for c in decode_lanes(model, prompt_ids(model), settings)]
print(median(b - a for a, b in zip(times, times[1:])))
"""


def measure() -> list[Result]:
    alone, beside = [], []
    for _ in range(ROUNDS):
        alone.append(step_time())
        with busy_neighbour():
            beside.append(step_time())
    what = "decode beside a busy process, as a multiple of alone"
    return [relative(what, median(beside), median(alone), "alone", at_most=1.5)]


def step_time() -> float:
    """Return the median time of a step of two lanes, in seconds, in a fresh process."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_"))}
    root = Path(__file__).resolve().parents[1]
    run = subprocess.run(
        [sys.executable, "-c", _DECODE],
        cwd=root, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(run.stdout)


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """Keep one core busy."""
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        neighbour.kill()
        neighbour.wait()


if __name__ == "__main__":
    main(measure, __doc__)
