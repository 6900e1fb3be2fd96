"""Trace files: a run as versioned, columnar JSON, without loss.

A file is one JSON object, `.json` or `.json.gz`, in ASCII, with a column a line:

    {"format": "xtc_viz.trace", "version": 2, "app": "0.1.0",
     "model": {...}, "prompt": "...", "prompt_ids": [...], "system": "", "chat": false,
     "settings": {...}, "seconds": 1.5, "vocabulary": {"ids": [...], "texts": [...]},
     "lanes": [{"settings": {...}, "finish": "eos", "branch": null,
                "steps": {"token": [...], "text": [...], ..., "ids": [[...], ...], ...}}]}

The columns of `steps` are the fields of `step.Step`, one entry a step (`columns`). Files of every
version are read: columns that are younger than a file take their defaults, and columns that this
program does not know are kept, and written back (`LaneTrace.unknown`). Numbers that are float32 in
memory are written in the fewest digits that give the same float32 back. NaN and infinities have no
place in a file. Reading checks everything and executes nothing. Lanes and steps are counted from 1
in messages. (JSON cannot hold a high surrogate right before a low one: such a pair comes back as
the character that it spells. Lone surrogates come back as they were.)

Version 2 came with the order of stages in a sampler's settings (version 1 has `xtc_place`) and with
the columns `log_zs`, `temperature`, `final` and `bound`.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Never, TypeVar

from xtc_viz import __version__
from xtc_viz.errors import SettingsError, TraceError
from xtc_viz.records import bounds
from xtc_viz.records.check import check
from xtc_viz.records.columns import COLUMNS, default_of
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.records.packed import Steps
from xtc_viz.records.reading import (
    read_choice,
    read_flag,
    read_float,
    read_int,
    read_ints,
    read_list,
    read_object,
    read_text,
    read_texts,
    shown,
)
from xtc_viz.records.step import Step
from xtc_viz.records.trace import Branch, FinishReason, LaneTrace, Trace
from xtc_viz.settings import LaneSettings, RunSettings

FORMAT = "xtc_viz.trace"
VERSION = 2
MAX_BYTES = 256 * 2**20
"""The longest text that is read; a small compressed file may claim to be endless."""

_TRACE = (
    "format", "version", "app", "model", "prompt", "prompt_ids", "system", "chat", "settings",
    "seconds", "vocabulary", "lanes",
)  # fmt: skip
_LANE = ("settings", "finish", "branch", "steps")
_GZIP = b"\x1f\x8b"

S = TypeVar("S")


def save(trace: Trace, path: str | Path) -> None:
    """Write `trace` to a `.json` or `.json.gz` file, whole or not at all.

    Raises:
        TraceError: another ending, or a trace that could not be read back (see `dumps`).
        OSError: the file cannot be written.
    """
    path = Path(path)
    data = dumps(trace).encode("ascii")
    if path.name.endswith(".json.gz"):
        data = gzip.compress(data, mtime=0)
    elif path.suffix != ".json":
        raise TraceError(f"A trace file ends in .json or .json.gz, but not {path.name!r}.")
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def load(path: str | Path) -> Trace:
    """Read a trace file, compressed or not.

    Raises:
        TraceError: the file is no trace, of another version, or broken; it says where.
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        return loads(file.read(MAX_BYTES + 1))


def dumps(trace: Trace) -> str:
    """Return `trace` as the text of a file.

    Raises:
        TraceError: the trace breaks its own promises, and could not be read back.
    """
    check(trace)
    head: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "app": __version__,
        "model": trace.model.to_dict(),
        "prompt": trace.prompt,
        "prompt_ids": trace.prompt_ids,
        "system": trace.system,
        "chat": trace.chat,
        "settings": trace.settings.to_dict(),
        "seconds": trace.seconds,
    }
    vocabulary = sorted(trace.vocabulary.items())
    columns = {"ids": [i for i, _ in vocabulary], "texts": [text for _, text in vocabulary]}
    lanes = ",\n".join(map(_lane_text, trace.lanes))
    return (
        "{" + f'{_lines(head)},\n"vocabulary": {{{_lines(columns)}}},\n"lanes": [{lanes}]' + "}\n"
    )


def loads(text: str | bytes) -> Trace:
    """Return the trace that a file's text, or its bytes (gzip or not), stands for.

    Raises:
        TraceError: the text is no trace, of another version, or broken; it says where.
    """
    data = _parse(_decoded(text) if isinstance(text, bytes) else text)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise TraceError(f'This is no xtc_viz trace: its "format" is not "{FORMAT}".')
    version = data.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise TraceError(
            f"This trace was made by version {shown(version)} of the format; "
            f"this program reads versions 1 to {VERSION}."
        )
    read_object("the trace", data, _TRACE)
    read_text("`app`", data["app"])
    lanes = read_list("`lanes`", data["lanes"])
    bounds.hold_lanes([_length(lane) for lane in lanes])  # before each step is looked at
    trace = Trace(
        model=ModelInfo.from_dict(data["model"], version),
        prompt=read_text("`prompt`", data["prompt"]),
        prompt_ids=tuple(read_ints("`prompt_ids`", data["prompt_ids"])),
        settings=_settings("settings", RunSettings.from_dict, data["settings"]),
        lanes=tuple(_lane(f"lane {n}", lane, version) for n, lane in enumerate(lanes, 1)),
        vocabulary=_vocabulary(data["vocabulary"]),
        system=read_text("`system`", data["system"]),
        chat=read_flag("`chat`", data["chat"]),
        seconds=read_float("`seconds`", data["seconds"]),
    )
    check(trace)
    return trace


