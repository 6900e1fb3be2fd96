"""Running: each cell once, equal to the lane that the page would show, whatever happens."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import SettingsError, StoreError
from xtc_viz.lab import runner
from xtc_viz.lab.cell import Cell, cells
from xtc_viz.lab.experiment import Experiment, effective
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.reading import Filter, cells_of, failures, trace
from xtc_viz.lab.runner import Progress, run
from xtc_viz.lab.store import Failure, Store, Written
from xtc_viz.lab.suite import Kind, Prompt, Suite, load_suite
from xtc_viz.lab.writer import Writer
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeGeneration, FakeModel
from xtc_viz.records.trace import Trace
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

ROOT = Path(__file__).resolve().parents[2]
STORY = load_suite("story")
EXPERIMENT = Experiment(
    "test",
    "story",
    (
        LaneSettings("baseline"),
        LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(0.5, 0.1))),
        LaneSettings("dry, typical", SamplerSettings(typical_p=0.9, dry_multiplier=0.8)),
    ),
    samples=2,
    length=24,
    prompts=5,
)
TOTAL = 3 * 2 * 5


def do(
    store: Store, model: LanguageModel, experiment: Experiment = EXPERIMENT, **options: Any
) -> Progress:
    """Run to the end and return the last report."""
    return [*run(experiment, STORY, model, store, **options)][-1]


def content(store: Store, plan: Sequence[Cell]) -> dict[str, tuple[str, str, bytes]]:
    """Return all that a cell is, but for its seconds."""
    steps = dict(store.steps(cell.name for cell in plan))
    entries = store.entries(cell.name for cell in plan)
    return {name: (e.text, e.finish, steps[name]) for name, e in entries.items()}


def plan(model: LanguageModel, experiment: Experiment = EXPERIMENT) -> list[Cell]:
    return list(cells(experiment, STORY, Identity.of(model)))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "a.sqlite") as made:
        yield made


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str, bytes]]:
    with Store(tmp_path_factory.mktemp("whole") / "a.sqlite") as made:
        do(made, FakeModel())
        return content(made, plan(FakeModel()))


def recorded(model: LanguageModel, cell: Cell) -> Trace:
    """Return the run that the page records for a cell's settings and dice."""
    lane = LaneSettings(cell.condition.name, effective(cell.condition.sampler))
    settings = RunSettings(lanes=(lane,), seed=cell.dice, max_new_tokens=EXPERIMENT.length)
    return record(model, Request(cell.prompt.text, settings, chat=cell.prompt.chat))


def test_each_cell_is_the_lane_that_the_page_would_show(store: Store) -> None:
    model = FakeModel()
    last = do(store, model)
    assert (last.total, last.done, last.written, last.failed) == (TOTAL, TOTAL, TOTAL, 0)
    assert len(store) == TOTAL
    assert last.tokens == sum(e.count for e in store.entries(c.name for c in plan(model)).values())
    for cell in plan(model):
        expected = recorded(model, cell)
        got = replace(trace(store, cell.name), seconds=expected.seconds)
        assert got == expected
    assert model.open_generations == 0


@pytest.mark.story_model
def test_each_cell_is_the_lane_of_the_story_model(store: Store) -> None:
    from xtc_viz.models.local.model import LocalModel

    model = LocalModel.load(str(STORY_MODEL))
    do(store, model)
    for cell in plan(model):
        got, expected = trace(store, cell.name).lanes[0], recorded(model, cell).lanes[0]
        assert (got.text, got.finish) == (expected.text, expected.finish)
        # A batch of 16 may round otherwise than a single row, by about a millionth.
        for one, other in zip(got.steps, expected.steps, strict=True):
            assert (one.token, one.outcome, one.removed) == (
                other.token, other.outcome, other.removed,
            )  # fmt: skip
            assert one.p == pytest.approx(other.p, abs=1e-4)


def test_the_order_and_the_rows_change_nothing(
    store: Store, undisturbed: dict[str, tuple[str, str, bytes]]
) -> None:
    model = FakeModel()
    do(store, model, rows=3, lot=random.Random(5))
    assert content(store, plan(model)) == undisturbed


def test_one_prompt_comes_to_its_end_before_the_next_begins(store: Store) -> None:
    """So its numbers are there early; which prompt and which sample come first is drawn by lot."""
    model = FakeModel()
    written = [progress.cell for progress in run(EXPERIMENT, STORY, model, store, rows=1)]
    order = list(dict.fromkeys(cell for cell in written if cell))
    assert len(order) == TOTAL
    prompts = [cell.prompt.id for cell in order]
    assert len(list(dict.fromkeys(prompts))) == sum(
        now != before for before, now in zip([None, *prompts], prompts, strict=False)
    )
    orders = set()
    for seed in range(4):
        lots = runner._by_lot(plan(model), random.Random(seed))
        assert {cell.name for cell in lots} == {cell.name for cell in order}
        orders.add(tuple(dict.fromkeys(cell.prompt.id for cell in lots)))
        firsts = [cell.sample for cell in lots[:: len(EXPERIMENT.conditions)]]
        assert sorted(firsts) == sorted([0, 1] * 5)
    assert len(orders) > 1


