"""What all benchmarks share: interleaved medians, results against their limits, a table.

The clock is the CPU time of this process, which works in one thread: on an idle machine that is
the time on the wall, and beside busy neighbours it is still nearly that. On Linux it is as fine as
any: to read it takes under a microsecond, so that a single call of 100 µs can be timed.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time as clock
from typing import Literal

import torch
import transformers

_SAMPLE = 2e-2
"""Seconds that one sample takes at least: short calls are repeated, and mostly find warm caches."""
_OTHER_BYTES = 2**25
"""What is read between cold calls: more than a core's caches and its usual share of the common one.

A virtual machine is told the last-level cache of its whole host, hundreds of MB on a large one;
nobody's step has that to itself.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """One measured figure, the limit that it is held to, and what it was computed from."""

    what: str
    value: float
    unit: Literal["×", "µs", "ms", "s", "%", "B", "MB", "/s", ""]
    at_least: float | None = None
    at_most: float | None = None
    detail: str = ""

    @property
    def met(self) -> bool:
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        return low <= self.value <= high

    @property
    def figure(self) -> str:
        return f"{_three_digits(self.value)} {self.unit}"

    @property
    def limit(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g} {self.unit}"
        return "" if self.at_most is None else f"≤ {self.at_most:g} {self.unit}"


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def interleaved(
    cases: Mapping[str, Callable[[int], object]],
    rounds: int = 15,
    clock: Callable[[], float] = clock,
) -> dict[str, float]:
    """Return the median time of each case in seconds, all measured in turn.

    Each case is called with a running number, so that it can go round among several inputs.
    """
    repeats = {}
    for name, case in cases.items():
        times = []
        for i in range(5):
            begin = clock()
            case(i)
            times.append(clock() - begin)
        repeats[name] = max(1, math.ceil(_SAMPLE / min(times)))
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds):
        for name, case in cases.items():
            first = number * repeats[name]
            begin = clock()
            for i in range(first, first + repeats[name]):
                case(i)
            samples[name].append((clock() - begin) / repeats[name])
    return {name: median(times) for name, times in samples.items()}


def cold(
    cases: Mapping[str, Callable[[int], object]],
    rounds: int = 41,
    clock: Callable[[], float] = clock,
) -> dict[str, float]:
    """Return the median time in seconds of each case called once, its data and code out of cache.

    Before each call, outside the time taken, something else fills the caches, as the forward does
    in a real step. Every other round goes through the cases backwards.
    """
    other = torch.ones(_OTHER_BYTES // 4)
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 2):
        for name in list(cases)[:: -1 if number % 2 else 1]:
            other.amax()
            begin = clock()
            cases[name](number)
            elapsed = clock() - begin
            if number >= 2:  # the first rounds fetch the code from the disk
                samples[name].append(elapsed)
    return {name: median(times) for name, times in samples.items()}


def alternating(
    cases: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = clock
) -> dict[str, float]:
    """Return the median time of each long case; a first round warms up."""
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            begin = clock()
            case()
            if number:
                samples[name].append(clock() - begin)
    return {name: median(times) for name, times in samples.items()}


def time_text(seconds: float) -> str:
    """Return a time with a fitting unit."""
    if seconds < 1e-3:
        return f"{_three_digits(seconds * 1e6)} µs"
    return f"{_three_digits(seconds * 1e3)} ms" if seconds < 1 else f"{seconds:.2f} s"


def against(what: str, ours: float, reference: float, of: str, **limits: float) -> Result:
    """Return how many times faster `ours` is than `reference`."""
    detail = f"{time_text(ours)}, {of} {time_text(reference)}"
    return Result(what, reference / ours, "×", detail=detail, **limits)


def relative(what: str, ours: float, reference: float, of: str, **limits: float) -> Result:
    """Return how long `ours` takes as a multiple of `reference`."""
    detail = f"{time_text(ours)}, {of} {time_text(reference)}"
    return Result(what, ours / reference, "×", detail=detail, **limits)


def table(results: Iterable[Result]) -> str:
    """Return the results as a Markdown table."""
    rows = [("", "measured", "limit", "", "from")]
    rows += [(r.what, r.figure, r.limit, "✓" if r.met else "✗", r.detail) for r in results]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def machine() -> str:
    """Say what was measured on."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return (
        f"{os.cpu_count()} vCPUs ({cpu}), one torch thread, "
        f"Python {platform.python_version()}, torch {torch.__version__.partition('+')[0]}, "
        f"transformers {transformers.__version__}"
    )


def main(measure: Callable[[], list[Result]], doc: str | None) -> None:
    """Run one benchmark as a program: print its table; fail when a limit is missed."""
    argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    torch.set_num_threads(1)
    results = measure()
    print(f"{machine()}\n\n{table(results)}")
    sys.exit(0 if all(result.met for result in results) else 1)
