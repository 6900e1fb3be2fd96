"""Run all benchmarks, or those named, and print one table.

`--write` keeps the results in `results.json` and shows all that stands there in the README.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import torch

from bench import (
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
    if find_spec("playwright") and shutil.which("chromium"):
        from bench import page

        return [*found, page]
    print("page: left out, it needs requirements-dev.txt and Chromium", file=sys.stderr)
    return found


def section(where: str, results: list[Result]) -> str:
    """Return what the README shows: the machine, and the table."""
    return f"Measured on {where}.\n\n{table(results)}\n"


def stored() -> dict[str, list[Result]]:
    """Return the results that were kept, by benchmark."""
    data = json.loads(RESULTS.read_text(encoding="utf-8"))["results"]
    return {name: [Result(**values) for values in results] for name, results in data.items()}


def keep(measured: dict[str, list[Result]]) -> None:
    """Put these results into `results.json` and the README, in place of older ones.

    Those of a GPU say themselves which one it was, and leave the machine of the others as it is.
    """
    measured = {name: results for name, results in measured.items() if results}
    former = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    kept = (stored() if former else {}) | measured
    where = machine() if measured.keys() - {"gpu"} or not former else former["machine"]
    data = {name: [asdict(result) for result in results] for name, results in kept.items()}
    text = json.dumps({"machine": where, "results": data}, indent=1, ensure_ascii=False)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")
    shown = section(where, [result for results in kept.values() for result in results])
    readme = README.read_text(encoding="utf-8")
    README.write_text(_SECTION.sub(lambda m: m[1] + shown + m[2], readme), encoding="utf-8")


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
