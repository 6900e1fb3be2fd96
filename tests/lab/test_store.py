"""The store: each cell once, all of a batch or none, and no file of another kind or version."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from xtc_viz.errors import StoreError
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.reading import cells_of, experiment_of, generations, trace
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import Failure, Pace, Store, Written, schema
from xtc_viz.lab.suite import Suite
from xtc_viz.models.fake import FakeModel

INFO = FakeModel().info
MODEL = Identity.of(FakeModel())
CELL = Written(
    "00ff", {"temperature": 1.0}, {"text": "Hi", "ids": [4, 5]}, 7, 9, (".",), "eos", (4, 2**31, 0),
    "a\ud800\x00 b", 0.5, {4: "a", 5: "\udcff"}, b"steps",
)  # fmt: skip


def many(count: int, size: int = 10) -> list[Written]:
    return [replace(CELL, name=f"{n:032x}", steps=bytes(size)) for n in range(count)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.sqlite"


def test_a_cell_comes_back(path: Path) -> None:
    with Store(path) as store:
        assert store.add([CELL], MODEL, INFO) == 1
    with Store(path) as store:
        assert store.read("00ff") == (CELL, INFO)
        assert "00ff" in store
        assert "00fe" not in store
        assert len(store) == 1
        assert store.present(["00ff", "00fe"]) == {"00ff"}
        entry = store.entries(["00ff", "00fe"])["00ff"]
        assert (entry.count, entry.text, entry.tokens) == (3, CELL.text, CELL.tokens)
        assert [*store.steps(["00ff"])] == [("00ff", b"steps")]
        with pytest.raises(StoreError, match="holds no cell 00fe"):
            store.read("00fe")


def test_what_is_there_stays_as_it_is(path: Path) -> None:
    with Store(path) as store:
        assert store.add(many(20), MODEL, INFO) == 20
        assert store.add([replace(CELL, name=f"{3:032x}", text="other")], MODEL, INFO) == 0
        assert store.entries([f"{3:032x}"])[f"{3:032x}"].text == CELL.text
        assert store.names_like("0" * 30) == [f"{0:032x}", f"{1:032x}"]


def test_more_names_than_one_question_takes(path: Path) -> None:
    with Store(path) as store:
        store.add(many(1201), MODEL, INFO)
        wanted = [cell.name for cell in many(1300)]
        assert len(store.present(wanted)) == len(store.entries(wanted)) == 1201


def test_a_full_disk_costs_the_batch_alone(path: Path) -> None:
    with Store(path) as store:
        store.add(many(16), MODEL, INFO)
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 5}")
        big = [replace(cell, name=f"b{cell.name}") for cell in many(16, 4000)]
        with pytest.raises(StoreError, match="cannot be written: database or disk is full"):
            store.add(big, MODEL, INFO)
        assert len(store) == 16
        # There is room again.
        store._db.execute("PRAGMA max_page_count = 1000000")
        assert store.add(big, MODEL, INFO) == 16
    with Store(path) as store:
        assert len(store) == 32


def test_a_batch_that_fails_names_its_tokens_again(path: Path) -> None:
    with Store(path) as store:
        broken = replace(CELL, name="01", dice=2**70)  # more than SQLite's integers hold
        with pytest.raises((StoreError, OverflowError)):
            store.add([CELL, broken], MODEL, INFO)
        assert len(store) == 0
        store.add([CELL], MODEL, INFO)
        assert store.read("00ff")[0].texts == CELL.texts


def refusal(path: Path, **options: bool) -> str:
    with pytest.raises(StoreError) as error:
        Store(path, **options)
    return str(error.value)


def test_what_is_no_store(path: Path, tmp_path: Path) -> None:
    text = tmp_path / "b.sqlite"
    text.write_text("no database at all, but a text that is long enough to be one " * 20)
    assert "b.sqlite cannot be opened: file is not a database" in refusal(text)
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE birds (name)")
    other.close()
    before = path.read_bytes()
    assert refusal(path) == "a.sqlite is a database, but no store of a laboratory."
    assert path.read_bytes() == before
    assert "There is no store none" in refusal(tmp_path / "none", create=False)
    assert "cannot be opened" in refusal(tmp_path)
    assert "cannot be opened" in refusal(tmp_path / "no" / "folder")


def test_a_newer_store_is_refused_and_left_alone(path: Path) -> None:
    with Store(path) as store:
        store.add([CELL], MODEL, INFO)
        store._db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    before = path.read_bytes()
    assert "a.sqlite was written by version 3 of the store's format" in refusal(path)
    assert path.read_bytes() == before


OLD = Path(__file__).parent / "version-1.sqlite.gz"


def test_a_store_of_version_1_is_read_for_ever(path: Path) -> None:
    """Written by the app as it was in version 1 of the format: two prompts, two conditions."""
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    with closing(sqlite3.connect(path)) as before:
        assert before.execute("PRAGMA user_version").fetchone() == (1,)
    for _ in range(2):  # brought up to date, and then as any other
        with Store(path) as store:
            (run,) = store.runs()
            assert (run.experiment["name"], run.identity.name, run.sampling) == ("old", "fake", 1)
            texts = {(g.prompt, g.condition): g.text for g in generations(store, run)}
            assert texts == {
                ("json-order", "baseline"): " mom tree dragon day happy\n",
                ("json-order", "XTC"): " mom tree🐉",
                ("rewrite-plain", "baseline"): "ly had then ran there tree",
                ("rewrite-plain", "XTC"): "ly had then ran! loved",
            }
            for cell in cells_of(run):
                lane = trace(store, cell.name).lanes[0]
                assert lane.text == texts[cell.prompt.id, cell.condition.name]
            assert store.failures(run.name) == []
            assert store._db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_a_store_of_version_1_is_gone_on_with(path: Path) -> None:
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    with Store(path) as store:
        (record,) = store.runs()
        experiment, suite = experiment_of(record), Suite.from_dict(record.suite)
        more = replace(experiment, samples=2)
        last = [*run(more, suite, FakeModel(), store)][-1]
        assert (last.before, last.written, last.done) == (4, 4, 8)


def test_failures_are_kept_with_their_run_until_it_goes_on(path: Path) -> None:
    first = Failure("a", "p", "broken \ud800")
    with Store(path) as store:
        store.begin_run("r", {"name": "e"}, {"name": "s"}, MODEL, INFO, 1)
        store.fail("r", [first, Failure("b", "", "impossible")])
        store.fail("r", [Failure("b", "", "still impossible")])
        store.fail("other", [Failure("", "", "memory")])
    with Store(path) as store:
        assert store.failures("r") == [first, Failure("b", "", "still impossible")]
        assert store.failures("other") == [Failure("", "", "memory")]
        store.begin_run("r", {"name": "e"}, {"name": "s"}, MODEL, INFO, 1)
        assert store.failures("r") == []
        assert len(store.failures("other")) == 1


def test_verdicts_are_kept_by_cell_and_judge(path: Path) -> None:
    with Store(path) as store:
        store.judge({("00ff", "j"): [("parses", True, ""), ("test 1", False, "wrong")]})
        store.judge({("00ff", "k"): [("parses", False, "")]})
    with Store(path) as store:
        assert store.verdicts(["00ff", "00fe"]) == {
            ("00ff", "j"): [["parses", True, ""], ["test 1", False, "wrong"]],
            ("00ff", "k"): [["parses", False, ""]],
        }
        assert store.verdicts([]) == {}


def test_an_older_store_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(path) as store:
        store.add([CELL], MODEL, INFO)
    monkeypatch.setattr(schema, "VERSION", 3)
    monkeypatch.setattr(
        schema, "MIGRATIONS", (*schema.MIGRATIONS, "ALTER TABLE runs ADD COLUMN note TEXT;")
    )
    with Store(path) as store:
        assert store.read("00ff")[0] == CELL
        assert store._db.execute("PRAGMA user_version").fetchone() == (3,)
        store._db.execute("SELECT note FROM runs")


def test_a_migration_that_fails_changes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(path) as store:
        store.add([CELL], MODEL, INFO)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", 3)
        steps = "ALTER TABLE runs ADD COLUMN note TEXT; ALTER TABLE nowhere ADD COLUMN x;"
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, steps))
        assert "no such table: nowhere" in refusal(path)
    with Store(path) as store:
        assert store.read("00ff")[0] == CELL
        with pytest.raises(sqlite3.OperationalError):
            store._db.execute("SELECT note FROM runs")


def test_what_is_committed_survives_a_power_cut(path: Path) -> None:
    with Store(path) as store:
        assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_runs_are_noted_once_with_their_prompts(path: Path) -> None:
    with Store(path) as store:
        for _ in range(2):
            store.begin_run("r", {"name": "e"}, {"name": "s", "prompts": []}, MODEL, INFO, 1)
        (run,) = store.runs()
        assert (run.name, run.experiment, run.identity, run.sampling) == (
            "r", {"name": "e"}, MODEL, 1,
        )  # fmt: skip


def test_the_pace_of_a_model_is_that_of_its_latest_cells(path: Path) -> None:
    """Two texts of 3 of 9 tokens in 2 s each are 6 of 18 in 4 s; the older one is left out."""
    other = replace(MODEL, name="other")
    with Store(path) as store:
        assert store.pace(MODEL) is None
        for number, seconds in enumerate((9.0, 2.0, 2.0)):
            store.add([replace(CELL, name=f"0{number}", seconds=seconds)], MODEL, INFO)
        count, length = len(CELL.tokens), CELL.length
        assert store.pace(MODEL, 2) == Pace(2 * count, 2 * length, 4.0)
        assert store.pace(MODEL) == Pace(3 * count, 3 * length, 13.0)
        assert store.pace(other) is None
