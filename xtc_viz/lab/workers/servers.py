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
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain

from xtc_viz.errors import ModelError, ServerError, SettingsError
from xtc_viz.lab.cell import Cell
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.news import Absence, News
from xtc_viz.lab.workers.desk import Desk
from xtc_viz.lab.writer import Writer
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.records.modelinfo import ModelInfo

PATIENCE = 600.0
"""Seconds for which a server that gives no answer is waited for."""
LONGEST_PATIENCE = 7 * 24 * 3600.0
AGAIN = 1.0
"""Seconds before a server that gave no answer is asked again."""
LIVES = 5
"""So often in a row a server may fail without a text that it finished."""
EVERY = 0.2
"""Seconds between two news where no cell is finished."""
PARTING = 2.0
"""Seconds for those who write to see that nobody wants more."""


class _Post:
    """One server: its model, where it is there, and why it is not."""

    def __init__(self, spec: RemoteSpec, model: RemoteModel) -> None:
        self.spec = spec
        self.model = model
        self.where = model.wire.where
        self.absence: Absence | None = None
        self.due = 0.0  # when it is given up, by `time.monotonic`
        self.fruitless = 0

    def lose(self, reason: str, patience: float) -> None:
        """Note that it gave no answer."""
        since = time.time()
        self.absence = Absence(self.where, reason, since, since + patience)
        self.due = time.monotonic() + patience
        self.fruitless += 1

    def leave_out(self, words: str) -> None:
        """Give it up for good."""
        assert self.absence
        self.absence = replace(self.absence, reason=f"{self.absence.reason} {words}", until=None)

    @property
    def left_out(self) -> bool:
        return self.absence is not None and self.absence.until is None


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
        self._rows, self._patience = rows, patience
        with ThreadPoolExecutor(len(specs)) as pool:
            models = list(pool.map(RemoteModel.connect, specs))
        self._posts = [_Post(*both) for both in zip(specs, models, strict=True)]
        self._identity, self._info = Identity.of(models[0]), models[0].info
        for post in self._posts[1:]:
            if (other := Identity.of(post.model)) != self._identity:
                raise ModelError(_differ(self._posts[0].where, self._identity, post.where, other))

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

    def _rows_of(self, post: _Post) -> int:
        return self._rows or post.model.server.slots

    def _serve(self, post: _Post, experiment: Experiment, desk: Desk) -> None:
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
                    post.lose(str(error), self._patience)
                    desk.absent(post.where, post.absence)
        except Exception as error:
            desk.fail(error)

    def _write(self, post: _Post, experiment: Experiment, desk: Desk) -> None:
        """Write cells until the run is over. Raises `ServerError`."""
        own = partial(desk.take, post.where)
        writer = Writer(experiment, post.model, self._rows_of(post))
        while cell := own(wait=True):
            more = iter(partial(own, wait=False), None)
            with closing(writer.write(chain([cell], more))) as every:
                for news in every:
                    if news.written:
                        post.fruitless = 0
                    if not desk.report(post.where, news):
                        return

    def _await(self, post: _Post, desk: Desk) -> bool:
        """Wait until a server is back, with the same model; False where it is given up, or nobody
        wants more."""
        if post.fruitless >= LIVES:
            post.leave_out(f"It failed {LIVES} times without finishing a text.")
        while not post.left_out and desk.pause(AGAIN):
            try:
                model = RemoteModel.connect(post.spec)
            except ServerError:
                if time.monotonic() > post.due:
                    post.leave_out(f"It did not come back within {self._patience:g} seconds.")
                continue
            if (other := Identity.of(model)) == self._identity:
                post.model, post.absence = model, None
                break
            post.leave_out(f"It came back with another model, {_words(other)}.")
        desk.absent(post.where, post.absence)
        return post.absence is None


def _differ(first: str, one: Identity, second: str, other: Identity) -> str:
    return (
        f"The servers have different models: {_words(one)} at {first}, and {_words(other)} at "
        f"{second}. A run has one model."
    )


def _words(model: Identity) -> str:
    parameters = f"{model.parameters:,} parameters, " if model.parameters else ""
    about = f"{parameters}{model.vocab_size:,} tokens, fingerprint {model.weights}"
    return f"{model.name} ({about})"
