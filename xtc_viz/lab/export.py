"""The cells of a run as a table: CSV, or Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from xtc_viz.errors import SettingsError
from xtc_viz.lab.cell import Cell
from xtc_viz.lab.checks import Verdict, judge
from xtc_viz.lab.store import Entry
from xtc_viz.tablecell import cell as as_cell

COLUMNS = (
    "cell", "condition", "prompt", "genre", "kind", "openness", "seed", "sample", "dice",
    "finish", "tokens", "seconds", "passed", "broken", "text",
)  # fmt: skip


Row = dict[str, str | int | float | None]


def rows(
    entries: Iterable[tuple[Cell, Entry]], judged: Mapping[str, Sequence[Verdict]]
) -> Iterator[Row]:
    """Return one row a cell.

    `dice` is the seed with which the page writes the same text. `passed` is 1 where an answer is
    all that its prompt asks for, 0 where not, nothing where nobody judged it; `broken` names the
    rules, fields or tests that it does not keep. `judged` are verdicts that were stored, by cell.
    """
    for cell, entry in entries:
        verdicts = judged.get(cell.name) or judge(cell.prompt.kind, entry.text, cell.prompt.check)
        broken = [verdict.name for verdict in verdicts if not verdict.passed]
        values = (
            cell.name, cell.condition.name, cell.prompt.id, cell.prompt.genre,
            str(cell.prompt.kind), str(cell.prompt.openness or ""), cell.seed, cell.sample,
            cell.dice, entry.finish, entry.count, round(entry.seconds, 4),
            int(not broken) if verdicts else None, ", ".join(broken), entry.text,
        )  # fmt: skip
        yield dict(zip(COLUMNS, values, strict=True))


def write_table(
    path: Path,
    entries: Iterable[tuple[Cell, Entry]],
    judged: Mapping[str, Sequence[Verdict]] = MappingProxyType({}),
) -> int:
    """Write a `.csv` or `.parquet` file, whole or not at all, and return how many rows it has.

    Raises:
        SettingsError: another ending, or Parquet without pyarrow.
        OSError: the file cannot be written.
    """
    kinds = {".csv": _csv, ".parquet": _parquet}
    if path.suffix not in kinds:
        raise SettingsError("file", f"a name that ends in {' or '.join(kinds)}", path.name)
    draft = path.with_name(f".{path.name}.part")
    try:
        count = kinds[path.suffix](draft, rows(entries, judged))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return count


def _csv(path: Path, table: Iterable[Row]) -> int:
    """Write texts so that no program takes one for a formula (`tablecell`)."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in table:
            texts = {n: as_cell(v) if isinstance(v, str) else v for n, v in row.items()}
            writer.writerow(texts)
            count += 1
    return count


def _parquet(path: Path, table: Iterable[Row]) -> int:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        bounds = (
            "a .csv file, or .parquet where pyarrow is installed (pip install xtc_viz[parquet])"
        )
        raise SettingsError("file", bounds, path.name.removeprefix(".")) from error
    data = pyarrow.Table.from_pylist([dict(row) for row in table])
    pyarrow.parquet.write_table(data, path)
    return int(data.num_rows)
