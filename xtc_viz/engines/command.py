"""`xtc-viz settings`: from one program's words into another's."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from xtc_viz.engines.forms import FORMS
from xtc_viz.engines.reader import Reading
from xtc_viz.engines.reading import form_of, read
from xtc_viz.engines.syntax import LONGEST
from xtc_viz.engines.writing import write
from xtc_viz.errors import XTCVizError, shown

OWN = "xtc_viz"
DONE, WRONG_INPUT = 0, 2

_EPILOG = """examples:
  xtc-viz settings preset.json
  xtc-viz settings preset.json --to "llama.cpp flags"
  echo "--temp 1 --xtc-probability 0.5" | xtc-viz settings --to "koboldcpp request"

The settings come to standard output; what was not understood, and what will differ, to standard
error.

exit codes: 0 done, 2 wrong input"""


def main(arguments: Sequence[str]) -> int:
    """Do it and return the exit code. Raises `SystemExit` for help."""
    options = parser().parse_args(arguments)
    try:
        if options.list:
            print("\n".join(FORMS))
            return DONE
        target = None if options.to == OWN else form_of(options.to)
        reading = read(_text(options.file), options.source)
        _tell(_heard(reading))
        if target is None:
            print(json.dumps(reading.lane.to_dict(), indent=2, ensure_ascii=False))
            return DONE
        written = write(reading.lane, target)
        _tell(written.remarks)
        print(written.text, end="")
        return DONE
    except (XTCVizError, OSError, UnicodeDecodeError) as error:
        print(f"xtc-viz settings: {error}", file=sys.stderr)
        return WRONG_INPUT


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="xtc-viz settings",
        description="Read the settings of a sampler in one program's words and say them in "
        "another's.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("file", nargs="?", default="-", help="a file of settings (default: standard input)")
    known = "as its names say (see --list)"
    add("--from", dest="source", metavar="FORM", help=f"how it is written (default: {known})")
    other = f"how to write it (default: {OWN}, a lane of this program as JSON)"
    add("--to", default=OWN, metavar="FORM", help=other)
    add("--list", action="store_true", help="print the names of all forms")
    return made


def _text(name: str) -> str:
    if name == "-":
        return sys.stdin.read(LONGEST + 1)
    try:
        with Path(name).open(encoding="utf-8-sig") as file:
            return file.read(LONGEST + 1)
    except OSError as error:
        raise XTCVizError(f"{shown(name)} cannot be read: {error.strerror}") from error


def _heard(reading: Reading) -> list[str]:
    """Return what there is to say of a text that was read."""
    form = reading.form
    words = [f"read as: {form.name if form else OWN}"]
    if reading.others:
        words.append(f"the same names are those of: {', '.join(reading.others)} (see --from)")
    words += [
        f"not said, and on there: {one.name} {one.value} ({one.label} {one.ours})"
        for one in reading.assumed
    ]
    words += reading.problems
    return words + ([f"no settings of a lane: {', '.join(reading.left)}"] if reading.left else [])


def _tell(words: Sequence[str]) -> None:
    for one in words:
        print(f"# {one}", file=sys.stderr)
