"""A run: the cells of an experiment that are missing, written and stored as they come.

    store = Store("mine.lab")
    for progress in run(EXPERIMENTS["main"], suite, model, store):
        print(progress.done, progress.total)

To close the iterator is to stop: what was written is stored, and the next run goes on from there.
The cells of one prompt, seed and sample stay together, for they share prompt and dice; beyond that
their order is drawn by lot. So intervals over what is there are sound at any time, and two
processes that run the same experiment into one store meet only now and then: each looks again
whether a cell is there before it begins it.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count, groupby
from time import perf_counter

from xtc_viz.errors import PromptError, SettingsError, StoreError, XTCVizError
from xtc_viz.lab.cell import SAMPLING, Cell, cells, run_name
from xtc_viz.lab.experiment import Experiment, effective
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.store import Store, Written
from xtc_viz.lab.suite import Kind, Prompt, Suite
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.packed import Steps
from xtc_viz.records.trace import FinishReason, token_ids
from xtc_viz.rows import Row, RowStep, decode_rows
from xtc_viz.runs.protection import worth_naming
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings

ROWS = 16
BATCH = 16
"""Cells in a transaction, where they come that fast."""
LONGEST_WAIT = 1.0
"""Seconds for which a cell that is written may wait for others to be stored with."""
EVERY = 0.2
"""Seconds between two reports where no cell is finished."""
PATIENCE = 3
"""So many forwards of a single row may fail one after another."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a prompt could not be written on under a condition, or, where `prompt` is "", why none
    could."""

    condition: str
    prompt: str
    message: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    `done` of `total` cells are there: `before` of them since before this run, `written` ones by it,
    the rest by another process at the same time. `failed` ones will not be. `tokens` were written
    in `seconds`. `cell` is the latest that was finished.
    """

    total: int
    before: int
    done: int
    written: int = 0
    failed: int = 0
    tokens: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    failures: tuple[Failure, ...] = ()
    cell: Cell | None = None

    @property
    def rate(self) -> float | None:
        """Tokens a second of this run."""
        return self.tokens / self.seconds if self.seconds and self.tokens else None


def run(
    experiment: Experiment,
    suite: Suite,
    model: LanguageModel,
    store: Store,
    *,
    rows: int = ROWS,
    lot: random.Random | None = None,
) -> Generator[Progress, None, None]:
    """Write the cells of an experiment that the store lacks, up to `rows` side by side.

    Yields at the begin, when cells are finished, at least every `EVERY` seconds while steps go on,
    and at the end. `lot` decides the order of the cells.

    A prompt or a condition that this model cannot take is a `Failure`, and the rest goes on. Where
    a forward itself fails (memory runs out), what it was at is decoded again with half the rows.

    Raises:
        SettingsError: `rows` is less than 1.
        StoreError: the store cannot be read or written.
        Exception: what the model raised, when even single rows fail one after another.
    """
    if rows < 1:
        raise SettingsError("rows", "at least 1", rows)
    identity = Identity.of(model)
    plan = list(cells(experiment, suite, identity))
    present = store.present(cell.name for cell in plan)
    name = run_name(experiment, suite, identity)
    store.begin_run(name, experiment.to_dict(), suite.to_dict(), identity, model.info, SAMPLING)
    missing = [cell for cell in plan if cell.name not in present]
    writer = _Writer(
        experiment, model, store, identity, _by_lot(missing, lot or random.Random()), len(plan)
    )
    yield writer.progress()
    with closing(writer.write(rows)) as reports:
        yield from reports
    yield writer.progress()


def _by_lot(missing: Sequence[Cell], lot: random.Random) -> list[Cell]:
    groups = [list(g) for _, g in groupby(missing, key=lambda c: (c.seed, c.prompt.id, c.sample))]
    lot.shuffle(groups)
    return [cell for group in groups for cell in group]


@dataclass(slots=True)
class _Draft:
    """A cell while it is being written, with what it was decoded as."""

    cell: Cell
    sampler: SamplerSettings
    asked: dict[str, object]
    steps: Steps = field(default_factory=Steps)
    ids: set[int] = field(default_factory=set)
    begun: float = field(default_factory=perf_counter)


