"""Who writes the cells of a run: `here`, a plain loop in this process; `patient`, the same with a
model of a server; `servers`, a model that runs in several; or `cluster`, actors of Ray.

Workers write no store. They take cells from the run when they have room for them, and say what came
of them (`News`); the run alone stores it. So a cluster needs no disk that all of it shares, and a
worker that dies costs what it was at.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Protocol

from xtc_viz.lab.cell import Cell
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.news import News
from xtc_viz.records.modelinfo import ModelInfo


class Workers(Protocol):
    """Those who write with one model, wherever copies of it stand."""

    @property
    def identity(self) -> Identity:
        """The model as it counts for the names of cells."""

    @property
    def info(self) -> ModelInfo:
        """What is known of the model."""

    def write(self, experiment: Experiment, cells: Iterator[Cell]) -> Generator[News, None, None]:
        """Write these cells and give news, several times a second while there is something to do.

        Closing it is to stop. It raises what ends the run, such as a model that gives up.
        """

    def close(self) -> None:
        """Give back what they hold; nothing is written any more."""
