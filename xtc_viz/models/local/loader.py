"""How `ModelHost` loads models into this process."""

from __future__ import annotations

import gc
from collections.abc import Callable

import torch

from xtc_viz.models.load import Progress
from xtc_viz.models.local.download import fetch
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.spec import ModelSpec


class LocalLoader:
    """Loads through transformers, from the hub or from a folder (the `Loader` protocol)."""

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LocalModel]:
        if not isinstance(spec, LocalSpec):
            raise TypeError(f"`spec` must be a LocalSpec, but is {spec!r}")
        folder = fetch(spec, progress)
        return lambda: LocalModel.read(spec, folder, progress)

    def free_memory(self) -> None:
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
