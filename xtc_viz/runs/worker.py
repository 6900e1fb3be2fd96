"""Who decodes a run: this process, or on ZeroGPU a worker to which a GPU is lent.

There the GPU is in a forked worker, for as long as the call takes. The fork has the model, which
is therefore no argument of the call; prompt, settings and columns are pickled. Nothing is
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
        if model is not own:
            raise ValueError("the worker has another model than the one that is asked for")
        with closing(lent(prompt_ids, settings, **lanes)) as columns:
            yield from columns

    return decode
