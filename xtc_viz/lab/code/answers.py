"""The program in an answer, and what its tests say of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from xtc_viz.errors import shown
from xtc_viz.lab.checks import PARSES, Verdict, plain
from xtc_viz.lab.code.sandbox import Outcome

_BLOCK = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)


def program(text: str, function: str) -> str:
    """Return the program of an answer: the last fenced block that defines the function, the last
    block where none does, and the whole text without one."""
    blocks: list[str] = _BLOCK.findall(text)
    defines = re.compile(rf"\bdef\s+{re.escape(function)}\b")
    fitting = [block for block in blocks if defines.search(block)] or blocks
    return fitting[-1] if fitting else plain(text)


def verdicts(
    text: str, check: Mapping[str, Any], run: Callable[..., Outcome]
) -> tuple[Verdict, ...]:
    """Judge an answer by the tests of its prompt: whether it is Python, and what each call gives.

    `run` is `sandbox.run`, or does the same.

    Raises:
        SandboxError: as `run` does.
    """
    tests = check["tests"]
    calls = [test["arguments"] for test in tests]
    outcome = run(program(text, check["function"]), check["function"], calls)
    results = [Verdict(PARSES, outcome.parsed, "" if outcome.parsed else _why(outcome, 0))]
    for number, test in enumerate(tests):
        right = number in outcome.values and same(outcome.values[number], test["result"])
        note = ""
        if not right:
            wanted = f"not {shown(test['result'])}"
            returned = number in outcome.values
            note = (
                f"gave {shown(outcome.values[number])}, {wanted}" if returned
                else _why(outcome, number)
            )  # fmt: skip
        results.append(Verdict(f"test {number + 1}", right, note))
    return tuple(results)


def same(value: object, wanted: object) -> bool:
    """Whether two values that came as JSON are the same: numbers up to rounding, no 1 for true."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, (int, float)) and isinstance(wanted, (int, float)):
        if isinstance(value, int) and isinstance(wanted, int):
            return value == wanted
        try:
            return math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-12)
        except OverflowError:
            return False
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(same, value, wanted))
    if isinstance(value, dict) and isinstance(wanted, dict):
        return value.keys() == wanted.keys() and all(same(value[k], wanted[k]) for k in wanted)
    return type(value) is type(wanted) and value == wanted


def _why(outcome: Outcome, number: int) -> str:
    errors = outcome.errors
    return errors.get(-1) or errors.get(number) or outcome.ended or "gave nothing"
