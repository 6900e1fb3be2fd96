"""One generated program in a process of its own, within limits of time, memory, files and network.

    run("def f(n):\n    return n + 1", "f", [[1], [2]]).values    # {0: 2, 1: 3}

What it may and how it is shut in stands in `child`. This side believes nothing of it but the values
it gives: they are compared here with what is right, which the other side does not know.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from xtc_viz.errors import XTCVizError, shortened

CHILD = Path(__file__).with_name("child.py")
MIB = 2**20
START = 30.0
"""Seconds in which the process must be shut in; on a busy machine that takes its time."""
GRACE = 1.0
"""Seconds in which a process that is told to end may do so."""


class SandboxError(XTCVizError):
    """Generated code cannot be shut in here."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may take: `seconds` of the processor, `wall` on the clock, `memory` and
    `output` in bytes, the latter of all that it returns."""

    seconds: int = 2
    wall: float = 5.0
    memory: int = 512 * MIB
    output: int = MIB


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a program: whether it `parsed`, the values of its calls and the errors of others
    by their number, from 0, and why it ended early, "" where it did not. An error of number −1 is
    the program's own, before any call."""

    parsed: bool = False
    values: Mapping[int, Any] = field(default_factory=dict)
    errors: Mapping[int, str] = field(default_factory=dict)
    ended: str = ""


def check() -> None:
    """See whether a program can be shut in here. Raises `SandboxError`, saying what is missing."""
    run("def f():\n    return 1", "f", [[]])


def run(
    source: str,
    function: str,
    calls: Sequence[Sequence[Any]],
    *,
    limits: Limits = LIMITS,
    shut: bool = True,
) -> Outcome:
    """Run a program and call its function with each of these arguments.

    With `shut` False it runs too where it cannot be shut in, as far as it can be: it may then do
    all that this process may.

    Raises:
        SandboxError: it cannot be shut in; nothing of the program ran.
    """
    request = {
        "source": source,
        "function": function,
        "calls": [list(arguments) for arguments in calls],
        "limits": {"seconds": limits.seconds, "memory": limits.memory},
        "shut": shut,
    }
    # An interpreter that knows no site, no environment, and writes no bytecode.
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", str(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/" if os.name == "posix" else None,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdin
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(request).encode())
            with suppress(BrokenPipeError):
                process.stdin.close()
            lines, ended = _heard(process, limits)
        finally:
            _end(process)
    return _outcome(lines, ended, len(calls), limits)


def _heard(process: subprocess.Popen[bytes], limits: Limits) -> tuple[list[bytes], str]:
    """Return the lines that the process wrote, and why it was ended, where it was."""
    assert process.stdout
    data, ready = bytearray(), False
    deadline = monotonic() + START
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - monotonic())):
                return bytes(data).split(b"\n")[:-1], f"took longer than {limits.wall:g} s"
            part = os.read(process.stdout.fileno(), 1 << 16)
            data += part
            if not ready and b"\n" in data:
                ready, deadline = True, monotonic() + limits.wall
            if not part:
                return bytes(data).split(b"\n")[:-1], ""
            if len(data) > limits.output:
                kept = bytes(data[: limits.output]).split(b"\n")[:-1]
                return kept, f"wrote more than {limits.output >> 10:,} KiB"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process, and what it started: it ends that itself, or the whole group is killed."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _outcome(lines: Sequence[bytes], ended: str, calls: int, limits: Limits) -> Outcome:
    first = json.loads(lines[0]) if lines else {"refused": ended or "its process ended at once"}
    if "refused" in first:
        raise SandboxError(
            f"Generated code cannot be shut in here ({shortened(str(first['refused']))}), so none "
            "is run. It takes Linux with user namespaces, Landlock and seccomp."
        )
    parsed, values, errors = False, dict[int, Any](), dict[int, str]()
    for line in lines[1:]:
        try:
            number, kind, value = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            break  # the program wrote this itself
        due = len(values) + len(errors)
        if (number, kind) == (-1, "parsed") and not parsed:
            parsed = True
        elif kind == "error" and number in (-1, due):
            errors[number] = shortened(str(value), 300)
        elif kind == "value" and number == due and due < calls:
            values[number] = value
        else:
            break
    whole = -1 in errors or len(values) + len(errors) == calls
    if not whole and not ended:
        ended = f"ended early, as over {limits.seconds} s of the processor or out of memory"
    return Outcome(parsed, values, errors, "" if whole else ended)
