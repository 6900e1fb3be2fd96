"""The laboratory: its runs on the story model, and its store.

A run of 24 beginnings of stories under one condition (the usual stack with XTC), 16 rows at once,
recorded, compressed and stored, against the same texts one by one through `model.generate` with
sort-based XTC, which records nothing. The store takes cells of 200 tokens with 20 kB of steps, in
batches as a run writes them, each synced to the disk; here the time is that on the wall.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from transformers import PreTrainedModel

from bench.models import plain_story_model, story_model
from bench.rows import STACK, generate
from bench.timing import Result, against, alternating, main
from xtc_viz.lab.cell import SAMPLING, cells, run_name
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.reading import counts, find_run
from xtc_viz.lab.runner import BATCH, ROWS, run
from xtc_viz.lab.store import Store, Written
from xtc_viz.lab.suite import load_suite
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeModel
from xtc_viz.rows import Row
from xtc_viz.settings import LaneSettings, SamplerSettings

LENGTH = 64
SUITE = load_suite("story")
ONE = Experiment("bench", "story", (LaneSettings("usual stack", STACK),), samples=1, length=LENGTH)
CELLS = 10_000
STEPS = 20_000  # bytes


def measure() -> list[Result]:
    model = story_model()
    return [generation(model, plain_story_model(), ONE, rounds=3), *storing(CELLS)]


def generation(
    model: LanguageModel, plain: PreTrainedModel, experiment: Experiment, rounds: int
) -> Result:
    """Compare a run of an experiment of one condition with `generate`, text by text."""
    identity = Identity.of(model)
    plan = list(cells(experiment, SUITE, identity))
    sampler = experiment.conditions[0].sampler
    rows = [
        Row(model.encode(cell.prompt.text), sampler, cell.dice, max_new_tokens=experiment.length)
        for cell in plan
    ]

    def ours() -> None:
        with _store() as store:
            *_, last = run(experiment, SUITE, model, store)
        assert last.tokens == len(plan) * experiment.length

    def one_by_one() -> None:
        for row in rows:
            generate(plain, row)

    times = alternating({"ours": ours, "generate": one_by_one}, rounds)
    tokens = len(plan) * experiment.length
    return against(
        f"lab, story model, {len(plan)} cells, {ROWS} rows: tokens/s against generate one by one",
        times["ours"] / tokens, times["generate"] / tokens, "a token, generate", at_least=5,
    )  # fmt: skip


def storing(count: int) -> list[Result]:
    """Write so many cells, and look at the run that they are."""
    model = FakeModel()
    identity = Identity.of(model)
    samples = -(-count // (24 * 4))
    heats = (LaneSettings(f"T {t:g}", SamplerSettings(temperature=t)) for t in (1, 1.1, 1.2, 1.3))
    experiment = replace(ONE, conditions=tuple(heats), samples=samples)
    # What compresses no further, as steps do not.
    noise = random.Random(1).randbytes(STEPS + count)
    written = [
        Written(
            name=cell.name, sampler=cell.condition.sampler.to_dict(),
            prompt={"text": cell.prompt.text, "system": "", "chat": False, "ids": [5, 6, 7]},
            dice=cell.dice, length=200, stop=(), finish="length", tokens=tuple(range(200)),
            text=" word" * 200, seconds=1.0, texts={}, steps=noise[number : number + STEPS],
        )
        for number, cell in enumerate([*cells(experiment, SUITE, identity)][:count])
    ]  # fmt: skip
    name = run_name(experiment, SUITE, identity)
    with _store() as store:
        store.begin_run(name, experiment.to_dict(), SUITE.to_dict(), identity, model.info, SAMPLING)
        begin = perf_counter()
        for first in range(0, count, BATCH):
            store.add(written[first : first + BATCH], identity, model.info)
        seconds = perf_counter() - begin
        times = [_looked_at(store.path) for _ in range(3)]
    return [
        Result("lab: cells stored, 20 kB of steps each", count / seconds, "/s", at_least=2000),
        Result(f"lab: opening a stored run of {count:,} cells", median(times), "s", at_most=1),
    ]


def _looked_at(path: Path) -> float:
    begin = perf_counter()
    with Store(path, create=False) as store:
        assert sum(count.done for count in counts(store, find_run(store, "bench"))) == len(store)
    return perf_counter() - begin


@contextmanager
def _store() -> Iterator[Store]:
    with TemporaryDirectory() as folder, Store(Path(folder) / "lab.sqlite") as store:
        yield store


if __name__ == "__main__":
    main(measure, __doc__)
