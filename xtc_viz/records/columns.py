"""The one table of a step's columns: it drives packing, files and the CSV.

To record something more of a step, add a field to `step.Step` and a line here.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from xtc_viz.records.reading import (
    Reader,
    each_choice,
    each_flag,
    read_floats,
    read_ints,
    read_texts,
    rows,
    shortest,
)
from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.rule import Outcome

OUTCOMES = tuple(Outcome)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: its typecode in an `array`, and how it is packed, unpacked, written, read.

    For a ragged column `pack` and `unpack` work on a row of values. None leaves it as it is.
    """

    typecode: str
    read: Reader
    pack: Callable[[Any], Any] | None = None
    unpack: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None


INTEGER = Kind("i", lambda where, data: read_ints(where, data, unit="step"))
FLOAT = Kind("d", lambda where, data: read_floats(where, data, unit="step"))
FLAG = Kind("b", each_flag, unpack=bool)
OUTCOME = Kind(
    "b",
    lambda where, data: each_choice(where, Outcome, data),
    pack=OUTCOMES.index,
    unpack=OUTCOMES.__getitem__,
)
BOUND = Kind(
    "b",
    lambda where, data: [Bound(n & sum(Bound)) for n in read_ints(where, data, unit="step")],
    pack=int,
    unpack=Bound,
    write=int,
)
# Ragged ones.
TEXT = Kind(
    "B",
    lambda where, data: read_texts(where, data, unit="step"),
    pack=lambda text: text.encode("utf-8", "surrogatepass"),
    unpack=lambda data: data.tobytes().decode("utf-8", "surrogatepass"),
)
TOKENS = Kind("i", rows(read_ints, tuple), unpack=tuple)
TOKEN_ARRAY = Kind("i", rows(read_ints, lambda row: array("i", row)), write=list)
PROBABILITIES = Kind("f", rows(read_floats, lambda row: array("f", row)), write=shortest)
MASSES = Kind("d", rows(read_floats, tuple), unpack=tuple)
STAGES = Kind("b", rows(read_ints, lambda row: array("b", row)), write=list)


Cell = Callable[[Any, Mapping[int, str]], object]
"""A step's value, and the texts of tokens, to what a table shows of it."""


def _plain(value: object, texts: Mapping[int, str]) -> object:
    return value


def _name(value: Any, texts: Mapping[int, str]) -> str:
    return str(value)


def _text(token: int, texts: Mapping[int, str]) -> str:
    return texts[token]


def _texts(tokens: Sequence[int], texts: Mapping[int, str]) -> str:
    return " | ".join(texts[token] for token in tokens)


def _bounds(bound: Bound, texts: Mapping[int, str]) -> str:
    return " | ".join(str(flag.name).lower() for flag in bound)


@dataclass(frozen=True, slots=True)
class Column:
    """One field of `Step`: its kind, whether a step has a row of values, since which version of
    the file format, and how the CSV shows it, None where it does not."""

    name: str
    kind: Kind
    ragged: bool = False
    since: int = 1
    cell: Cell | None = None


COLUMNS = (
    Column("token", INTEGER, cell=_plain),
    Column("text", TEXT, ragged=True, cell=_plain),
    Column("counterfactual", INTEGER, cell=_text),
    Column("outcome", OUTCOME, cell=_name),
    Column("coin", FLOAT, cell=_plain),
    Column("eligible", INTEGER, cell=_plain),
    Column("removed", TOKENS, ragged=True, cell=_texts),
    Column("removed_mass", FLOAT, cell=_plain),
    Column("removable_mass", FLOAT, cell=_plain),
    Column("entropy", FLOAT, cell=_plain),
    Column("p", FLOAT, cell=_plain),
    Column("q", FLOAT, cell=_plain),
    Column("rank", INTEGER, cell=_plain),
    Column("log_z_raw", FLOAT),
    Column("log_z", FLOAT),
    Column("log_z_final", FLOAT),
    Column("ids", TOKEN_ARRAY, ragged=True),
    Column("probs", PROBABILITIES, ragged=True),
    Column("kept", MASSES, ragged=True),
    Column("cut_ids", TOKEN_ARRAY, ragged=True),
    Column("cut_probs", PROBABILITIES, ragged=True),
    Column("cut_by", STAGES, ragged=True),
    Column("forced", FLAG, cell=_plain),
    Column("log_zs", MASSES, ragged=True, since=2),
    Column("temperature", FLOAT, since=2),
    Column("final", PROBABILITIES, ragged=True, since=2),
    Column("bound", BOUND, since=2, cell=_bounds),
)
"""Every field of `Step`, in its order."""


_FIELDS = {field.name: field for field in fields(Step)}


def has_default(column: Column) -> bool:
    """Whether a step may do without this column."""
    field = _FIELDS[column.name]
    return field.default is not MISSING or field.default_factory is not MISSING


def default_of(column: Column) -> Any:
    """Return what a step has where nothing is known of a column that `has_default`."""
    field = _FIELDS[column.name]
    return field.default if field.default_factory is MISSING else field.default_factory()
