"""The recorded run that is on the page before anyone presses a button.

It was chosen as an example, and the page says so: of many seeds one whose baseline begins like
every story and whose XTC lane does not, with both texts good to read.

    python -m xtc_viz.ui.recorded              writes it anew from the embedded story model
    python -m xtc_viz.ui.recorded --list 0 99  prints what each of these seeds would show
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from xtc_viz.assets import STORY_MODEL, asset
from xtc_viz.models.base import LanguageModel
from xtc_viz.records import tracefile
from xtc_viz.records.trace import LaneTrace
from xtc_viz.runs import presets
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.settings import RunSettings
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore

FILE = asset("traces/first-sight.json.gz")
RUN_ID = "recorded"
PROMPT = "Once upon a time"
SEED = 51
LENGTH = 147
"""Chosen by reading what `--list` prints: both lanes end with a sentence."""


def request(seed: int = SEED, length: int = LENGTH) -> Request:
    """Return the run that is recorded: baseline and XTC as the page offers them at first."""
    settings = RunSettings(lanes=presets.DEFAULT_LANES, seed=seed, max_new_tokens=length)
    return Request(PROMPT, settings)


def telling_step(lane: LaneTrace) -> int:
    """Return the step that shows best what XTC does: an early firing that changed the word, with
    three tokens or more to choose from where there is one."""
    changed = [i for i, step in enumerate(lane.steps) if step.changed]
    rich = [i for i in changed if lane.steps[i].eligible >= 3]
    return next(iter([*rich, *changed]), 0)


def opening(store: RunStore, path: Path = FILE) -> dict[str, Any] | None:
    """Take the recorded run into the store; return the message that shows it, None without one."""
    if not path.is_file():
        return None
    trace = tracefile.load(path)
    run = Run.of(trace, "recorded")
    store.add(run, RUN_ID, keep=True)
    lane = len(trace.lanes) - 1
    return {**run.whole(RUN_ID), "select": [lane, telling_step(trace.lanes[lane])]}


def show(model: LanguageModel, seed: int) -> None:
    """Print what a seed would show."""
    for lane in record(model, request(seed)).lanes:
        changed = sum(step.changed for step in lane.steps)
        count = f"{len(lane.steps)} tokens, {changed} changed, {lane.finish}"
        print(f"seed {seed}, {lane.settings.name}: {count}\n{PROMPT}{lane.text}\n", flush=True)


def main() -> None:
    from xtc_viz.models.local.model import LocalModel

    parser = argparse.ArgumentParser(prog="python -m xtc_viz.ui.recorded")
    parser.add_argument("--list", nargs=2, type=int, metavar=("FIRST", "LAST"))
    seeds = parser.parse_args().list
    model = LocalModel.load(str(STORY_MODEL))
    if seeds:
        for seed in range(seeds[0], seeds[1] + 1):
            show(model, seed)
        return
    FILE.parent.mkdir(exist_ok=True)
    # How fast this machine was would say nothing to those who look at it.
    tracefile.save(replace(record(model, request()), seconds=0.0), FILE)
    print(f"{FILE.stat().st_size:,} bytes")
    show(model, SEED)


if __name__ == "__main__":
    main()
