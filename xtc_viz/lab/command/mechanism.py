"""`mechanism`: what XTC did in each condition of a run, in numbers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from xtc_viz.errors import SettingsError
from xtc_viz.lab.command.base import DONE, Task, add_run, run_values, stored_run
from xtc_viz.lab.printing import print_json, print_table, say

if TYPE_CHECKING:
    from xtc_viz.lab.mechanism import Mechanism
    from xtc_viz.lab.results import Observed

BY = ("position", "genre", "openness")
SHOWN = ("ambiguous", "activation", "top_changed", "changed", "eligible", "removed_mass",
         "tail_before", "tail_after")  # fmt: skip
"""The quantities that are columns where there are rows for labels; else all are."""
AT_ONCE = 8
"""Positions of a row, where they are printed for people."""


def _add(task: argparse.ArgumentParser) -> None:
    add_run(task)
    task.add_argument("--by", metavar="|".join(BY), help="apart for each of these")


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.lab.results import observed

    if options.by is not None and options.by not in BY:
        raise SettingsError("by", f"one of {', '.join(BY)}", options.by)
    with stored_run(options) as (store, run):
        found = observed(store, run)
    if options.json:
        values = {
            name: {
                "all": asdict(one.whole),
                **({options.by: _plain(one, options.by)} if options.by else {}),
            }
            for name, one in found.items()
        }
        print_json(run_values(run) | {"conditions": values})
        return DONE
    say(f"{run.experiment['name']} on {run.identity.name}, run {run.name}")
    if options.by is None:
        _print_whole(found)
        return DONE
    for name, one in found.items():
        say(f"\n{name}")
        rows = [_row(label, own) for label, own in _parts(one, options.by)]
        print_table(rows, (options.by, "steps", *SHOWN))
    return DONE


def _plain(one: Observed, by: str) -> Any:
    if by == "position":
        return [asdict(own) for own in one.by_position]
    return {label: asdict(own) for label, own in _labelled(one, by)}


def _labelled(one: Observed, by: str) -> list[tuple[str, Mechanism]]:
    return list((one.by_genre if by == "genre" else one.by_openness).items())


def _parts(one: Observed, by: str) -> list[tuple[str, Mechanism]]:
    """Return the rows of a condition; positions in groups, each step counting the same."""
    if by != "position":
        return _labelled(one, by)
    groups = []
    for first in range(0, len(one.by_position), AT_ONCE):
        some = one.by_position[first : first + AT_ONCE]
        groups.append((f"{first + 1} to {first + len(some)}", _together(some)))
    return groups


def _together(some: Sequence[Mechanism]) -> Mechanism:
    """Return the means of the quantities of `SHOWN`, to which every step counts."""
    from xtc_viz.lab.mechanism import Mechanism

    steps = sum(own.steps for own in some)
    values = {
        name: sum(own.steps * (own.values[name] or 0.0) for own in some) / steps for name in SHOWN
    }
    return Mechanism(steps, dict(values))


def _print_whole(found: dict[str, Observed]) -> None:
    """Print all quantities as rows, the conditions as columns."""
    from xtc_viz.lab.mechanism import QUANTITIES

    rows = [{"": "steps"} | {name: f"{one.whole.steps:,}" for name, one in found.items()}]
    for quantity in QUANTITIES:
        row = {"": quantity.label + (f" ({quantity.unit})" if quantity.unit else "")}
        for name, one in found.items():
            row[name] = _number(one.whole.values[quantity.name])
        rows.append(row)
    print_table(rows, ("", *found))


def _row(label: str, own: Mechanism) -> dict[str, str]:
    numbers = {name: _number(own.values[name]) for name in SHOWN}
    return dict.fromkeys(BY, label) | {"steps": f"{own.steps:,}"} | numbers


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


TASK = Task("mechanism", 70, "say what XTC did in a run, at all steps or apart", _add, _do)
