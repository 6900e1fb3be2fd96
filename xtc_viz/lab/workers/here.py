"""The plain loop: cells written in this process, one model, many rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from xtc_viz.lab.cell import Cell
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.news import News
from xtc_viz.lab.writer import Writer
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.modelinfo import ModelInfo


class Here:
    """The model of this process, with up to `rows` texts side by side."""

    def __init__(self, model: LanguageModel, rows: int) -> None:
        self._model, self._rows = model, rows
        self._identity = Identity.of(model)

    @property
    def identity(self) -> Identity:
        return self._identity

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    def write(self, experiment: Experiment, cells: Iterator[Cell]) -> Generator[News, None, None]:
        return Writer(experiment, self._model, self._rows).write(cells)

    def close(self) -> None:
        """The model is whoever's who gave it."""
