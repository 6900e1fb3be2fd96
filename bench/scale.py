"""What a large run costs: a store of many cells as a run writes them, and what 10⁶ would take.

    python -m bench.scale --cells 20000 --folder /somewhere/with/room

Time on the wall, on one disk. What is said of 10⁶ cells is the measured figure times their ratio;
`docs/scale.md` says for what that holds. Apart from `python -m bench`, as it writes gigabytes.
"""

from __future__ import annotations

import argparse
import random
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.lab import ONE, SUITE
from bench.models import story_model
from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.cell import SAMPLING, Cell, cells, run_name
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.reading import counts, find_run, generations
from xtc_viz.lab.runner import BATCH, run
from xtc_viz.lab.store import Store, Written
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeModel
from xtc_viz.settings import LaneSettings, SamplerSettings

MILLION = 10**6
LENGTH = 176
READ = 2_000
"""Cells whose steps are read."""


def step_bytes(folder: Path) -> tuple[int, float]:
    """Return the bytes of steps of a cell of `main`, and tokens/s, on the story model."""
    model = story_model()
    conditions = EXPERIMENTS["main"].conditions
    experiment = Experiment("size", "story", conditions, samples=1, length=LENGTH, prompts=4)
    with Store(folder / "size.sqlite") as store:
        *_, last = run(experiment, SUITE, model, store)
        names = [cell.name for cell in cells(experiment, SUITE, Identity.of(model))]
        sizes = [len(data) for _, data in store.steps(names)]
    return sum(sizes) // len(sizes), last.rate or 0.0


def many(count: int) -> Experiment:
    """Return an experiment of so many cells, in eight samples of a prompt and condition."""
    heats = [LaneSettings(f"T {n}", SamplerSettings(temperature=1 + n / 100)) for n in range(9)]
    seeds = tuple(range(max(1, round(count / (len(SUITE.prompts) * 8 * len(heats))))))
    return replace(ONE, name="many", conditions=tuple(heats), samples=8, seeds=seeds, length=LENGTH)


def written(plan: list[Cell], size: int) -> Iterator[Written]:
    """Return the cells, with steps that compress no further, as real ones do not."""
    noise = random.Random(1).randbytes(size + len(plan))
    for number, cell in enumerate(plan):
        yield Written(
            name=cell.name, sampler=cell.condition.sampler.to_dict(),
            prompt={"text": cell.prompt.text, "system": "", "chat": False, "ids": [5, 6, 7]},
            dice=cell.dice, length=LENGTH, stop=(), finish="length",
            tokens=tuple(range(LENGTH)), text=" word" * LENGTH, seconds=1.0, texts={},
            steps=noise[number : number + size],
        )  # fmt: skip


def plan_bytes(experiment: Experiment, identity: Identity) -> int:
    """Return the bytes that all cells of an experiment take in memory, unwritten."""
    tracemalloc.start()
    plan = list(cells(experiment, SUITE, identity))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert plan
    return size


def timed(what: Callable[[], object]) -> float:
    begin = perf_counter()
    what()
    return perf_counter() - begin


def measure(count: int, folder: Path) -> list[tuple[str, float, str, bool]]:
    """Return (what, value, unit, whether it grows with the cells) for a store of so many cells."""
    size, rate = step_bytes(folder)
    model: LanguageModel = FakeModel()
    identity, experiment = Identity.of(model), many(count)
    path = folder / "many.sqlite"
    plan: list[Cell] = []
    named = timed(lambda: plan.extend(cells(experiment, SUITE, identity)))
    memory = plan_bytes(experiment, identity)
    with Store(path) as store:
        name = run_name(experiment, SUITE, identity)
        store.begin_run(name, experiment.to_dict(), SUITE.to_dict(), identity, model.info, SAMPLING)
        batch: list[Written] = []
        begin = perf_counter()
        for cell in written(plan, size):
            batch.append(cell)
            if len(batch) == BATCH:
                store.add(batch, identity, model.info)
                batch.clear()
        store.add(batch, identity, model.info)
        stored = len(plan) / (perf_counter() - begin)
    with Store(path, create=False) as store:
        record = find_run(store, "many")
        wanted = [cell.name for cell in plan]
        present = timed(lambda: store.present(wanted))
        counted = timed(lambda: counts(store, record))
        read = timed(lambda: [one.text for one in generations(store, record)])
        steps = READ / timed(lambda: sum(len(data) for _, data in store.steps(wanted[:READ])))
    ratio = MILLION / len(plan)
    print(f"{len(plan):,} cells of {LENGTH} tokens with {size:,} bytes of steps each")
    print(f"{path.stat().st_size / len(plan):,.0f} bytes a cell in the file")
    return [
        ("tokens/s of the story model", rate, "/s", False),
        ("cells stored", stored, "/s", False),
        ("cells whose steps are read", steps, "/s", False),
        ("file", path.stat().st_size / 1e9, "GB", True),
        ("naming all cells", named, "s", True),
        ("their plan in memory", memory / 1e9, "GB", True),
        ("looking which are there", present, "s", True),
        ("opening the run: counts by condition", counted, "s", True),
        ("reading all texts", read, "s", True),
        ("cells of this run, against 10⁶", ratio, "×", False),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.scale")
    parser.add_argument("--cells", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, help="where there is room (default: a new one)")
    options = parser.parse_args()
    with TemporaryDirectory(dir=options.folder) as folder:
        rows = measure(options.cells, Path(folder))
    ratio = rows.pop()[1]
    for what, value, unit, grows in rows:
        million = f", for 10⁶ cells {value * ratio:,.1f} {unit}" if grows else ""
        print(f"{what}: {value:,.3g} {unit}{million}")


if __name__ == "__main__":
    main()
