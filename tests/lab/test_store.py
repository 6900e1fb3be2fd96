"""The store: each cell once, all of a batch or none, and no file of another kind or version."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from xtc_viz.errors import StoreError
from xtc_viz.lab import store as module
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.store import Store, Written
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
        store._db.execute(f"PRAGMA user_version = {module.VERSION + 1}")
    before = path.read_bytes()
    assert "a.sqlite was written by version 2 of the store's format" in refusal(path)
    assert path.read_bytes() == before


def test_an_older_store_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(path) as store:
        store.add([CELL], MODEL, INFO)
    monkeypatch.setattr(module, "VERSION", 2)
    monkeypatch.setattr(
        module, "MIGRATIONS", (*module.MIGRATIONS, "ALTER TABLE runs ADD COLUMN note TEXT;")
    )
    with Store(path) as store:
        assert store.read("00ff")[0] == CELL
        assert store._db.execute("PRAGMA user_version").fetchone() == (2,)
        store._db.execute("SELECT note FROM runs")


def test_a_migration_that_fails_changes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(path) as store:
        store.add([CELL], MODEL, INFO)
    with monkeypatch.context() as patch:
        patch.setattr(module, "VERSION", 2)
        steps = "ALTER TABLE runs ADD COLUMN note TEXT; ALTER TABLE nowhere ADD COLUMN x;"
        patch.setattr(module, "MIGRATIONS", (*module.MIGRATIONS, steps))
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