# Writing


def _lane_text(lane: LaneTrace) -> str:
    head = {
        "settings": lane.settings.to_dict(),
        "finish": lane.finish,
        "branch": lane.branch and {"lane": lane.branch.lane, "position": lane.branch.position},
    }
    steps = list(lane.steps)
    columns = {column.name: [getattr(step, column.name) for step in steps] for column in COLUMNS}
    for column in COLUMNS:
        if column.kind.write:
            columns[column.name] = [*map(column.kind.write, columns[column.name])]
    return "{" + f'{_lines(head)},\n"steps": {{{_lines(columns | dict(lane.unknown))}}}' + "}"


def _lines(values: dict[str, Any]) -> str:
    return ",\n".join(f"{_json(name)}: {_json(value)}" for name, value in values.items())


_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


# Reading


def _decoded(data: bytes) -> str:
    if data.startswith(_GZIP):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise TraceError(f"This compressed trace is broken or cut short: {error}.") from None
    if len(data) > MAX_BYTES:
        raise TraceError(f"A trace file has at most {MAX_BYTES >> 20} MiB; this one has more.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceError(f"This is no trace: it is not UTF-8 at byte {error.start}.") from None


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        if text.lstrip()[:1] not in ("", "{", "["):
            raise TraceError("This is no xtc_viz trace, but another kind of file.") from None
        raise TraceError(
            f"This trace is broken or cut short: {error.msg} in line {error.lineno}, "
            f"column {error.colno}."
        ) from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, TraceError):
            raise
        if isinstance(error, RecursionError):
            raise TraceError("This trace is broken: it has lists in lists without end.") from None
        raise TraceError(f"This trace is broken: {shown(str(error))}.") from None


def _no_constant(name: str) -> Never:
    raise TraceError(f"This trace is broken: {name} is no number that a trace may hold.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise TraceError("This trace is broken: one of its objects has the same name twice.")
    return values


def _lane(where: str, data: object, version: int) -> LaneTrace:
    lane = read_object(where, data, _LANE)
    columns = _columns(where, lane["steps"], version)
    known = {column.name for column in COLUMNS}
    return LaneTrace(
        settings=_settings(where, LaneSettings.from_dict, lane["settings"]),
        steps=Steps(_steps(where, columns)),
        finish=None if lane["finish"] is None else _finish(where, lane["finish"]),
        branch=None if lane["branch"] is None else _branch(where, lane["branch"]),
        unknown={name: tuple(values) for name, values in columns.items() if name not in known},
    )


def _length(lane: object) -> int:
    """Return how many steps a lane seems to have; what is none is found later."""
    steps = lane.get("steps") if isinstance(lane, dict) else None
    tokens = steps.get("token") if isinstance(steps, dict) else None
    return len(tokens) if isinstance(tokens, list) else 0


def _columns(where: str, data: object, version: int) -> dict[str, list[Any]]:
    """Return the columns by their names, all of the same length."""
    names = tuple(column.name for column in COLUMNS if column.since <= version)
    columns = read_object(f"{where}, steps", data, names, more=True)
    count = len(read_list(f"{where}, column `token`", columns["token"]))
    for name, column in columns.items():
        # A name that is not ours may be anything.
        named = f"`{name}`" if name in names else shown(name)
        if len(read_list(f"{where}, column {named}", column)) != count:
            raise TraceError(
                f"{where}: column {named} has {len(column)} entries, "
                f"but column `token` has {count}."
            )
    return columns


def _steps(where: str, columns: dict[str, list[Any]]) -> Iterator[Step]:
    count = len(columns["token"])
    values = [
        column.kind.read(f"{where}, column `{column.name}`", columns[column.name])
        if column.name in columns
        else [default_of(column)] * count
        for column in COLUMNS
    ]
    for step in zip(*values, strict=True):
        yield Step(*step)


def _vocabulary(data: object) -> dict[int, str]:
    columns = read_object("`vocabulary`", data, ("ids", "texts"))
    ids = read_ints("vocabulary `ids`", columns["ids"])
    texts = read_texts("vocabulary `texts`", columns["texts"])
    if len(ids) != len(texts):
        raise TraceError(f"`vocabulary` has {len(ids)} ids, but {len(texts)} texts.")
    vocabulary = dict(zip(ids, texts, strict=True))
    if len(vocabulary) < len(ids):
        raise TraceError("`vocabulary` has the same id twice.")
    return vocabulary


def _settings(where: str, read: Callable[[object], S], data: object) -> S:
    try:
        return read(data)
    except (SettingsError, TypeError, OverflowError) as error:
        text = str(error).encode("utf-8", "backslashreplace").decode()
        raise TraceError(f"{where}: {text}.") from None


def _branch(where: str, data: object) -> Branch:
    branch = read_object(f"{where}, `branch`", data, ("lane", "position"))
    return Branch(**{name: read_int(f"{where}, `{name}`", branch[name]) for name in branch})


def _finish(where: str, data: object) -> FinishReason:
    return read_choice(f"{where}, `finish`", FinishReason, data)
