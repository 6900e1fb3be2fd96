"""A lane's steps, packed: under a kilobyte each where the objects would take two or three.

Reads like any sequence of steps, made anew when asked for. It only ever grows, so a frozen view
of it costs nothing and never changes.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, overload

from xtc_viz.records.trace import Step
from xtc_viz.sampling.rule import Outcome

_FLOATS = (
    *("coin", "removed_mass", "removable_mass", "entropy", "p", "q"),
    *("log_z_raw", "log_z", "log_z_final"),
)
_INTEGERS = ("token", "counterfactual", "rank", "eligible")
_OUTCOMES = tuple(Outcome)
_NUMBER = {outcome: number for number, outcome in enumerate(_OUTCOMES)}


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


class _Columns:
    __slots__ = (
        *("floats", "integers", "outcomes", "ids", "probs", "removed", "kept"),
        *("cut_ids", "cut_probs", "cut_by", "text", "forced"),
    )

    def __init__(self) -> None:
        self.floats = array("d")
        self.integers = array("i")
        self.outcomes = array("b")
        self.forced = array("b")
        self.ids, self.probs = _Ragged("i"), _Ragged("f")
        self.removed, self.kept = _Ragged("i"), _Ragged("d")
        self.cut_ids, self.cut_probs, self.cut_by = _Ragged("i"), _Ragged("f"), _Ragged("b")
        self.text = _Ragged("B")


class Steps(Sequence[Step]):
    """An append-only sequence of steps. `frozen()` gives a view that stays as it is."""

    __slots__ = ("_columns", "_length")

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self._columns = _Columns()
        self._length: int | None = None  # None: as many as the columns hold
        for step in steps:
            self.append(step)

    def append(self, step: Step) -> None:
        """Add a step. Raises `TypeError` on a frozen view."""
        if self._length is not None:
            raise TypeError("a frozen view of steps cannot grow")
        columns = self._columns
        columns.floats.extend([getattr(step, name) for name in _FLOATS])
        columns.integers.extend([getattr(step, name) for name in _INTEGERS])
        for name in ("ids", "probs", "removed", "kept", "cut_ids", "cut_probs", "cut_by"):
            getattr(columns, name).append(getattr(step, name))
        columns.text.append(step.text.encode("utf-8", "surrogatepass"))
        columns.forced.append(step.forced)
        columns.outcomes.append(_NUMBER[step.outcome])  # last: it is what the length counts

    def frozen(self) -> Steps:
        """Return what is here now as a view that never changes; nothing is copied."""
        view = Steps()
        view._columns, view._length = self._columns, len(self)
        return view

    @property
    def nbytes(self) -> int:
        """The memory that the columns take, in bytes, room to grow included."""
        arrays: list[Any] = []
        for name in _Columns.__slots__:
            column = getattr(self._columns, name)
            arrays += [column.values, column.ends] if isinstance(column, _Ragged) else [column]
        return sum(map(sys.getsizeof, arrays))

    def __len__(self) -> int:
        return len(self._columns.outcomes) if self._length is None else self._length

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
        floats = columns.floats[len(_FLOATS) * i : len(_FLOATS) * (i + 1)]
        integers = columns.integers[len(_INTEGERS) * i : len(_INTEGERS) * (i + 1)]
        scalars: dict[str, Any] = dict(zip(_FLOATS, floats, strict=True))
        scalars.update(zip(_INTEGERS, integers, strict=True))
        return Step(
            **scalars,
            text=columns.text[i].tobytes().decode("utf-8", "surrogatepass"),
            outcome=_OUTCOMES[columns.outcomes[i]],
            removed=tuple(columns.removed[i]),
            kept=tuple(columns.kept[i]),
            ids=columns.ids[i],
            probs=columns.probs[i],
            cut_ids=columns.cut_ids[i],
            cut_probs=columns.cut_probs[i],
            cut_by=columns.cut_by[i],
            forced=bool(columns.forced[i]),
        )
