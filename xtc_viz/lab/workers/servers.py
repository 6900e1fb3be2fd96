"""Cells written by models of servers, one address or several, each with as many as it has slots.

    boxes = [RemoteSpec("http://box1:8080"), RemoteSpec("http://box2:8080")]
    with closing(Servers(boxes)) as workers:
        for progress in run_with(workers, experiment, suite, store):
            print(progress.done, progress.total, progress.absent)

Every server has a thread here, in which its cells are decoded: it gives distributions, and stack,
dice and draw are here. A server that gives no answer loses the cells that it was at, which others
begin anew, and is asked again until it is back or `patience` ends. All servers must have the same
model, at the begin and whenever one comes back.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import chain

from xtc_viz.errors import ModelError, ServerError, SettingsError
from xtc_viz.lab.cell import Cell
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.news import News
from xtc_viz.lab.workers.desk import Desk
from xtc_viz.lab.workers.post import AGAIN, PATIENCE, Post, words
from xtc_viz.lab.writer import Writer
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.records.modelinfo import ModelInfo

LONGEST_PATIENCE = 7 * 24 * 3600.0
EVERY = 0.2
"""Seconds between two news where no cell is finished."""
PARTING = 2.0
"""Seconds for those who write to see that nobody wants more."""


class Servers:
    """The same model in several servers (`Workers`)."""

    def __init__(
        self, specs: Sequence[RemoteSpec], rows: int | None = None, patience: float = PATIENCE
    ) -> None:
        """Connect to all of them.

        Each writes `rows` texts at once, by default as many as it has slots, and is waited for
        `patience` seconds.

        Raises:
            SettingsError: no server, one that is named twice, `rows` or `patience` out of bounds.
            ServerError: one gives no answer, or none that can be used.
            ModelError: they have different models.
        """
        names = [spec.name for spec in specs]
        if not names or len(set(names)) < len(names):
            raise SettingsError("model", "addresses of servers, each once", names)
        if rows is not None and rows < 1:
            raise SettingsError("rows", "at least 1", rows)
        if not 0 <= patience <= LONGEST_PATIENCE:
            raise SettingsError("patience", f"in [0, {LONGEST_PATIENCE:,.0f}] seconds", patience)
        self._rows = rows
        with ThreadPoolExecutor(len(specs)) as pool:
            models = list(pool.map(RemoteModel.connect, specs))
        self._posts = [Post(model, patience) for model in models]
        first = self._posts[0]
        self._identity, self._info = first.identity, first.model.info
        for post in self._posts[1:]:
            if post.identity != first.identity:
                raise ModelError(_differ(first, post))

    @property
    def identity(self) -> Identity:
        return self._identity

    @property
    def info(self) -> ModelInfo:
        return self._info

    def write(self, experiment: Experiment, cells: Iterator[Cell]) -> Generator[News, None, None]:
        """Write these cells; news when one is finished, and several times a second.

        Raises:
            ServerError: no server is left.
            Exception: what else a thread raised.
        """
        desk = Desk()
        posts = [post for post in self._posts if not post.left_out]
        threads = [
            threading.Thread(
                target=self._serve, args=(post, experiment, desk), name=post.where, daemon=True
            )
            for post in posts
        ]
        # Twice what they write at once, so that nobody has to wait for the next one.
        ahead = 2 * sum(map(self._rows_of, posts))
        for post in self._posts:
            desk.absent(post.where, post.absence)
        try:
            for thread in threads:
                thread.start()
            while not desk.done:
                desk.fill(cells, ahead)
                yield desk.news(EVERY)
                if all(post.left_out for post in self._posts) and not desk.done:
                    reasons = (post.absence.reason for post in self._posts if post.absence)
                    raise ServerError(" ".join(reasons))
        finally:
            stopped = not desk.done
            desk.close()
            for post in posts if stopped else ():
                post.model.wire.cut()
            for thread in threads:
                thread.join(PARTING)

    def close(self) -> None:
        """Nothing is held: a model of a server ends its connections by itself."""

    def _rows_of(self, post: Post) -> int:
        return self._rows or post.model.server.slots

    def _serve(self, post: Post, experiment: Experiment, desk: Desk) -> None:
        """Write cells with one server for as long as there are any, and it is there."""
        try:
            while not post.absence or self._await(post, desk):
                try:
                    self._write(post, experiment, desk)
                    return
                except ServerError as error:
                    if desk.closed:  # it was cut off from here
                        return
                    desk.give_back(post.where)
                    post.lose(str(error))
                    desk.absent(post.where, post.absence)
        except Exception as error:
            desk.fail(error)

    def _write(self, post: Post, experiment: Experiment, desk: Desk) -> None:
        """Write cells until the run is over. Raises `ServerError`."""
        own = partial(desk.take, post.where)
        writer = Writer(experiment, post.model, self._rows_of(post))
        while cell := own(wait=True):
            more = iter(partial(own, wait=False), None)
            with closing(writer.write(chain([cell], more))) as every:
                for news in every:
                    if news.written:
                        post.finished()
                    if not desk.report(post.where, news):
                        return

    def _await(self, post: Post, desk: Desk) -> bool:
        """Wait until a server is back; False where it is given up, or nobody wants more."""
        while post.absence and not post.left_out and desk.pause(AGAIN):
            post.ask_again()
        desk.absent(post.where, post.absence)
        return post.absence is None


def _differ(one: Post, other: Post) -> str:
    return (
        f"The servers have different models: {words(one.identity)} at {one.where}, and "
        f"{words(other.identity)} at {other.where}. A run has one model."
    )
