"""What the laboratory prints: progress, tables, JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from xtc_viz.texts import visible

if TYPE_CHECKING:
    from xtc_viz.lab.code.judging import Judged
    from xtc_viz.lab.news import Absence
    from xtc_viz.lab.runner import Progress
    from xtc_viz.lab.store import Failure

LINE_EVERY = 10.0
"""Seconds between two lines of progress where nobody looks at a terminal."""


class Shown:
    """Progress as it is shown: a line of a terminal that changes, lines elsewhere, or JSON."""

    def __init__(self, experiment: str, model: str, *, as_json: bool) -> None:
        self._experiment, self._model, self._as_json = experiment, model, as_json
        self._live = sys.stderr.isatty() and not as_json
        self._next = 0.0
        self._latest: Progress | None = None

    def update(self, progress: Progress) -> None:
        absent = self._latest.absent if self._latest else ()
        self._latest = progress
        if progress.absent != absent and not self._as_json:
            for words in changes(absent, progress.absent):
                self._line(words)
                if self._live:
                    print(file=sys.stderr)
            self._next = 0.0
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.2 if self._live else 1.0 if self._as_json else LINE_EVERY)
        self._write("running")

    def judging(self, judged: Judged) -> None:
        """Show how much of generated code was run."""
        now = time.monotonic()
        if now < self._next and judged.done < judged.total:
            return
        self._next = now + (0.2 if self._live else 1.0 if self._as_json else LINE_EVERY)
        if self._as_json:
            own = {"experiment": self._experiment, "model": self._model, "state": "judging"}
            print(json.dumps(own | asdict(judged)), flush=True)
            return
        self._line(f"{judged.done:,} of {judged.total:,} answers judged, {judged.passed:,} passed")

    def end(self, state: str) -> None:
        self._write(state)
        if self._live:
            print(file=sys.stderr)
        if self._latest and not self._as_json:
            for failure in self._latest.failures:
                print(visible(failure_line(failure)), file=sys.stderr)

    def _write(self, state: str) -> None:
        progress = self._latest
        if progress is None:
            return
        if self._as_json:
            own = {"experiment": self._experiment, "model": self._model, "state": state}
            values = own | asdict(replace(progress, cell=None)) | {"rate": progress.rate}
            del values["cell"]
            print(json.dumps(values), flush=True)
            return
        self._line(words_of(progress) + ("" if state == "running" else f", {state}"))

    def _line(self, words: str) -> None:
        words = visible(f"{self._experiment} on {self._model}: {words}", keep="")
        print(f"\r\x1b[K{words}" if self._live else words, end="" if self._live else "\n",
              file=sys.stderr, flush=True)  # fmt: skip


def failure_line(failure: Failure) -> str:
    """Say what failed, and why."""
    prompt = f"prompt {failure.prompt}" if failure.prompt else ""
    where = ", ".join(filter(None, (failure.condition, prompt))) or "the whole run"
    return f"{where}: {failure.message}"


def words_of(progress: Progress) -> str:
    """Say how far a run is, and how long it will take."""
    words = f"{progress.done:,} of {progress.total:,} cells"
    if progress.failed:
        words += f", {progress.failed:,} failed"
    if progress.rate:
        words += f", {progress.rate:,.0f} tokens/s"
    if progress.seconds_left:
        words += f", {duration(progress.seconds_left)} left"
    for absence in progress.absent:
        since = f"since {clock(absence.since)}"
        words += f"; {absence.who} is {'left out' if absence.until is None else 'away'} {since}"
    return words


def changes(before: Sequence[Absence], now: Sequence[Absence]) -> Iterator[str]:
    """Say who is away, and who is back, that was not before."""
    for absence in now:
        if absence not in before:
            until = absence.until and f"It is waited for until {clock(absence.until)}."
            yield f"{absence.reason} {until or 'It is left out from here on.'}"
    for absence in before:
        if absence.who not in {other.who for other in now}:
            lasted = duration(time.time() - absence.since)
            yield f"The server at {absence.who} is back, after {lasted}."


def clock(moment: float) -> str:
    """Return a moment of `time.time` as this machine's clock shows it."""
    return time.strftime("%H:%M:%S", time.localtime(moment))


def duration(seconds: float) -> str:
    """Return a time in its two largest units, rounded up: `1 min 40 s`."""
    whole = int(seconds) + (seconds > int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def say(words: str) -> None:
    """Print words in which nothing is silent: a name may hold what commands a terminal."""
    print(visible(words))


def print_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    if not rows:
        print("  none yet")
        return
    lines = [[name.replace("_", " ") for name in columns]]
    lines += [[_cell(row[name]) for name in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        say(f"  {'  '.join(cells).rstrip()}")


def _cell(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return visible(text, keep="")


def print_json(values: object) -> None:
    print(json.dumps(values, indent=1, ensure_ascii=False))
