"""Cells written by a model: each as a row of the decoder, many side by side.

Nothing is stored here, and nothing is asked of a store: this is the part of a run that may stand on
another machine (`workers`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter

from xtc_viz.errors import PromptError, ServerError, SettingsError, StoreError, XTCVizError
from xtc_viz.lab.cell import Cell
from xtc_viz.lab.experiment import Experiment, effective
from xtc_viz.lab.news import News
from xtc_viz.lab.store import Failure, Written
from xtc_viz.lab.suite import Kind, Prompt
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.packed import Steps
from xtc_viz.records.trace import FinishReason, token_ids
from xtc_viz.rows import Row, RowStep, decode_rows
from xtc_viz.runs.protection import worth_naming
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings

PATIENCE = 3
"""So many forwards of a single row may fail one after another."""


@dataclass(slots=True)
class _Draft:
    """A cell while it is being written, with what it was decoded as."""

    cell: Cell
    sampler: SamplerSettings
    asked: dict[str, object]
    steps: Steps = field(default_factory=Steps)
    ids: set[int] = field(default_factory=set)
    begun: float = field(default_factory=perf_counter)


class Writer:
    """What writes cells of an experiment with a model, up to `rows` side by side."""

    def __init__(self, experiment: Experiment, model: LanguageModel, rows: int) -> None:
        """Raises `SettingsError` where `rows` is less than 1."""
        if rows < 1:
            raise SettingsError("rows", "at least 1", rows)
        self._experiment = experiment
        self._model = model
        self._at_once = rows
        self._drafts: dict[int, _Draft] = {}
        self._failed: list[tuple[str, Failure]] = []
        # What a condition and a prompt come to on this model, or why they cannot be.
        self._samplers: dict[str, SamplerSettings | XTCVizError] = {}
        self._prompts: dict[Prompt, dict[str, object] | XTCVizError] = {}
        self._texts: dict[int, str] = {}

    def write(self, cells: Iterable[Cell]) -> Generator[News, None, None]:
        """Write these cells, each taken when there is a place for it; news at each step.

        A prompt or a condition that this model cannot take is a `Failure`. Where a forward itself
        fails (memory runs out), what it was at is decoded again with half the rows, from then on.

        Raises:
            StoreError: as the iterator of the cells does.
            ServerError: the model's server gave no answer, or none that can be used; no row less
                would change that.
            Exception: what the model raised, when even single rows fail one after another.
        """
        waiting, fruitless, finished = deque[Cell](), 0, 0
        source = iter(cells)

        def those_left() -> Iterator[Cell]:
            while True:
                cell = waiting.popleft() if waiting else next(source, None)
                if cell is None:
                    return
                yield cell

        while True:
            before = finished
            try:
                for news in self._decode(those_left()):
                    finished += len(news.written)
                    yield news
                return
            except (StoreError, ServerError):
                raise
            except Exception as error:
                fruitless = fruitless + 1 if finished == before else 1
                flying = [draft.cell for draft in self._drafts.values()]
                self._drafts.clear()
                waiting.extendleft(reversed(flying))
                if self._at_once > 1:
                    self._at_once //= 2
                elif fruitless < PATIENCE and flying:
                    waiting.popleft()
                    self._fail(flying[0], f"{type(error).__name__}: {error}")
                else:
                    raise

    def _decode(self, cells: Iterator[Cell]) -> Generator[News, None, None]:
        rows = self._rows(cells)
        with closing(decode_rows(self._model, rows, at_once=self._at_once)) as rounds:
            for entries, _ in rounds:
                written = tuple(filter(None, [self._take(entry) for entry in entries]))
                tokens = sum(entry.step is not None for entry in entries)
                yield self._news(written, tokens)
        if self._failed:
            yield self._news()

    def _news(self, written: tuple[Written, ...] = (), tokens: int = 0) -> News:
        failed, self._failed = tuple(self._failed), []
        flying = sum(len(draft.steps) for draft in self._drafts.values())
        return News(written, failed, tokens, flying)

    def _rows(self, cells: Iterator[Cell]) -> Iterator[Row]:
        """Give the decoder a row for each cell that can be written, when it has a place for it."""
        for number in count():
            draft = next(filter(None, map(self._draft, cells)), None)
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

    def _draft(self, cell: Cell) -> _Draft | None:
        sampler, asked = self._sampler(cell.condition), self._asked(cell.prompt)
        if isinstance(sampler, XTCVizError):
            self._fail(cell, str(sampler), all_prompts=True)
        elif isinstance(asked, XTCVizError):
            self._fail(cell, str(asked))
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

    def _take(self, entry: RowStep) -> Written | None:
        """Take a step of a cell in; return the cell where it ended with it."""
        draft = self._drafts[entry.row]
        if entry.step is None:
            del self._drafts[entry.row]
            self._fail(draft.cell, str(entry.error))
            return None
        draft.steps.append(entry.step)
        draft.ids |= token_ids((entry.step,))
        if entry.finish is None:
            return None
        del self._drafts[entry.row]
        return self._written(draft, entry.finish)

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
        self._failed.append((cell.name, Failure(cell.condition.name, prompt, message)))
