"""`xtc-viz vectors`: write test vectors of an engine's XTC."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from xtc_viz import __version__
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.vectors.formats import to_json, to_tsv
from xtc_viz.engines.vectors.make import vectors

DONE, FAILED = 0, 1
MOST = 100_000
FORMATS = {"json": to_json, "tsv": to_tsv}

_EPILOG = """examples:
  xtc-viz vectors --dialect llama.cpp -o llamacpp.json
  xtc-viz vectors --dialect mlx-lm --count 1000 --seed 1 --format tsv

docs/vectors.md describes the formats, and has a runner in Python and one in C++."""


def main(arguments: Sequence[str]) -> int:
    """Write the vectors and return the exit code. Raises `SystemExit` for help and wrong input."""
    options = parser().parse_args(arguments)
    engine = ENGINES[options.dialect]
    made = vectors(engine, options.count, options.seed)
    text = FORMATS[options.format](engine, made, options.seed, f"xtc_viz {__version__}")
    try:
        if options.output:
            options.output.write_text(text, encoding="utf-8", newline="\n")
        else:
            print(text, end="")
    except OSError as error:
        print(f"xtc-viz vectors: {error}", file=sys.stderr)
        return FAILED
    return DONE


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="xtc-viz vectors",
        description="Write test vectors of an engine's XTC: distributions, settings, survivors.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("--dialect", required=True, choices=ENGINES, metavar="ENGINE", help=", ".join(ENGINES))
    add("-o", "--output", type=Path, metavar="FILE", help="where to write (default: print)")
    many = "how many cases by chance beside the edges (default: %(default)s)"
    add("--count", type=_count, default=200, metavar="N", help=many)
    add("--seed", type=int, default=7, metavar="S", help="decides them (default: %(default)s)")
    add("--format", choices=FORMATS, default="json", help="(default: %(default)s)")
    return made


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value <= MOST:
        raise argparse.ArgumentTypeError(f"must be in [0, {MOST:,}], but is {text}")
    return value
