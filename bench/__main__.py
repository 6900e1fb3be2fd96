"""Run all benchmarks and print one table; `--write` keeps it in `results.json` and the README."""

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

from bench import decode, operator, recording, stack, trap
from bench.timing import Result, machine, table

RESULTS = Path(__file__).with_name("results.json")
README = Path(__file__).resolve().parents[1] / "README.md"
_SECTION = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)


def benchmarks() -> list[ModuleType]:
    """All of them; that of the page only where there is a browser to run it."""
    found: list[ModuleType] = [operator, stack, recording, decode, trap]
    if find_spec("playwright") and shutil.which("chromium"):
        from bench import page

        return [*found, page]
    print("page: left out, it needs requirements-dev.txt and Chromium", file=sys.stderr)
    return found


def section(where: str, results: list[Result]) -> str:
    """Return what the README shows: the machine, and the table."""
    return f"Measured on {where}.\n\n{table(results)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--write", action="store_true", help="update results.json and README.md")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results: list[Result] = []
    for benchmark in benchmarks():
        print(f"{benchmark.__name__} …", file=sys.stderr, flush=True)
        results += benchmark.measure()
    print(section(machine(), results))
    if arguments.write:
        data = {"machine": machine(), "results": [asdict(result) for result in results]}
        RESULTS.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        text = README.read_text(encoding="utf-8")
        shown = section(machine(), results)
        README.write_text(_SECTION.sub(lambda m: m[1] + shown + m[2], text), encoding="utf-8")
    sys.exit(0 if all(result.met for result in results) else 1)


if __name__ == "__main__":
    main()
