"""Reading a store back: generations with filters, counts, tables, and a cell as a trace."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from xtc_viz.errors import SettingsError, StoreError
from xtc_viz.lab import export, reading
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.reading import Filter, cells_of, counts, find_cell, find_run, generations
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import RunRecord, Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.models.fake import FakeModel
from xtc_viz.records import tracefile
from xtc_viz.records.trace import FinishReason
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings
from xtc_viz.tablecell import text_of

CREATIVE = load_suite("creative")
EXPERIMENT = Experiment(
    "test",
    "creative",
    (
        LaneSettings("baseline"),
        LaneSettings("XTC, τ .1", SamplerSettings(xtc=XTCSettings(0.5, 0.1))),
    ),
    seeds=(1, 2),
    samples=2,
    length=60,
    prompts=4,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("lab") / "a.sqlite") as made:
        for _ in run(EXPERIMENT, CREATIVE, FakeModel(), made):
            pass
        yield made


@pytest.fixture(scope="module")
def record(store: Store) -> RunRecord:
    return find_run(store, "test")


def test_all_generations_in_the_order_of_their_cells(store: Store, record: RunRecord) -> None:
    plan, read = cells_of(record), list(generations(store, record, steps=True))
    assert len(read) == len(plan) == 2 * 2 * 2 * 4
    for cell, generation in zip(plan, read, strict=True):
        assert (generation.prompt, generation.condition) == (cell.prompt.id, cell.condition.name)
        assert (generation.seed, generation.sample) == (cell.seed, cell.sample)
        assert generation.genre == cell.prompt.genre
        assert generation.tokens == tuple(step.token for step in generation.steps)
        assert generation.text == "".join(step.text for step in generation.steps)
    assert {generation.finish for generation in read} >= {FinishReason.LENGTH, FinishReason.EOS}
    assert all(generation.steps == () for generation in generations(store, record))


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (Filter(), 32),
        (Filter(conditions=["baseline"]), 16),
        (Filter(prompts=["dialogue-1"]), 8),
        (Filter(genres=["dialogue", "none"]), 8),
        (Filter(seeds=[2], samples=[0]), 8),
        (Filter(conditions=["none"]), 0),
    ],
)
def test_filters(store: Store, record: RunRecord, wanted: Filter, count: int) -> None:
    assert len(list(generations(store, record, wanted))) == count


def test_counts_of_a_run_that_was_stopped(tmp_path: Path) -> None:
    with Store(tmp_path / "b.sqlite") as store:
        with closing(run(EXPERIMENT, CREATIVE, FakeModel(), store, rows=2)) as reports:
            next(reports)
        assert [c.done for c in counts(store, find_run(store, "test"))] == [0, 0]
        with closing(run(EXPERIMENT, CREATIVE, FakeModel(), store, rows=2)) as reports:
            next(report for report in reports if report.written > 4)
        stopped = counts(store, find_run(store, "test"))
        assert sum(c.done for c in stopped) == len(store) < 32
        there = list(generations(store, find_run(store, "test")))
        assert len(there) == len(store)


def test_counts(store: Store, record: RunRecord) -> None:
    read = list(generations(store, record))
    for count in counts(store, record):
        own = [generation for generation in read if generation.condition == count.condition]
        assert (count.done, count.total) == (16, 16)
        assert count.mean_tokens == sum(len(g.tokens) for g in own) / 16
        assert count.ended == sum(g.finish is FinishReason.EOS for g in own) / 16


def test_a_cell_opens_as_a_trace_file(store: Store, record: RunRecord, tmp_path: Path) -> None:
    for cell in cells_of(record)[:4]:
        trace = reading.trace(store, cell.name)
        assert trace.lanes[0].settings.name == cell.condition.name
        assert trace.chat
        assert trace.settings.seed == cell.dice
        tracefile.save(trace, tmp_path / "cell.json.gz")
        assert tracefile.load(tmp_path / "cell.json.gz") == trace


@pytest.mark.slow
def test_a_cell_opens_on_the_page(store: Store, record: RunRecord) -> None:
    from xtc_viz.ui import heavy

    cell = cells_of(record)[1]
    trace = reading.trace(store, cell.name)
    shown, message = heavy.loaded(tracefile.dumps(trace), "key")
    assert shown.trace() == trace
    values = json.loads(message)
    assert values["run"] == "key"
    assert values["finish"] == [str(trace.lanes[0].finish)]


def test_what_is_named(store: Store, record: RunRecord) -> None:
    assert find_run(store, record.name[:5]) == record
    with pytest.raises(StoreError, match=r"This store holds no run 'grid'; it holds .* \(test\)"):
        find_run(store, "grid")
    name = cells_of(record)[0].name
    assert find_cell(store, name[:20]) == name
    for word, problem in (("", "No cell's name begins"), ("x", "No cell's name begins")):
        with pytest.raises(StoreError, match=problem):
            find_cell(store, word)
    first = sorted(cell.name[0] for cell in cells_of(record))
    double = next(a for a, b in pairwise(first) if a == b)
    with pytest.raises(StoreError, match="The names of several cells begin"):
        find_cell(store, double)


def test_a_table_of_cells(store: Store, record: RunRecord, tmp_path: Path) -> None:
    plan = cells_of(record)
    count = export.write_table(tmp_path / "a.csv", reading.entries(store, plan))
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == count == 32
    for row, generation in zip(rows, generations(store, record), strict=True):
        assert text_of(row["text"]) == generation.text
        assert (text_of(row["condition"]), row["prompt"]) == (
            generation.condition, generation.prompt,
        )  # fmt: skip
        assert int(row["tokens"]) == len(generation.tokens)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_tables_of_other_kinds(store: Store, record: RunRecord, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"a name that ends in \.csv or \.parquet"):
        export.write_table(tmp_path / "a.xls", [])
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        with pytest.raises(SettingsError, match=r"where pyarrow is installed"):
            export.write_table(tmp_path / "a.parquet", [])
        assert list(tmp_path.iterdir()) == []
    else:
        export.write_table(tmp_path / "a.parquet", reading.entries(store, cells_of(record)))
        texts = parquet.read_table(tmp_path / "a.parquet")["text"].to_pylist()
        assert texts == [generation.text for generation in generations(store, record)]


def test_a_run_of_an_older_sampling_is_still_found(store: Store, record: RunRecord) -> None:
    """What a newer app samples otherwise has other names; what was stored keeps its own."""
    newer = {cell.name for cell in cells_of(replace(record, sampling=record.sampling + 1))}
    assert not newer & {cell.name for cell in cells_of(record)}
