"""Run all benchmarks, or those named, and print one table.

`--write` keeps the results in `results.json` and shows all that stands there in the README.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import torch

from bench import (
    chromium,
    decode,
    gpu,
    lab,
    metrics,
    operator,
    plugins,
    recording,
    remote,
    rows,
    stack,
    trap,
)
from bench.timing import Result, machine, table

RESULTS = Path(__file__).with_name("results.json")
README = Path(__file__).resolve().parents[1] / "README.md"
_SECTION = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)


def benchmarks() -> list[ModuleType]:
    """All of them; that of the page only where there is a browser to run it."""
    found: list[ModuleType] = [
        operator, stack, recording, decode, rows, remote, lab, metrics, plugins, trap, gpu,
    ]  # fmt: skip
    if find_spec("playwright") and chromium.PATH:
        from bench import page

        return [*found, page]
    print("page: left out, it needs requirements-dev.txt and Chromium", file=sys.stderr)
    return found


class Measured(NamedTuple):
    """The results of a benchmark, and the machine that they were measured on."""

    where: str
    results: list[Result]


def shown(kept: Mapping[str, Measured]) -> str:
    """Return what the README shows of benchmarks: a table for each machine."""
    by_machine: dict[str, list[Result]] = {}
    for where, results in kept.values():
        by_machine.setdefault(where, []).extend(results)
    return "\n".join(section(where, results) for where, results in by_machine.items())


def section(where: str, results: list[Result]) -> str:
    """Return the name of a machine, and the table of what was measured on it."""
    return f"Measured on {where}.\n\n{table(results)}\n"


def stored() -> dict[str, Measured]:
    """Return the results that were kept, by benchmark."""
    if not RESULTS.exists():
        return {}
    data = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {
        name: Measured(one["machine"], [Result(**values) for values in one["results"]])
        for name, one in data.items()
    }


def keep(measured: Mapping[str, list[Result]]) -> None:
    """Put these results into `results.json` and the README, in place of older ones of the same
    benchmarks. Those of others stay as they are, with the machine that they are of."""
    here = machine()
    kept = stored() | {name: Measured(here, some) for name, some in measured.items() if some}
    data = {
        name: {"machine": where, "results": [asdict(result) for result in results]}
        for name, (where, results) in kept.items()
    }
    text = json.dumps(data, indent=1, ensure_ascii=False)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")
    readme = README.read_text(encoding="utf-8")
    README.write_text(_SECTION.sub(lambda m: m[1] + shown(kept) + m[2], readme), encoding="utf-8")


def main() -> None:
    found = {module.__name__.removeprefix("bench."): module for module in benchmarks()}
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(found))
    parser.add_argument("--write", action="store_true", help="update results.json and README.md")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in found]:
        parser.error(f"no benchmark is called {unknown[0]}: there are {', '.join(found)}")
    torch.set_num_threads(1)
    measured: dict[str, list[Result]] = {}
    for name in arguments.names or found:
        print(f"{name} …", file=sys.stderr, flush=True)
        measured[name] = found[name].measure()
    results = [result for group in measured.values() for result in group]
    print(section(machine(), results))
    if arguments.write:
        keep(measured)
    sys.exit(0 if all(result.met for result in results) else 1)


if __name__ == "__main__":
    main()
