"""What a store holds, for the page: its runs, and the texts behind a number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xtc_viz.errors import SettingsError, StoreError
from xtc_viz.lab.cell import Cell
from xtc_viz.lab.reading import Filter, cells_of, entries, experiment_of, find_run
from xtc_viz.lab.store import Entry, RunRecord, Store
from xtc_viz.records.trace import Trace

MOST_RUNS = 100


class Counts:
    """How many cells of each run are there; counted again only where the store has others."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[int, int, int]] = OrderedDict()

    def of(self, store: Store, run: RunRecord) -> tuple[int, int]:
        """Return (done, total)."""
        size = len(store)
        known = self._known.get(run.name)
        if known is None or known[0] != size:
            names = [cell.name for cell in cells_of(run)]
            known = (size, len(store.present(names)), len(names))
            self._known[run.name] = known
            while len(self._known) > MOST_RUNS:
                self._known.popitem(last=False)
        return known[1:]


def runs(path: Path, counts: Counts) -> list[dict[str, Any]]:
    """Return the runs of a store, the latest first; none where there is no store yet."""
    if not path.exists():
        return []
    with Store(path, create=False) as store:
        return [_run(store, run, counts) for run in store.runs()[:MOST_RUNS]]


def _run(store: Store, run: RunRecord, counts: Counts) -> dict[str, Any]:
    done, total = counts.of(store, run)
    experiment = run.experiment
    return {
        "run": run.name,
        "experiment": experiment["name"],
        "question": experiment.get("question", ""),
        "suite": run.suite["name"],
        "model": run.identity.name,
        "begun": run.begun,
        "length": experiment["length"],
        "conditions": [condition["name"] for condition in experiment["conditions"]],
        "done": done,
        "total": total,
    }


def samples(
    path: Path, run_name: str, condition: str, prompt: str, beside: str | None = None
) -> dict[str, Any]:
    """Return the texts of a prompt under a condition, each with that of the same dice under the
    condition `beside`, such as the baseline; and all prompts to choose from. `prompt` "" is the
    first that has texts.

    Raises:
        SettingsError: the run has no such condition or prompt.
        StoreError: there is no such run.
    """
    with Store(path, create=False) as store:
        run = find_run(store, run_name)
        names = [one.name for one in experiment_of(run).conditions]
        for name in (condition, beside):
            if name is not None and name not in names:
                raise SettingsError("condition", f"one of {', '.join(names)}", name)
        both = Filter(conditions={condition, beside or condition})
        plan = cells_of(run, both)
        prompts = {cell.prompt.id: cell.prompt for cell in plan}
        if prompt and prompt not in prompts:
            raise SettingsError("prompt", "one of this run", prompt)
        there = store.present(cell.name for cell in plan)
        written = [cell.prompt.id for cell in plan if cell.name in there]
        chosen = prompt or next(iter(written), next(iter(prompts)))
        own = [cell for cell in plan if cell.prompt.id == chosen]
        by_place = {_place(cell): (cell, entry) for cell, entry in entries(store, own)}
    places = dict.fromkeys((cell.seed, cell.sample) for cell in own)
    rows = [
        {"own": _text(by_place, condition, *place), "beside": _text(by_place, beside, *place)}
        for place in places
    ]
    return {
        "run": run.name,
        "condition": condition,
        "beside": beside,
        "prompt": chosen,
        "text": prompts[chosen].text,
        "prompts": [[one.id, one.genre, one.id in set(written)] for one in prompts.values()],
        "rows": [row for row in rows if row["own"] or row["beside"]],
        "missing": sum(not (row["own"] and (row["beside"] or not beside)) for row in rows),
    }


Place = tuple[str, int, int]


def _place(cell: Cell) -> Place:
    return cell.condition.name, cell.seed, cell.sample


def _text(
    by_place: Mapping[Place, tuple[Cell, Entry]], condition: str | None, seed: int, sample: int
) -> dict[str, Any] | None:
    if condition is None or (condition, seed, sample) not in by_place:
        return None
    cell, entry = by_place[condition, seed, sample]
    return {
        "cell": cell.name,
        "seed": seed,
        "sample": sample,
        "text": entry.text,
        "tokens": entry.count,
        "finish": entry.finish,
    }


def side_by_side(first: Trace, second: Trace) -> Trace:
    """Return two cells of one prompt and one set of dice as a run of two lanes.

    Raises:
        StoreError: they are no such pair.
    """
    from dataclasses import replace

    def shared(trace: Trace) -> tuple[object, ...]:
        settings = replace(trace.settings, lanes=first.settings.lanes)
        return trace.prompt_ids, settings, trace.model, trace.system, trace.chat

    if shared(first) != shared(second):
        raise StoreError("These two texts do not share their prompt, dice and model.")
    lanes = (*first.settings.lanes, *second.settings.lanes)
    return replace(
        first,
        settings=replace(first.settings, lanes=lanes),
        lanes=(*first.lanes, *second.lanes),
        vocabulary=dict(sorted({**first.vocabulary, **second.vocabulary}.items())),
        seconds=first.seconds + second.seconds,
    )
