"""A decode of some rows over one cache: one forward a step for all, rows that come and go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.local.folder.reader import is_out_of_memory
from xtc_viz.models.local.layers.llama import LlamaStep, is_plain_llama
from xtc_viz.models.local.placement import devices_of
from xtc_viz.models.local.steps.cache import (
    has_columns,
    has_states,
    keep_rows,
    new_cache,
    replace_rows,
    takes_rows,
)
from xtc_viz.models.local.steps.fixed import FixedStep, Graphs
from xtc_viz.models.local.steps.forward import forward
from xtc_viz.models.prompts import check_prompts, check_room
from xtc_viz.records.modelinfo import ModelInfo


class LocalGeneration:
    """The `Generation` of a model of transformers.

    All rows end in the same column of the cache. Shorter ones begin with a gap, which a mask hides
    and positions leave out, so that nothing that is computed for a row depends on its gap. Where
    layers keep a state of all tokens, a gap would be part of it: there, prompts of different
    lengths are prefilled apart and then put side by side.
    """

    def __init__(
        self,
        model: Any,
        info: ModelInfo,
        prompts: Sequence[Sequence[int]],
        graphs: Graphs | None = None,
    ) -> None:
        """Prefill the prompts. `graphs` records the steps, until rows come or go."""
        self._model = model
        self._info = info
        self._graphs = graphs
        self._device = devices_of(model)[0]
        self._accepts_rows = takes_rows(model.config)
        self._apart = self._accepts_rows and has_states(model.config)
        self._masked = not self._apart or has_columns(model.config)
        self._step = LlamaStep(model) if is_plain_llama(model) else None
        self._fixed: FixedStep | None = None
        checked = check_prompts(prompts, info)
        self._lengths: list[int]  # the tokens of each row
        self._columns: int
        self._gaps: list[int]
        self._padding: torch.Tensor | None  # the gaps as (rows, 1), where there are any
        self._cache: Any
        self._set_lengths([len(prompt) for prompt in checked])
        self._logits, self._cache = self._prefill(checked)

    @property
    def logits(self) -> torch.Tensor:
        return self._logits

    @property
    def accepts_rows(self) -> bool:
        return self._accepts_rows

    def advance(self, token_ids: Sequence[int]) -> torch.Tensor:
        self._check_open()
        if len(token_ids) != len(self._lengths):
            raise ValueError(f"{len(self._lengths)} rows need a token each, got {len(token_ids)}")
        check_room(min(self._lengths) + 2, self._info)
        column = self._columns
        self._lengths = [length + 1 for length in self._lengths]
        self._columns += 1
        with torch.inference_mode(), self._memory_in_words():
            if self._fixed is None and self._graphs is not None and self._graphs.usable:
                self._fixed = FixedStep(
                    self._model, self._cache, self._gaps, column, self._info.context_length,
                    self._graphs,
                )  # fmt: skip
            if self._fixed is not None:
                self._logits = self._fixed(token_ids)
            else:
                ids = [[token] for token in token_ids]
                self._logits = self._forward(ids, self._padding, column, self._cache)
        return self._logits

    def replace(self, places: Sequence[int], prompts: Sequence[Sequence[int]]) -> torch.Tensor:
        self._check_open()
        checked = check_prompts(prompts, self._info)
        lengths = list(self._lengths)
        for place, prompt in zip(places, checked, strict=True):
            lengths[place] = len(prompt)
        logits, newcomers = self._prefill(checked)
        with torch.inference_mode(), self._memory_in_words():
            self._release()
            # Columns that only the former rows needed are dropped.
            replace_rows(self._cache, places, newcomers, max(lengths))
            self._set_lengths(lengths)
            self._logits = self._logits.clone()
            self._logits[list(places)] = logits
        return logits

    def keep(self, places: Sequence[int]) -> None:
        self._check_open()
        with torch.inference_mode(), self._memory_in_words():
            self._release()
            keep_rows(self._cache, places)
            self._logits = self._logits[list(places)]
            self._lengths = [self._lengths[place] for place in places]
            self._gaps = [self._gaps[place] for place in places]
            self._padding = self._padding_of(self._gaps)

    def close(self) -> None:
        self._cache = self._fixed = None

    def _check_open(self) -> None:
        if self._cache is None:
            raise RuntimeError("this generation was closed")

    def _set_lengths(self, lengths: list[int]) -> None:
        """Say how many tokens each row has; the longest fills all columns."""
        self._lengths = lengths
        self._columns = max(lengths)
        self._gaps = [self._columns - length for length in lengths]
        self._padding = self._padding_of(self._gaps)

    def _padding_of(self, gaps: list[int]) -> torch.Tensor | None:
        """Return the gaps as (rows, 1) where there are any."""
        return torch.tensor(gaps).unsqueeze(1).to(self._device) if any(gaps) else None

    def _release(self) -> None:
        """Go on without fixed buffers, for good: each change would have to be recorded anew."""
        self._graphs = None
        if self._fixed is not None:
            self._cache, self._fixed = self._fixed.released(), None

    def _prefill(self, prompts: list[tuple[int, ...]]) -> tuple[torch.Tensor, Any]:
        """Return the logits (rows, vocab) after these prompts and a cache of them."""
        distinct = list(dict.fromkeys(prompts))
        lengths = sorted({len(prompt) for prompt in distinct}, reverse=True)
        # The longest come first: their cache has all columns.
        batches = [[p for p in distinct if len(p) == length] for length in lengths]
        if not self._apart:
            batches = [distinct]
        done: list[tuple[int, ...]] = []
        with torch.inference_mode(), self._memory_in_words():
            for batch in batches:
                more, newcomers = self._prefill_batch(batch)
                if not done:
                    logits, cache = more, newcomers
                else:
                    # Copies of any row make room, and are replaced at once.
                    keep_rows(cache, [*range(len(done)), *[0] * len(batch)])
                    added = range(len(done), len(done) + len(batch))
                    replace_rows(cache, added, newcomers, lengths[0])
                    logits = torch.cat((logits, more))
                done += batch
            if done != prompts:
                places = [done.index(prompt) for prompt in prompts]
                keep_rows(cache, places)
                logits = logits[places]
        return logits, cache

    def _prefill_batch(self, prompts: list[tuple[int, ...]]) -> tuple[torch.Tensor, Any]:
        """Run these prompts through the model at once; the shorter ones begin with a gap."""
        columns = max(map(len, prompts))
        gaps = [columns - len(prompt) for prompt in prompts]
        rows = [[0] * gap + list(prompt) for gap, prompt in zip(gaps, prompts, strict=True)]
        cache: Any = new_cache(self._model.config)
        return self._forward(rows, self._padding_of(gaps), 0, cache), cache

    def _forward(
        self,
        rows: Sequence[Sequence[int]],
        padding: torch.Tensor | None,
        start: int,
        cache: Any,
    ) -> torch.Tensor:
        """Run ids (rows, tokens), the first at column `start`; last logits (rows, vocab)."""
        # Left to itself, the copy to a GPU does not make this thread wait.
        ids = torch.tensor(rows).to(self._device, non_blocking=True)
        columns = torch.arange(start + ids.shape[1], device=self._device).unsqueeze(0)
        positions, hidden = columns[:, start:], None
        if padding is not None:
            hidden = columns < padding
            # A row whose context is full rides along at the last position; nobody reads it.
            positions = (positions - padding).clamp(0, self._info.context_length - 1)
        if self._step is not None and ids.shape[1] == 1:
            return self._step(ids[:, 0], hidden, positions[:, 0], cache)
        # Where there are no columns, nothing is hidden.
        mask = None if hidden is None or not self._masked else (~hidden).long()
        return forward(self._model, ids, mask, positions, cache)

    def _memory_in_words(self) -> AbstractContextManager[None]:
        return memory_in_words(self._info, self._columns, len(self._lengths))


@contextmanager
def memory_in_words(info: ModelInfo, tokens: int, rows: int) -> Iterator[None]:
    """Say in words that memory ran out, at so many tokens."""
    try:
        yield
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise ModelError(
                f"{info.name} ran out of memory at {tokens} tokens in {rows} lanes: use fewer "
                "lanes, a shorter text or a smaller model."
            ) from error
        raise