class _Writer:
    """One run while it goes on: the cells that wait, those in flight, those to be stored."""

    def __init__(
        self, experiment: Experiment, model: LanguageModel, store: Store, identity: Identity,
        missing: Sequence[Cell], total: int,
    ) -> None:  # fmt: skip
        self._experiment = experiment
        self._model = model
        self._store = store
        self._identity = identity
        self._waiting = deque(missing)
        self._total, self._before = total, total - len(missing)
        self._drafts: dict[int, _Draft] = {}
        self._ready: list[Written] = []
        self._flushed = self._begin = perf_counter()
        self._elsewhere = self._failed = self._tokens = 0
        self._lengths: list[int] = []
        self._failures: dict[tuple[str, str], Failure] = {}
        self._latest: Cell | None = None
        # What a condition and a prompt come to on this model, or why they cannot be.
        self._samplers: dict[str, SamplerSettings | XTCVizError] = {}
        self._prompts: dict[Prompt, dict[str, object] | XTCVizError] = {}
        self._texts: dict[int, str] = {}

    def progress(self) -> Progress:
        seconds = perf_counter() - self._begin
        left = len(self._waiting) + len(self._drafts)
        seconds_left: float | None = 0.0
        if left:
            finished = self._lengths
            mean = sum(finished) / len(finished) if finished else self._experiment.length
            flying = sum(len(draft.steps) for draft in self._drafts.values())
            tokens_left = max(left * mean - flying, 1.0)
            seconds_left = tokens_left * seconds / self._tokens if self._tokens else None
        return Progress(
            total=self._total,
            before=self._before,
            done=self._before + self._elsewhere + len(self._lengths),
            written=len(self._lengths),
            failed=self._failed,
            tokens=self._tokens,
            seconds=seconds,
            seconds_left=seconds_left,
            failures=tuple(self._failures.values()),
            cell=self._latest,
        )

    def write(self, rows: int) -> Generator[Progress, None, None]:
        """Decode and store what waits; again with fewer rows where a forward fails."""
        fruitless = 0
        try:
            while self._waiting:
                finished = len(self._lengths)
                try:
                    yield from self._decode(rows)
                except StoreError:
                    raise
                except Exception as error:
                    fruitless = fruitless + 1 if finished == len(self._lengths) else 1
                    flying = [draft.cell for draft in self._drafts.values()]
                    self._drafts.clear()
                    self._waiting.extendleft(reversed(flying))
                    if rows > 1:
                        rows //= 2
                    elif fruitless < PATIENCE and flying:
                        self._waiting.popleft()
                        self._fail(flying[0], f"{type(error).__name__}: {error}")
                    else:
                        raise
        finally:
            self._flush()

    def _decode(self, rows: int) -> Generator[Progress, None, None]:
        reported = perf_counter()
        with closing(decode_rows(self._model, self._rows(), at_once=rows)) as rounds:
            for entries, _ in rounds:
                ended = [self._take(entry) for entry in entries]
                now = perf_counter()
                if len(self._ready) >= BATCH or now - self._flushed > LONGEST_WAIT:
                    self._flush()
                if any(ended) or now - reported > EVERY:
                    reported = now
                    yield self.progress()

    def _rows(self) -> Iterator[Row]:
        """Give the decoder a row for each cell that waits, when it has a place for it."""
        for number in count():
            draft = self._next()
            if draft is None:
                return
            self._drafts[number] = draft
            ids = draft.asked["ids"]
            assert isinstance(ids, list)
            yield Row(
                prompt_ids=ids,
                sampler=draft.sampler,
                seed=draft.cell.dice,
                max_new_tokens=self._experiment.length,
                stop=self._experiment.stop,
                name=f"{draft.cell.condition.name!r}, prompt {draft.cell.prompt.id!r}",
            )

    def _next(self) -> _Draft | None:
        """Return the next cell that can be written and is not there by now."""
        while self._waiting:
            cell = self._waiting.popleft()
            sampler, asked = self._sampler(cell.condition), self._asked(cell.prompt)
            if isinstance(sampler, XTCVizError):
                self._fail(cell, str(sampler), all_prompts=True)
            elif isinstance(asked, XTCVizError):
                self._fail(cell, str(asked))
            elif cell.name in self._store:
                self._elsewhere += 1
            else:
                return _Draft(cell, sampler, asked)
        return None

    def _request(self, prompt: Prompt, condition: LaneSettings) -> Request:
        own = LaneSettings(condition.name, effective(condition.sampler))
        settings = RunSettings(lanes=(own,), max_new_tokens=self._experiment.length)
        return Request(prompt.text, settings, self._experiment.protect, prompt.system, prompt.chat)

    def _sampler(self, condition: LaneSettings) -> SamplerSettings | XTCVizError:
        """Return the settings that a condition means on this model."""
        if condition.name not in self._samplers:
            prompt = Prompt("", "", Kind.CONTINUE, "")
            try:
                lane = self._request(prompt, condition).guarded(self._model).lanes[0]
                self._samplers[condition.name] = lane.sampler
            except XTCVizError as error:
                self._samplers[condition.name] = error
        return self._samplers[condition.name]

    def _asked(self, prompt: Prompt) -> dict[str, object] | XTCVizError:
        """Return a prompt as this model takes it."""
        if prompt not in self._prompts:
            request = self._request(prompt, self._experiment.conditions[0])
            chat = prompt.chat and self._model.info.has_chat_template
            try:
                self._prompts[prompt] = {
                    "text": prompt.text,
                    "system": prompt.system if chat else "",
                    "chat": chat,
                    "ids": request.encode(self._model),
                }
            except PromptError as error:
                self._prompts[prompt] = error
        return self._prompts[prompt]

    def _take(self, entry: RowStep) -> bool:
        """Take a step of a cell in; return whether the cell ended with it."""
        draft = self._drafts[entry.row]
        if entry.step is None:
            del self._drafts[entry.row]
            self._fail(draft.cell, str(entry.error))
            return True
        draft.steps.append(entry.step)
        draft.ids |= token_ids((entry.step,))
        self._tokens += 1
        if entry.finish is None:
            return False
        del self._drafts[entry.row]
        self._lengths.append(len(draft.steps))
        self._latest = draft.cell
        if not self._ready:
            self._flushed = perf_counter()
        self._ready.append(self._written(draft, entry.finish))
        return True

    def _written(self, draft: _Draft, finish: FinishReason) -> Written:
        steps = list(draft.steps)
        ids = draft.ids.union(draft.asked["ids"])  # type: ignore[arg-type]
        ids |= worth_naming(draft.sampler.xtc.protected, self._model.info)
        for token in ids - self._texts.keys():
            self._texts[token] = self._model.token_text(token)
        # The sign of an end belongs to no text.
        spoken = steps[:-1] if finish is FinishReason.EOS else steps
        return Written(
            name=draft.cell.name,
            sampler=draft.sampler.to_dict(),
            prompt=draft.asked,
            dice=draft.cell.dice,
            length=self._experiment.length,
            stop=self._experiment.stop,
            finish=str(finish),
            tokens=tuple(step.token for step in steps),
            text="".join(step.text for step in spoken),
            seconds=perf_counter() - draft.begun,
            texts={token: self._texts[token] for token in ids},
            steps=draft.steps.to_bytes(),
        )

    def _fail(self, cell: Cell, message: str, *, all_prompts: bool = False) -> None:
        prompt = "" if all_prompts else cell.prompt.id
        failure = Failure(cell.condition.name, prompt, message)
        self._failures.setdefault((cell.condition.name, prompt), failure)
        self._failed += 1

    def _flush(self) -> None:
        """Store what is ready."""
        self._flushed = perf_counter()
        if self._ready:
            self._store.add(self._ready, self._identity, self._model.info)
            self._ready.clear()
