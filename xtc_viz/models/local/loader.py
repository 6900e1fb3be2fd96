"""How `ModelHost` loads models into this process."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import torch

from xtc_viz.assets import STORY_MODEL
from xtc_viz.models.load import Progress, stoppable
from xtc_viz.models.local.folder.download import fetch
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.spec import ModelSpec


class LocalLoader:
    """Loads through transformers, from the hub or from a folder (the `Loader` protocol).

    A load that is stopped ends at once, also while a library waits for the network or reads a
    weight of gigabytes; what it was doing ends as soon as it can.
    """

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LocalModel]:
        if not isinstance(spec, LocalSpec):
            raise TypeError(f"`spec` must be a LocalSpec, but is {spec!r}")
        folder = stoppable(lambda inner: fetch(spec, inner), progress)
        if Path(spec.name) == STORY_MODEL:  # no stranger's: read here, in an instant
            return lambda: LocalModel.read(spec, folder, progress)
        prepared = LocalModel.prepare(spec, folder, progress)
        return lambda: stoppable(prepared, progress)

    def free_memory(self) -> None:
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
