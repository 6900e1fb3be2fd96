"""What is written into a store."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xtc_viz.lab.identity import Identity
from xtc_viz.lab.store.reading import Reader
from xtc_viz.lab.store.values import Failure, Written, as_json, kept, packed
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.records.tracefile import VERSION as TRACE_VERSION


class Store(Reader):
    """A file of cells, to be read and written. For one thread; close it, or use it in a `with`.

    Each method that writes raises `StoreError` where it cannot, such as on a full disk; then
    nothing of its call is written, and what was there stays.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        """Open a store, and make it where there is none.

        Raises:
            StoreError: it cannot be opened, is none, or of a newer version.
        """
        self._known: set[tuple[int, int]] = set()  # (model, token) whose text is there
        super().__init__(path, create=create)

    def begin_run(
        self, name: str, experiment: Mapping[str, Any], suite: Mapping[str, Any],
        identity: Identity, info: ModelInfo, sampling: int,
    ) -> None:  # fmt: skip
        """Note a run, once, with the prompts that it takes and the model; what failed in it is
        tried again, and so forgotten."""
        with self._words("written"), self._transaction():
            model = self._model(identity, info)
            self._db.execute(
                "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
                (name, as_json(experiment), as_json(suite), model, sampling, time.time()),
            )
            self._db.execute("DELETE FROM failures WHERE run = ?", (name,))

    def add(self, cells: Sequence[Written], identity: Identity, info: ModelInfo) -> int:
        """Store these cells, all or none, and return how many were new; others stay as they are."""
        named: set[tuple[int, int]] = set()
        with self._words("written"), self._transaction():
            model = self._model(identity, info)
            new = sum(self._add(cell, model, named) for cell in cells)
        self._known |= named
        return new

    def fail(self, run: str, failures: Iterable[Failure]) -> None:
        """Note what failed in a run; the latest word on a condition and prompt stays."""
        rows = [
            (run, kept(one.condition), kept(one.prompt), kept(one.message), time.time())
            for one in failures
        ]
        with self._words("written"), self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)", rows)

    def judge(self, verdicts: Mapping[tuple[str, str], Sequence[Sequence[Any]]]) -> None:
        """Keep what was judged of cells, by cell and judge: [name, passed, note] each."""
        rows = [
            (cell, judge, as_json(data), time.time()) for (cell, judge), data in verdicts.items()
        ]
        with self._words("written"), self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", rows)

    def _add(self, cell: Written, model: int, named: set[tuple[int, int]]) -> bool:
        texts = {
            token: text
            for token, text in cell.texts.items()
            if (model, token) not in self._known and (model, token) not in named
        }
        self._db.executemany(
            "INSERT OR IGNORE INTO tokens VALUES (?, ?, ?)",
            ((model, token, kept(text)) for token, text in texts.items()),
        )
        named |= {(model, token) for token in texts}
        added = self._db.execute(
            "INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                cell.name, model, self._intern("samplers", as_json(cell.sampler)),
                self._intern("prompts", as_json(cell.prompt)), cell.dice, cell.length,
                as_json(list(cell.stop)), cell.finish, len(cell.tokens),
                packed(cell.tokens), kept(cell.text), cell.seconds, time.time(),
            ),
        )  # fmt: skip
        if not added.rowcount:
            return False
        self._db.execute("INSERT OR IGNORE INTO steps VALUES (?, ?)", (cell.name, cell.steps))
        return True

    def _model(self, identity: Identity, info: ModelInfo) -> int:
        own = as_json(asdict(identity))
        self._db.execute(
            "INSERT OR IGNORE INTO models (identity, info) VALUES (?, ?)",
            (own, as_json({"version": TRACE_VERSION, "model": info.to_dict()})),
        )
        return self._id("models", "identity", own)

    def _intern(self, table: str, data: str) -> int:
        self._db.execute(f"INSERT OR IGNORE INTO {table} (data) VALUES (?)", (data,))
        return self._id(table, "data", data)

    def _id(self, table: str, column: str, value: str) -> int:
        row = self._db.execute(f"SELECT id FROM {table} WHERE {column} = ?", (value,)).fetchone()
        return int(row[0])
