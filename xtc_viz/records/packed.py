"""A lane's steps, packed: under a kilobyte each where the objects would take two or three.

Reads like any sequence of steps, made anew when asked for. It only ever grows, so a frozen view
of it costs nothing and never changes.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias, overload

from xtc_viz.errors import TraceError
from xtc_viz.records.columns import COLUMNS, Column, default_of, has_default
from xtc_viz.records.step import Step

_values = attrgetter(*(column.name for column in COLUMNS))
# Only some kinds are packed as something else than they are.
_PACK = [(i, column.kind.pack) for i, column in enumerate(COLUMNS) if column.kind.pack]
_UNPACK = [(i, column.kind.unpack) for i, column in enumerate(COLUMNS) if column.kind.unpack]
_PLACES = {column.name: i for i, column in enumerate(COLUMNS)}
_DEFAULTS = {i: default_of(column) for i, column in enumerate(COLUMNS) if has_default(column)}


class _Ragged:
    """Rows of different lengths in one array."""

    __slots__ = ("ends", "values")

    def __init__(self, typecode: str) -> None:
        self.values: array[Any] = array(typecode)
        self.ends = array("I", (0,))

    def append(self, row: Iterable[Any]) -> None:
        self.values.extend(row)
        self.ends.append(len(self.values))

    def __getitem__(self, index: int) -> array[Any]:
        return self.values[self.ends[index] : self.ends[index + 1]]


_Values: TypeAlias = "_Ragged | array[Any]"


def _empty(place: int) -> _Values:
    column = COLUMNS[place]
    return _Ragged(column.kind.typecode) if column.ragged else array(column.kind.typecode)


_LARGEST = 2**30
"""The most bytes that packed steps may come to: those of a million steps."""


class Steps(Sequence[Step]):
    """An append-only sequence of steps. `frozen()` gives a view that stays as it is.

    A column takes room from the first step on at which it is not at its default.
    """

    __slots__ = ("_columns", "_count", "_length")

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self._columns: list[_Values | None] = [
            None if place in _DEFAULTS else _empty(place) for place in range(len(COLUMNS))
        ]
        self._count = [0]  # of all views
        self._length: int | None = None  # None: as many as there are
        for step in steps:
            self.append(step)

    def append(self, step: Step) -> None:
        """Add a step. Raises `TypeError` on a frozen view."""
        if self._length is not None:
            raise TypeError("a frozen view of steps cannot grow")
        row = list(_values(step))
        for place, default in _DEFAULTS.items():
            if self._columns[place] is None and row[place] != default:
                self._columns[place] = self._filled(place)
        for place, pack in _PACK:
            row[place] = pack(row[place])
        for values, value in zip(self._columns, row, strict=True):
            if values is not None:
                values.append(value)
        self._count[0] += 1  # last: whoever counts a step finds all of it

    def _filled(self, place: int) -> _Values:
        """Return a column that was at its default in all steps so far."""
        values, default = _empty(place), _DEFAULTS[place]
        pack = COLUMNS[place].kind.pack
        for _ in range(len(self)):
            values.append(pack(default) if pack else default)
        return values

    def frozen(self) -> Steps:
        """Return what is here now as a view that never changes; nothing is copied."""
        view = Steps.__new__(Steps)
        view._columns, view._count, view._length = self._columns, self._count, len(self)
        return view

    def to_bytes(self) -> bytes:
        """Return the steps as bytes that `from_bytes` reads back, the same on every machine.

        Compressed by zlib: a line of JSON, which names the arrays with their typecodes and lengths,
        and after it the arrays, little-endian, one after the other; of each the first bytes of all
        numbers come first, then the second ones, and so on. Columns at their default are left out.
        Of a ragged column the first array holds where each row ends.
        """
        count = len(self)
        names: list[tuple[str, str, int]] = []
        parts: list[bytes] = []
        for column, values in zip(COLUMNS, self._columns, strict=True):
            if values is None:
                continue
            arrays: list[array[Any]] = [values[:count]] if isinstance(values, array) else []
            if isinstance(values, _Ragged):
                ends = values.ends[: count + 1]
                arrays = [ends, values.values[: ends[-1]]]
            for own in arrays:
                names.append((column.name, own.typecode, len(own)))
                parts.append(_sorted_bytes(_little(own)))
        head = json.dumps({"steps": count, "arrays": names}, separators=(",", ":"))
        # Ids and probabilities hardly shrink by more effort.
        return zlib.compress(b"".join((head.encode(), b"\n", *parts)), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> Steps:
        """Return the steps that `to_bytes` wrote; columns that are not known here are left out.

        Raises:
            TraceError: the bytes are broken.
        """
        try:
            decompress = zlib.decompressobj()
            head, _, body = decompress.decompress(data, _LARGEST).partition(b"\n")
            if not decompress.eof:
                raise ValueError("they are cut short, or too long")
            names = json.loads(head)
            count = names["steps"]
            columns: dict[str, list[array[Any]]] = {}
            for name, typecode, length in names["arrays"]:
                own: array[Any] = array(typecode)
                size = own.itemsize * length
                own.frombytes(_unsorted_bytes(body[:size], own.itemsize))
                body = body[size:]
                if len(own) != length:
                    raise ValueError(f"{name} is cut short")
                columns.setdefault(name, []).append(_little(own))
            steps = cls()
            for place, column in enumerate(COLUMNS):
                if column.name in columns or place not in _DEFAULTS:
                    steps._columns[place] = _column(column, columns[column.name], count)
        except (ValueError, LookupError, TypeError, zlib.error) as error:
            raise TraceError(f"These packed steps are broken: {error}.") from error
        steps._count[0] = count
        return steps

    @property
    def nbytes(self) -> int:
        """The memory that the columns take, in bytes, room to grow included."""
        arrays: list[array[Any]] = []
        for values in self._columns:
            if isinstance(values, _Ragged):
                arrays += [values.values, values.ends]
            elif values is not None:
                arrays.append(values)
        return sum(map(sys.getsizeof, arrays))

    def column(self, name: str) -> tuple[array[Any], array[int] | None]:
        """Return a copy of one column as it is packed, and of a ragged one where each row ends.

        The ends begin with a 0, so that row i goes from ends[i] to ends[i + 1]. Raises `KeyError`
        where no column has this name.
        """
        count, place = len(self), _PLACES[name]
        values = self._columns[place]
        if values is None:
            values = self._filled(place)
        if isinstance(values, _Ragged):
            ends = values.ends[: count + 1]
            return values.values[: ends[-1]], ends
        return values[:count], None

    def __len__(self) -> int:
        return self._count[0] if self._length is None else self._length

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        if isinstance(index, slice):
            return [self._step(i) for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"step {index} of {len(self)}")
        return self._step(position)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Steps({len(self)})"

    def _step(self, i: int) -> Step:
        columns = self._columns
        row: list[Any] = [values[i] if values is not None else None for values in columns]
        for place, unpack in _UNPACK:
            if columns[place] is not None:
                row[place] = unpack(row[place])
        for place, default in _DEFAULTS.items():
            if row[place] is None:
                row[place] = default
        return Step(*row)


def _little(values: array[Any]) -> array[Any]:
    """Return an array with the bytes of each number turned round where this machine is big-endian,
    which makes one into the other."""
    if sys.byteorder == "little" or values.itemsize == 1:
        return values
    turned = values[:]
    turned.byteswap()
    return turned


def _sorted_bytes(values: array[Any]) -> bytes:
    """Return the first bytes of all numbers, then the second ones, and so on: high bytes are alike,
    and so they shrink."""
    data = values.tobytes()
    return b"".join(data[place :: values.itemsize] for place in range(values.itemsize))


def _unsorted_bytes(data: bytes, size: int) -> bytes:
    """Turn `_sorted_bytes` round, for numbers of so many bytes."""
    count = len(data) // size
    turned = bytearray(len(data))
    for place in range(size):
        turned[place::size] = data[place * count : (place + 1) * count]
    return bytes(turned)


def _column(column: Column, arrays: list[array[Any]], count: int) -> _Values:
    """Return a column of so many steps. Raises `ValueError` where the arrays are not one."""
    typecodes = ["I", column.kind.typecode] if column.ragged else [column.kind.typecode]
    if [own.typecode for own in arrays] != typecodes:
        raise ValueError(f"{column.name} is of another type")
    *ends, values = arrays
    if not ends:
        if len(values) != count:
            raise ValueError(f"{column.name} has {len(values)} of {count} entries")
        return values
    rows = ends[0]
    if len(rows) != count + 1 or rows[0] or rows[-1] != len(values) or list(rows) != sorted(rows):
        raise ValueError(f"{column.name} has rows that cannot be")
    ragged = _Ragged(column.kind.typecode)
    ragged.values, ragged.ends = values, rows
    return ragged
