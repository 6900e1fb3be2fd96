"""Reading back: the cells of a stored run as generations, in counts, and one as a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from xtc_viz.errors import StoreError, shown
from xtc_viz.lab.cell import Cell, cells
from xtc_viz.lab.checks import Verdict, judge_name
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.generation import Generation
from xtc_viz.lab.store import Entry, Failure, RunRecord, Store
from xtc_viz.lab.suite import Kind, Suite
from xtc_viz.records.packed import Steps
from xtc_viz.records.step import Step
from xtc_viz.records.trace import FinishReason, LaneTrace, Trace, token_ids
from xtc_viz.runs.protection import worth_naming
from xtc_viz.settings import LaneSettings, RunSettings

CODE_JUDGE = 1
"""The version of how code is judged (`code`); raised when the same text comes to other verdicts."""
_AT_ONCE = 64
"""Cells whose steps are read together."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which cells of a run are wanted: those that fit all of these; an empty one fits everything.

    `conditions` are names, `prompts` ids.
    """

    conditions: Collection[str] = ()
    prompts: Collection[str] = ()
    genres: Collection[str] = ()
    seeds: Collection[int] = ()
    samples: Collection[int] = ()

    def fits(self, cell: Cell) -> bool:
        return (
            (not self.conditions or cell.condition.name in self.conditions)
            and (not self.prompts or cell.prompt.id in self.prompts)
            and (not self.genres or cell.prompt.genre in self.genres)
            and (not self.seeds or cell.seed in self.seeds)
            and (not self.samples or cell.sample in self.samples)
        )


ALL = Filter()


@dataclass(frozen=True, slots=True)
class Count:
    """What is there of one condition: `done` of `total` cells, with `mean_tokens` each, the share
    `ended` of which came to an end of text; None where nothing is there."""

    condition: str
    total: int
    done: int
    mean_tokens: float | None
    ended: float | None


def find_run(store: Store, word: str, besides: str = "") -> RunRecord:
    """Return the run whose name begins with `word`, or else the latest of an experiment so called.

    That of the name `besides` is left out.

    Raises:
        StoreError: there is none, or more than one begin so.
    """
    runs = [run for run in store.runs() if run.name != besides]
    if not runs:
        raise StoreError(f"This store holds no {'other ' if besides else ''}run yet.")
    named = [run for run in runs if run.experiment["name"] == word]
    begun = [run for run in runs if word and run.name.startswith(word)]
    if not named and len(begun) > 1:
        raise StoreError(f"The names of {len(begun)} runs begin with {shown(word)}: give more.")
    if not named and not begun:
        known = ", ".join(f"{run.name} ({run.experiment['name']})" for run in runs)
        raise StoreError(f"This store holds no run {shown(word)}; it holds {known}.")
    return (named or begun)[0]


def find_cell(store: Store, word: str) -> str:
    """Return the name of the cell that begins with `word`. Raises `StoreError`."""
    names = store.names_like(word) if word else []
    if len(names) != 1:
        problem = "No cell's name begins" if not names else "The names of several cells begin"
        raise StoreError(f"{problem} with {shown(word)}.")
    return names[0]


def experiment_of(run: RunRecord) -> Experiment:
    return Experiment.from_dict(run.experiment)


def cells_of(run: RunRecord, wanted: Filter = ALL) -> list[Cell]:
    """Return the cells that a run asks for, written or not."""
    suite = Suite.from_dict(run.suite)
    every = cells(experiment_of(run), suite, run.identity, run.sampling)
    return [cell for cell in every if wanted.fits(cell)]


def entries(store: Store, plan: Sequence[Cell]) -> Iterator[tuple[Cell, Entry]]:
    """Return those of these cells that are there, in their order, without steps."""
    there = store.entries(cell.name for cell in plan)
    return ((cell, there[cell.name]) for cell in plan if cell.name in there)


def generations(
    store: Store, run: RunRecord, wanted: Filter = ALL, *, steps: bool = False
) -> Iterator[Generation]:
    """Return what is there of a run, in the order of its cells, with steps where they are wanted.

    Raises:
        StoreError: the store cannot be read.
        TraceError: the steps of a cell are broken.
    """
    plan = cells_of(run, wanted)
    for first in range(0, len(plan), _AT_ONCE):
        some = list(entries(store, plan[first : first + _AT_ONCE]))
        packed = dict(store.steps(cell.name for cell, _ in some)) if steps else {}
        judged = verdicts(store, [cell for cell, _ in some])
        for cell, entry in some:
            data = packed.get(cell.name)
            read = Steps.from_bytes(data) if data else ()
            yield _generation(cell, entry, read, judged.get(cell.name, ()))


def verdicts(store: Store, plan: Sequence[Cell]) -> dict[str, tuple[Verdict, ...]]:
    """Return the stored verdicts of those of these cells that have some: of code that was run."""
    wanted = {
        (cell.name, judge_name(cell.prompt.check, CODE_JUDGE)): cell.name
        for cell in plan
        if cell.prompt.kind is Kind.CODE
    }
    stored = store.verdicts(wanted.values()) if wanted else {}
    return {
        wanted[key]: tuple(Verdict(*row) for row in rows)
        for key, rows in stored.items()
        if key in wanted
    }


def failures(store: Store, run: RunRecord) -> tuple[Failure, ...]:
    """Return why cells of a run are missing, as far as that is known.

    What failed once and was written since, by another process, explains nothing any more.
    """
    noted = store.failures(run.name)
    if not noted:
        return ()
    plan = cells_of(run)
    there = store.present(cell.name for cell in plan)
    missing = {
        key
        for cell in plan
        if cell.name not in there
        for key in (("", ""), (cell.condition.name, ""), (cell.condition.name, cell.prompt.id))
    }
    return tuple(one for one in noted if (one.condition, one.prompt) in missing)


def counts(store: Store, run: RunRecord) -> list[Count]:
    """Return what is there of a run, condition by condition."""
    plan = cells_of(run)
    there: dict[str, list[Entry]] = {}
    for cell, entry in entries(store, plan):
        there.setdefault(cell.condition.name, []).append(entry)
    totals = Counter(cell.condition.name for cell in plan)
    return [_count(name, total, there.get(name, [])) for name, total in totals.items()]


def _count(name: str, total: int, own: Sequence[Entry]) -> Count:
    if not own:
        return Count(name, total, 0, None, None)
    ended = sum(entry.finish == FinishReason.EOS for entry in own)
    tokens = sum(entry.count for entry in own)
    return Count(name, total, len(own), tokens / len(own), ended / len(own))


def trace(store: Store, name: str, label: str = "") -> Trace:
    """Return a stored cell as a run of one lane, which the page opens as it opens any other.

    Its seed is that of the cell's dice: the same prompt, settings and seed give the same lane on
    the page. `label` is the lane's name, that of its condition where nothing else is said.

    Raises:
        StoreError: there is no such cell, or its steps are missing.
        TraceError: its steps are broken.
    """
    cell, info = store.read(name)
    if not cell.steps:
        raise StoreError(f"The steps of the cell {name} are not in this store.")
    steps = Steps.from_bytes(cell.steps)
    lane = LaneSettings.from_dict({"name": label or _label(store, name), "sampler": cell.sampler})
    ids = tuple(cell.prompt["ids"])
    named = token_ids(steps).union(ids, worth_naming(lane.sampler.xtc.protected, info))
    return Trace(
        model=info,
        prompt=cell.prompt["text"],
        prompt_ids=ids,
        settings=RunSettings(
            lanes=(lane,), seed=cell.dice, max_new_tokens=cell.length, stop=cell.stop
        ),
        lanes=(LaneTrace(lane, steps, FinishReason(cell.finish)),),
        vocabulary={token: cell.texts[token] for token in sorted(named)},
        system=cell.prompt["system"],
        chat=cell.prompt["chat"],
        seconds=cell.seconds,
    )


def _label(store: Store, name: str) -> str:
    """Return the name of the condition of a cell, as the latest run that has it calls it."""
    for run in store.runs():
        for cell in cells_of(run):
            if cell.name == name:
                return cell.condition.name
    return "cell"


def _generation(
    cell: Cell, entry: Entry, steps: Sequence[Step], judged: tuple[Verdict, ...]
) -> Generation:
    return Generation(
        prompt=cell.prompt.id,
        condition=cell.condition.name,
        seed=cell.seed,
        sample=cell.sample,
        text=entry.text,
        genre=cell.prompt.genre,
        tokens=entry.tokens,
        finish=FinishReason(entry.finish),
        steps=steps,
        kind=cell.prompt.kind,
        check=cell.prompt.check,
        judged=judged,
    )
