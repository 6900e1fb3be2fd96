"""The one table of a step's columns: it drives packing, files and the CSV.

To record something more of a step, add a field to `step.Step` and a line here.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
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


@dataclass(frozen=True, slots=True)
class Column:
    """One field of `Step`: its kind, whether a step has a row of values, since which version of
    the file format, and whether the CSV shows it."""

    name: str
    kind: Kind
    ragged: bool = False
    since: int = 1
    table: bool = False


COLUMNS = (
    Column("token", INTEGER, table=True),
    Column("text", TEXT, ragged=True, table=True),
    Column("counterfactual", INTEGER, table=True),
    Column("outcome", OUTCOME, table=True),
    Column("coin", FLOAT, table=True),
    Column("eligible", INTEGER, table=True),
    Column("removed", TOKENS, ragged=True, table=True),
    Column("removed_mass", FLOAT, table=True),
    Column("removable_mass", FLOAT, table=True),
    Column("entropy", FLOAT, table=True),
    Column("p", FLOAT, table=True),
    Column("q", FLOAT, table=True),
    Column("rank", INTEGER, table=True),
    Column("log_z_raw", FLOAT),
    Column("log_z", FLOAT),
    Column("log_z_final", FLOAT),
    Column("ids", TOKEN_ARRAY, ragged=True),
    Column("probs", PROBABILITIES, ragged=True),
    Column("kept", MASSES, ragged=True),
    Column("cut_ids", TOKEN_ARRAY, ragged=True),
    Column("cut_probs", PROBABILITIES, ragged=True),
    Column("cut_by", STAGES, ragged=True),
    Column("forced", FLAG, table=True),
    Column("log_zs", MASSES, ragged=True, since=2),
    Column("temperature", FLOAT, since=2),
    Column("final", PROBABILITIES, ragged=True, since=2),
    Column("bound", BOUND, since=2, table=True),
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
