"""Who decodes a run: this process, or on ZeroGPU a worker to which a GPU is lent.

There the GPU is in a forked worker, for as long as the call takes. The fork has the model, which
is therefore no argument of the call; what is asked for and what comes of it are pickled. Nothing is
compiled here, as there a compiled step would be lost with its worker.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any, Protocol

import torch

from xtc_viz.decode import Column, decode_lanes
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.local.zerogpu import estimated_seconds, on_gpu
from xtc_viz.rows import Round, Row, decode_rows
from xtc_viz.settings import RunSettings


class Decode(Protocol):
    """What decodes a run: `decode_lanes`, or what does the same elsewhere."""

    def __call__(
        self,
        model: LanguageModel,
        prompt_ids: Sequence[int],
        settings: RunSettings,
        *,
        prefixes: Sequence[Sequence[int]] = (),
        sources: Sequence[int] = (),
        forced: Sequence[Sequence[int]] = (),
    ) -> Generator[Column, None, None]: ...


class DecodeRows(Protocol):
    """What decodes rows: `decode_rows`, or what does the same elsewhere."""

    def __call__(
        self, model: LanguageModel, rows: Sequence[Row], *, at_once: int
    ) -> Generator[Round, None, None]: ...


def decode_of(own: LanguageModel, spaces: Any = None) -> Decode:
    """Return `decode_lanes`; on ZeroGPU what does the same where the GPU is, for this model alone.

    `spaces` stands for the platform in tests.
    """

    def work(
        prompt_ids: Sequence[int], settings: RunSettings, **lanes: Any
    ) -> Generator[Column, None, None]:
        # A fork has none of its parent's threads, and would wait for them.
        torch.set_num_threads(1)
        yield from decode_lanes(own, prompt_ids, settings, **lanes)

    def seconds(prompt_ids: Sequence[int], settings: RunSettings, **lanes: Any) -> float:
        return estimated_seconds(settings.max_new_tokens)

    lent = on_gpu(work, seconds, spaces)
    if lent is work:
        return decode_lanes

    def decode(
        model: LanguageModel, prompt_ids: Sequence[int], settings: RunSettings, **lanes: Any
    ) -> Generator[Column, None, None]:
        _check(model, own)
        with closing(lent(prompt_ids, settings, **lanes)) as columns:
            yield from columns

    return decode


def rows_of(own: LanguageModel, spaces: Any = None) -> DecodeRows:
    """Return `decode_rows`; on ZeroGPU what does the same where the GPU is, as in `decode_of`."""

    def work(rows: Sequence[Row], at_once: int) -> Generator[Round, None, None]:
        torch.set_num_threads(1)
        yield from decode_rows(own, rows, at_once=at_once)

    def seconds(rows: Sequence[Row], at_once: int) -> float:
        return estimated_seconds(-(-sum(row.max_new_tokens for row in rows) // at_once))

    lent = on_gpu(work, seconds, spaces)
    if lent is work:
        return decode_rows

    def decode(
        model: LanguageModel, rows: Sequence[Row], *, at_once: int
    ) -> Generator[Round, None, None]:
        _check(model, own)
        with closing(lent(rows, at_once)) as rounds:
            yield from rounds

    return decode


def _check(model: LanguageModel, own: LanguageModel) -> None:
    if model is not own:
        raise ValueError("the worker has another model than the one that is asked for")
