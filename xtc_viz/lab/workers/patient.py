"""Cells written step by step by one model of a server, which is waited for where it goes away.

The thread of the run is the only one, so between two news everything rests: what has the model in
common with others (`ui.lab`) can let them go first.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain

from xtc_viz.errors import ServerError
from xtc_viz.lab.cell import Cell
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.news import News
from xtc_viz.lab.workers.post import AGAIN, PATIENCE, Post
from xtc_viz.lab.writer import Writer
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.records.modelinfo import ModelInfo

EVERY = 0.2
"""Seconds between two news while it is waited for."""


class Patient:
    """A model of a server, with as many texts side by side as it has slots (`Workers`)."""

    def __init__(self, model: RemoteModel, patience: float = PATIENCE) -> None:
        """It is waited for `patience` seconds, each time that it goes away."""
        self._post = Post(model, patience)
        self._info = model.info

    @property
    def identity(self) -> Identity:
        return self._post.identity

    @property
    def info(self) -> ModelInfo:
        return self._info

    def write(self, experiment: Experiment, cells: Iterator[Cell]) -> Generator[News, None, None]:
        """Write these cells; what it was at when the server went away is begun anew.

        Raises:
            ServerError: it did not come back in time, or with another model.
        """
        post, at_work = self._post, dict[str, Cell]()

        def noted(some: Iterable[Cell]) -> Iterator[Cell]:
            for cell in some:
                at_work[cell.name] = cell
                yield cell

        while True:
            writer = Writer(experiment, post.model, post.model.server.slots)
            again = [*at_work.values()]
            try:
                with closing(writer.write(noted(chain(again, cells)))) as every:
                    for news in every:
                        for written in news.written:
                            del at_work[written.name]
                            post.finished()
                        for name, _ in news.failed:
                            del at_work[name]
                        yield news
                return
            except ServerError as error:
                post.lose(str(error))
            yield from self._waited()

    def _waited(self) -> Generator[News, None, None]:
        """Wait until the server is back. Raises `ServerError` where it is given up."""
        post, asked = self._post, time.monotonic()
        while post.absence:
            yield News(absent=(post.absence,))
            if post.left_out:
                raise ServerError(post.absence.reason)
            time.sleep(EVERY)
            if time.monotonic() - asked >= AGAIN:
                post.ask_again()
                asked = time.monotonic()
        yield News()

    def close(self) -> None:
        """The model is whoever's who gave it."""
