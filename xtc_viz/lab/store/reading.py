"""What is read of a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from xtc_viz.errors import StoreError, shortened
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.store.database import Database
from xtc_viz.lab.store.values import (
    Entry,
    Failure,
    Pace,
    RunRecord,
    Written,
    as_json,
    given,
    unpacked,
)
from xtc_viz.records.modelinfo import ModelInfo


class Reader(Database):
    """The cells, the runs, and what came of them. Each raises `StoreError` for what cannot be
    read."""

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
            row[0]: Entry(row[0], row[1], row[2], given(row[3]), unpacked(row[4]), row[5])
            for row in self._rows(columns, names)
        }

    def steps(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Return the packed steps of those of these cells that are there, with their names."""
        yield from self._rows("cell, data FROM steps WHERE cell", names)

    def pace(self, identity: Identity, latest: int = 200) -> Pace | None:
        """Return how long the latest cells of a model took, None where there are none."""
        with self._words("read"):
            rows = self._db.execute(
                "SELECT count, length, seconds FROM cells WHERE model = "
                "(SELECT id FROM models WHERE identity = ?) ORDER BY made DESC LIMIT ?",
                (as_json(asdict(identity)), latest),
            ).fetchall()
        tokens, lengths, seconds = zip(*rows, strict=True) if rows else ((), (), ())
        return Pace(sum(tokens), sum(lengths), sum(seconds)) if rows else None

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
            vocabulary = {token: given(text) for token, text in texts}
        cell = Written(
            name, json.loads(row[0]), json.loads(row[1]), row[2], row[3],
            tuple(json.loads(row[4])), row[5], unpacked(row[6]), given(row[7]), row[8],
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

    def failures(self, run: str) -> list[Failure]:
        """Return what failed when this run was last gone on with, in the order in which it did."""
        with self._words("read"):
            rows = self._db.execute(
                "SELECT condition, prompt, message FROM failures WHERE run = ? "
                "ORDER BY made, condition, prompt",
                (run,),
            ).fetchall()
        return [Failure(*(given(text) for text in row)) for row in rows]

    def verdicts(self, names: Iterable[str]) -> dict[tuple[str, str], list[list[Any]]]:
        """Return what was judged of these cells, by cell and judge: [name, passed, note] each."""
        rows = self._rows("cell, judge, data FROM verdicts WHERE cell", names)
        return {(cell, judge): json.loads(data) for cell, judge, data in rows}