def test_what_is_there_is_not_written_again(store: Store) -> None:
    model = FakeModel()
    do(store, model, replace(EXPERIMENT, conditions=EXPERIMENT.conditions[:2]))
    last = do(store, model)
    assert (last.before, last.written, last.done) == (20, 10, TOTAL)
    again = do(store, model, replace(EXPERIMENT, name="other"))
    assert (again.before, again.written, again.tokens) == (TOTAL, 0, 0)


def test_to_close_it_is_to_stop_and_nothing_is_lost(
    store: Store, undisturbed: dict[str, tuple[str, str, bytes]]
) -> None:
    model = FakeModel()
    with closing(run(EXPERIMENT, STORY, model, store, rows=4)) as reports:
        for progress in reports:
            if progress.written >= 7:
                break
    assert model.open_generations == 0
    kept = len(store)
    assert kept >= 7
    last = do(store, model)
    assert (last.before, last.written) == (kept, TOTAL - kept)
    assert content(store, plan(model)) == undisturbed


def test_progress_counts_up_and_knows_the_time_left(store: Store) -> None:
    reports = list(run(EXPERIMENT, STORY, FakeModel(delay=0.001), store, rows=4))
    assert reports[0].seconds_left is None
    assert reports[-1].seconds_left == 0.0
    assert [r.done for r in reports] == sorted(r.done for r in reports)
    early = next(r for r in reports if r.written > 3)
    assert early.seconds_left is not None
    assert early.rate is not None
    actual = reports[-1].seconds - early.seconds
    assert actual / 10 < early.seconds_left < 10 * actual + 1


# What fails


def test_a_prompt_that_does_not_fit_is_reported_and_the_rest_goes_on(store: Store) -> None:
    long = Prompt("long", "g", Kind.CONTINUE, "Once upon a time " * 40)
    suite = Suite("mine", (long, *STORY.prompts[:2]))
    model = FakeModel(context_length=100)
    last = [*run(replace(EXPERIMENT, prompts=0), suite, model, store)][-1]
    assert (last.done, last.failed, last.total) == (12, 6, 18)
    assert {(f.condition, f.prompt) for f in last.failures} == {
        (lane.name, "long") for lane in EXPERIMENT.conditions
    }
    assert len(last.failures) == 3
    assert all("prompt 'long': " in f.message for f in last.failures)
    (record,) = store.runs()
    assert set(failures(store, record)) == {*last.failures}
    # Tried again, it fails again, and is noted once.
    assert [*run(replace(EXPERIMENT, prompts=0), suite, model, store)][-1].failed == 6
    assert len(failures(store, record)) == 3
    # What another model of the same name can take explains nothing any more.
    roomy = FakeModel()
    for cell in cells_of(record, Filter(prompts=["long"], conditions=["XTC"])):
        own = replace(EXPERIMENT, prompts=0, conditions=(cell.condition,))
        written = [one for news in Writer(own, roomy, 1).write([cell]) for one in news.written]
        store.add(written, record.identity, model.info)
    assert {failure.condition for failure in failures(store, record)} == {
        "baseline", "dry, typical",
    }  # fmt: skip


def test_a_condition_that_cannot_be_is_reported_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breakers(model: LanguageModel) -> frozenset[int]:
        raise SettingsError("dry_breakers", "tokens of this model", "\\n")

    monkeypatch.setattr("xtc_viz.runs.request.breaker_ids", breakers)
    last = do(store, FakeModel())
    assert (last.done, last.failed) == (20, 10)
    (failure,) = last.failures
    assert (failure.condition, failure.prompt) == ("dry, typical", "")
    assert failure.message == "`dry_breakers` must be tokens of this model, but is '\\\\n'"


def test_a_distribution_that_is_none_is_a_failure_of_its_cell(store: Store) -> None:
    plain = FakeModel()

    def logits(ids: tuple[int, ...]) -> torch.Tensor:
        row = plain.logits(ids)
        return row * float("nan") if len(ids) > 40 and ids[-1] % 5 == 0 else row

    last = do(store, FakeModel(logits=logits, name="sick"), replace(EXPERIMENT, length=40))
    assert last.failed > 0
    assert last.done + last.failed == TOTAL
    assert len(store) == last.done
    assert all("step " in failure.message for failure in last.failures)


