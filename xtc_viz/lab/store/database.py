"""A store's file: opened, looked at, brought up to date, and written in transactions.

A file of a newer version is refused; one of an older is brought up to date, in one transaction. The
log is written ahead and synced at each commit (WAL, synchronous FULL).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from xtc_viz.errors import StoreError, shortened
from xtc_viz.lab.store import schema

PATIENCE = 60.0
"""Seconds for which a process waits for another one that writes."""
_MANY = 500
"""Names in one question to the database."""


class Database:
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
        with self._words("opened"):
            self._db = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        version = self._version()
        if version < schema.VERSION:
            # Nobody else may do this at the same time.
            self._db.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                version = self._version()
                for script in schema.MIGRATIONS[version:]:
                    for statement in filter(str.strip, script.split(";")):
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {schema.APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {schema.VERSION}")
        self._db.execute("PRAGMA synchronous = FULL")

    def _version(self) -> int:
        """Return the file's version, 0 for an empty one; refuse what is no store of ours."""
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != schema.APPLICATION and (tables or version or application):
            raise StoreError(f"{self._called} is a database, but no store of a laboratory.")
        if version > schema.VERSION:
            raise StoreError(
                f"{self._called} was written by version {version} of the store's format; this "
                f"program reads versions 1 to {schema.VERSION}. A newer xtc_viz opens it."
            )
        return int(version)

    def _rows(self, what: str, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Return what is asked for of these names; `what` ends with the column of the names."""
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
