"""The store: every cell once, in a SQLite file that survives a kill at any moment.

    models     identity (what decides a text), info (`ModelInfo` of the one that wrote first)
    samplers   the settings of a condition as they were decoded, with the ids that they protect
    prompts    a prompt as a model took it: text, system message, template, token ids
    tokens     the texts of the tokens that steps name, by model
    cells      one row a text, by its name (`cell`); small, so that thousands are read at once
    steps      the packed steps of a cell (`records.packed`), in a table of their own
    runs       the experiments that were run here, with their prompts, by name

`user_version` is the version of this format. A file of a newer one is refused; one of an older is
brought up to date, in one transaction. The log is written ahead and synced at each commit (WAL,
synchronous FULL): what was committed survives a power cut too. Several processes may use one file.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xtc_viz.errors import StoreError, shortened
from xtc_viz.lab.identity import Identity
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.records.tracefile import VERSION as TRACE_VERSION

APPLICATION = 0x5854434C  # "XTCL"
VERSION = 1
PATIENCE = 60.0
"""Seconds for which a process waits for another one that writes."""
_MANY = 500
"""Names in one question to the database."""

_VERSION_1 = """
CREATE TABLE models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, info TEXT NOT NULL);
CREATE TABLE samplers (id INTEGER PRIMARY KEY, data TEXT NOT NULL UNIQUE);
CREATE TABLE prompts (id INTEGER PRIMARY KEY, data TEXT NOT NULL UNIQUE);
CREATE TABLE tokens (
    model INTEGER NOT NULL REFERENCES models, token INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (model, token)
) WITHOUT ROWID;
CREATE TABLE cells (
    name TEXT PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES models,
    sampler INTEGER NOT NULL REFERENCES samplers,
    prompt INTEGER NOT NULL REFERENCES prompts,
    dice INTEGER NOT NULL, length INTEGER NOT NULL, stop TEXT NOT NULL,
    finish TEXT NOT NULL, count INTEGER NOT NULL, tokens BLOB NOT NULL, text TEXT NOT NULL,
    seconds REAL NOT NULL, made REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE steps (cell TEXT PRIMARY KEY REFERENCES cells, data BLOB NOT NULL);
CREATE TABLE runs (
    name TEXT PRIMARY KEY, experiment TEXT NOT NULL, suite TEXT NOT NULL,
    model INTEGER NOT NULL REFERENCES models, sampling INTEGER NOT NULL, begun REAL NOT NULL
) WITHOUT ROWID;
"""
MIGRATIONS: tuple[str, ...] = (_VERSION_1,)
"""What makes a file of version n one of version n + 1, n from 0, which is an empty file."""


@dataclass(frozen=True, slots=True)
class Written:
    """A cell as it is stored.

    `sampler` is the condition's as it was decoded, `prompt` the prompt as the model took it, both
    as plain values. `texts` are those of the tokens that the steps name, `steps` the steps packed.
    """

    name: str
    sampler: Mapping[str, Any]
    prompt: Mapping[str, Any]
    dice: int
    length: int
    stop: tuple[str, ...]
    finish: str
    tokens: tuple[int, ...]
    text: str
    seconds: float
    texts: Mapping[int, str]
    steps: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a stored cell without its steps."""

    name: str
    finish: str
    count: int
    text: str
    tokens: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that a store knows: the plain values of its experiment and its suite, and its model.

    `sampling` is the version of the app's sampling (`cell`), `begun` in seconds since 1970.
    """

    name: str
    experiment: Mapping[str, Any]
    suite: Mapping[str, Any]
    identity: Identity
    sampling: int
    begun: float


class Store:
    """A file of cells. For one thread; close it, or use it in a `with`."""

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        """Open a store, and make it where there is none.

        Raises:
            StoreError: it cannot be opened, is none, or of a newer version.
        """
        self.path = Path(path)
        self._called = shortened(self.path.name)
        if not create and not self.path.is_file():
            raise StoreError(f"There is no store {self._called}: nothing was run into it yet.")
        self._known: set[tuple[int, int]] = set()  # (model, token) whose text is there
        with self._words("opened"):
            self._db = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise

    def _open(self) -> None:
        version = self._version()
        if version < VERSION:
            # Nobody else may do this at the same time.
            self._db.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                version = self._version()
                for script in MIGRATIONS[version:]:
                    for statement in filter(str.strip, script.split(";")):
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {VERSION}")
        self._db.execute("PRAGMA synchronous = FULL")

    def _version(self) -> int:
        """Return the file's version, 0 for an empty one; refuse what is no store of ours."""
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != APPLICATION and (tables or version or application):
            raise StoreError(f"{self._called} is a database, but no store of a laboratory.")
        if version > VERSION:
            raise StoreError(
                f"{self._called} was written by version {version} of the store's format; this "
                f"program reads versions 1 to {VERSION}. A newer xtc_viz opens it."
            )
        return int(version)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing

    def begin_run(
        self, name: str, experiment: Mapping[str, Any], suite: Mapping[str, Any],
        identity: Identity, info: ModelInfo, sampling: int,
    ) -> None:  # fmt: skip
        """Note a run, once, with the prompts that it takes and the model."""
        with self._words("written"), self._transaction():
            model = self._model(identity, info)
            self._db.execute(
                "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
                (name, _json(experiment), _json(suite), model, sampling, time.time()),
            )

    def add(self, cells: Sequence[Written], identity: Identity, info: ModelInfo) -> int:
        """Store these cells, all or none, and return how many were new; others stay as they are.

        Raises:
            StoreError: they cannot be written, such as on a full disk. What was there, stays.
        """
        named: set[tuple[int, int]] = set()
        with self._words("written"), self._transaction():
            model = self._model(identity, info)
            new = sum(self._add(cell, model, named) for cell in cells)
        self._known |= named
        return new

    def _add(self, cell: Written, model: int, named: set[tuple[int, int]]) -> bool:
        texts = {
            token: text
            for token, text in cell.texts.items()
            if (model, token) not in self._known and (model, token) not in named
        }
        self._db.executemany(
            "INSERT OR IGNORE INTO tokens VALUES (?, ?, ?)",
            ((model, token, _kept(text)) for token, text in texts.items()),
        )
        named |= {(model, token) for token in texts}
        added = self._db.execute(
            "INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                cell.name, model, self._intern("samplers", _json(cell.sampler)),
                self._intern("prompts", _json(cell.prompt)), cell.dice, cell.length,
                _json(list(cell.stop)), cell.finish, len(cell.tokens),
                _numbers(cell.tokens), _kept(cell.text), cell.seconds, time.time(),
            ),
        )  # fmt: skip
        if not added.rowcount:
            return False
        self._db.execute("INSERT OR IGNORE INTO steps VALUES (?, ?)", (cell.name, cell.steps))
        return True

    def _model(self, identity: Identity, info: ModelInfo) -> int:
        own = _json(asdict(identity))
        self._db.execute(
            "INSERT OR IGNORE INTO models (identity, info) VALUES (?, ?)",
            (own, _json({"version": TRACE_VERSION, "model": info.to_dict()})),
        )
        return self._id("models", "identity", own)

    def _intern(self, table: str, data: str) -> int:
        self._db.execute(f"INSERT OR IGNORE INTO {table} (data) VALUES (?)", (data,))
        return self._id(table, "data", data)

    def _id(self, table: str, column: str, value: str) -> int:
        row = self._db.execute(f"SELECT id FROM {table} WHERE {column} = ?", (value,)).fetchone()
        return int(row[0])

    # Reading

    def __contains__(self, name: str) -> bool:
        with self._words("read"):
            row = self._db.execute("SELECT 1 FROM cells WHERE name = ?", (name,)).fetchone()
        return row is not None

    def __len__(self) -> int:
        with self._words("read"):
            return int(self._db.execute("SELECT count(*) FROM cells").fetchone()[0])

    def present(self, names: Iterable[str]) -> set[str]:
        """Return those of these names whose cells are there."""
        return {row[0] for row in self._rows("name FROM cells WHERE name", names)}

    def entries(self, names: Iterable[str]) -> dict[str, Entry]:
        """Return those of these cells that are there, by name, without steps."""
        columns = "name, finish, count, text, tokens, seconds FROM cells WHERE name"
        return {
            row[0]: Entry(row[0], row[1], row[2], _given(row[3]), _ids(row[4]), row[5])
            for row in self._rows(columns, names)
        }

    def steps(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Return the packed steps of those of these cells that are there, with their names."""
        yield from self._rows("cell, data FROM steps WHERE cell", names)

    def names_like(self, prefix: str) -> list[str]:
        """Return up to two names of cells that begin so."""
        with self._words("read"):
            rows = self._db.execute(
                "SELECT name FROM cells WHERE substr(name, 1, ?) = ? LIMIT 2", (len(prefix), prefix)
            ).fetchall()
        return [row[0] for row in rows]

    def read(self, name: str) -> tuple[Written, ModelInfo]:
        """Return a whole cell, the texts of its model's tokens, and the model.

        Raises:
            StoreError: there is none of this name.
        """
        with self._words("read"):
            row = self._db.execute(
                "SELECT s.data, p.data, dice, length, stop, finish, c.tokens, text, seconds, "
                "m.info, m.id, steps.data FROM cells c JOIN samplers s ON s.id = c.sampler "
                "JOIN prompts p ON p.id = c.prompt JOIN models m ON m.id = c.model "
                "LEFT JOIN steps ON steps.cell = c.name WHERE c.name = ?",
                (name,),
            ).fetchone()
            if row is None:
                raise StoreError(f"{self._called} holds no cell {shortened(name)}.")
            texts = self._db.execute("SELECT token, text FROM tokens WHERE model = ?", (row[10],))
            vocabulary = {token: _given(text) for token, text in texts}
        cell = Written(
            name, json.loads(row[0]), json.loads(row[1]), row[2], row[3],
            tuple(json.loads(row[4])), row[5], _ids(row[6]), _given(row[7]), row[8],
            vocabulary, row[11] or b"",
        )  # fmt: skip
        info = json.loads(row[9])
        return cell, ModelInfo.from_dict(info["model"], info["version"])

    def runs(self) -> list[RunRecord]:
        """Return the runs that were begun here, the latest first."""
        with self._words("read"):
            rows = self._db.execute(
                "SELECT name, experiment, suite, identity, sampling, begun FROM runs "
                "JOIN models ON models.id = runs.model ORDER BY begun DESC, name"
            ).fetchall()
        return [
            RunRecord(
                name,
                json.loads(experiment),
                json.loads(suite),
                Identity(**json.loads(identity)),
                sampling,
                begun,
            )
            for name, experiment, suite, identity, sampling, begun in rows
        ]

    # What both need

    def _rows(self, what: str, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        wanted = list(names)
        for first in range(0, len(wanted), _MANY):
            some = wanted[first : first + _MANY]
            with self._words("read"):
                marks = ", ".join("?" * len(some))
                rows = self._db.execute(f"SELECT {what} IN ({marks})", some).fetchall()
            yield from rows

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            # SQLite itself has rolled back already where the disk is full.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _words(self, done: str) -> Iterator[None]:
        """Turn what SQLite says into words."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(
                f"The store {self._called} cannot be {done}: {error}. What it holds, stays."
            ) from error


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _kept(text: str) -> str | bytes:
    """Return a text as SQLite takes it: one that UTF-8 has no bytes for, as its bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _given(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def _numbers(tokens: Sequence[int]) -> bytes:
    """Return token ids as bytes, four little-endian ones each."""
    return _little(array("I", tokens)).tobytes()


def _ids(data: bytes) -> tuple[int, ...]:
    values = array("I")
    values.frombytes(data)
    return tuple(_little(values))


def _little(values: array[int]) -> array[int]:
    if sys.byteorder == "big":
        values.byteswap()
    return values