class Narrow(FakeModel):
    """A model whose memory takes so many rows; with `dies`, none after so many forwards."""

    def __init__(self, most: int, dies: int | None = None) -> None:
        super().__init__()
        self.most, self.dies, self.forwards = most, dies, 0

    def start(self, prompts: Sequence[Sequence[int]]) -> FakeGeneration:
        self.check(len(prompts))
        return super().start(prompts)

    def logits(self, ids: tuple[int, ...]) -> torch.Tensor:
        self.check(1)
        return super().logits(ids)

    def check(self, rows: int) -> None:
        self.forwards += 1
        if rows > self.most or (self.dies is not None and self.forwards > self.dies):
            raise torch.OutOfMemoryError("CUDA out of memory")


def test_where_memory_runs_out_fewer_rows_go_on(
    store: Store, undisturbed: dict[str, tuple[str, str, bytes]]
) -> None:
    model = Narrow(most=3)
    last = do(store, model)
    assert (last.done, last.failed) == (TOTAL, 0)
    assert content(store, plan(model)) == undisturbed
    assert model.open_generations == 0


def test_a_model_that_dies_in_the_middle_leaves_what_was_written(
    store: Store, undisturbed: dict[str, tuple[str, str, bytes]]
) -> None:
    model = Narrow(most=16, dies=400)
    with pytest.raises(torch.OutOfMemoryError):
        do(store, model, rows=4)
    assert 0 < len(store) < TOTAL
    (record,) = store.runs()
    assert failures(store, record) == (Failure("", "", "OutOfMemoryError: CUDA out of memory"),)
    do(store, FakeModel())
    assert content(store, plan(model)) == undisturbed
    assert failures(store, record) == ()


def test_a_full_disk_ends_the_run_in_words_and_keeps_what_is_there(
    store: Store, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, tuple[str, str, bytes]]
) -> None:
    monkeypatch.setattr(runner, "BATCH", 4)
    model = FakeModel()
    add = store.add

    def add_and_fill(batch: Sequence[Written], *rest: Any) -> int:
        new = add(batch, *rest)
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        return new

    monkeypatch.setattr(store, "add", add_and_fill)
    with pytest.raises(StoreError, match="disk is full"):
        do(store, model)
    kept = len(store)
    assert 4 <= kept < TOTAL
    store._db.execute("PRAGMA max_page_count = 1000000")
    monkeypatch.undo()
    assert do(store, model).before == kept
    assert content(store, plan(model)) == undisturbed


def test_no_rows_are_refused(store: Store) -> None:
    with pytest.raises(SettingsError, match="`rows` must be at least 1, but is 0"):
        do(store, FakeModel(), rows=0)


# Other processes

SCRIPT = """
import sys
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.lab.tomlfile import load
from xtc_viz.models.fake import FakeModel
with Store(sys.argv[2]) as store:
    for last in run(load(sys.argv[1]), load_suite("story"), FakeModel(delay=0.004), store, rows=4):
        pass
print(last.written, last.done)
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """What starts the same run in a process of its own."""
    from xtc_viz.lab.tomlfile import dumps

    (tmp_path / "test.toml").write_text(dumps(EXPERIMENT), encoding="utf-8")
    arguments = [str(tmp_path / "test.toml"), str(tmp_path / "a.sqlite")]
    started: list[subprocess.Popen[str]] = []

    def begin() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.mark.slow
def test_a_kill_costs_what_was_in_flight_alone(
    tmp_path: Path,
    start: Callable[[], subprocess.Popen[str]],
    undisturbed: dict[str, tuple[str, str, bytes]],
) -> None:
    before = 0
    with Store(tmp_path / "a.sqlite") as store:
        for least in (1, 12):
            process = start()
            deadline = time.monotonic() + 120
            while len(store) < least and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert before <= len(store) < TOTAL
            before = len(store)
            assert before >= least
        # Whatever is there is whole.
        half = content(store, plan(FakeModel()))
        assert half.items() <= undisturbed.items()
    out, _ = start().communicate(timeout=120)
    assert out.split() == [str(TOTAL - before), str(TOTAL)]
    with Store(tmp_path / "a.sqlite") as store:
        assert len(store) == TOTAL
        assert content(store, plan(FakeModel())) == undisturbed


@pytest.mark.slow
def test_two_processes_share_the_work(
    tmp_path: Path,
    start: Callable[[], subprocess.Popen[str]],
    undisturbed: dict[str, tuple[str, str, bytes]],
) -> None:
    processes = [start(), start()]
    ends = [process.communicate(timeout=240)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    with Store(tmp_path / "a.sqlite") as store:
        assert len(store) == TOTAL
        assert content(store, plan(FakeModel())) == undisturbed
    assert [done for _, done in ends] == [str(TOTAL)] * 2
    # What both were at, at the same time, is written twice and stored once.
    assert TOTAL <= sum(int(written) for written, _ in ends) < 2 * TOTAL
