"""All answers of a run that are code: each judged once, its verdicts kept beside its cell."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice

from xtc_viz.lab.cell import Cell
from xtc_viz.lab.checks import Verdict, judge_name
from xtc_viz.lab.code import sandbox
from xtc_viz.lab.code.answers import verdicts
from xtc_viz.lab.reading import CODE_JUDGE, Filter, cells_of, entries
from xtc_viz.lab.reading import verdicts as stored_verdicts
from xtc_viz.lab.store import RunRecord, Store
from xtc_viz.lab.suite import Kind, Suite

EVERY = 0.2
"""Seconds between two reports where nothing is judged."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How far it is: `done` of `total` answers are judged, `passed` of those done now passed."""

    total: int
    done: int
    passed: int


def code_prompts(run: RunRecord) -> tuple[str, ...]:
    """Return the ids of a run's prompts that ask for code."""
    prompts = Suite.from_dict(run.suite).prompts
    return tuple(prompt.id for prompt in prompts if prompt.kind is Kind.CODE)


def judge_code(
    store: Store, run: RunRecord, *, shut: bool = True, processes: int | None = None
) -> Generator[Judged, None, None]:
    """Run the code of all answers that are there and not judged yet, and store the verdicts.

    `shut` False runs it too where it cannot be shut in (`sandbox.run`). `processes` at once, as
    many as there are processors by default. To close the iterator is to stop; what was judged is
    kept.

    Raises:
        SandboxError: it cannot be shut in here; nothing was run.
        StoreError: the store cannot be read or written.
    """
    prompts = code_prompts(run)
    plan = cells_of(run, Filter(prompts=prompts)) if prompts else []
    known = stored_verdicts(store, plan)
    missing = [cell for cell in plan if cell.name not in known]
    texts = {cell: entry.text for cell, entry in entries(store, missing)}
    if texts and shut:
        sandbox.check()
    done, passed, total = 0, 0, len(texts)
    yield Judged(total, done, passed)
    at_once = processes or os.cpu_count() or 1
    # A thread a process: it only waits for it.
    with ThreadPoolExecutor(at_once, "judge") as pool:
        waiting = iter(texts.items())
        flying: dict[Future[tuple[Verdict, ...]], Cell] = {}

        def more() -> Iterator[tuple[Cell, str]]:
            return islice(waiting, at_once - len(flying))

        try:
            while True:
                for cell, text in more():
                    own = partial(sandbox.run, shut=shut)
                    flying[pool.submit(verdicts, text, cell.prompt.check, own)] = cell
                if not flying:
                    return
                ended, _ = wait(flying, EVERY, FIRST_COMPLETED)
                outcomes = {flying.pop(future): future.result() for future in ended}
                if outcomes:
                    store.judge({_key(cell): own for cell, own in outcomes.items()})
                done += len(outcomes)
                passed += sum(all(one.passed for one in own) for own in outcomes.values())
                yield Judged(total, done, passed)
        finally:
            for future in flying:
                future.cancel()


def _key(cell: Cell) -> tuple[str, str]:
    return cell.name, judge_name(cell.prompt.check, CODE_JUDGE)
