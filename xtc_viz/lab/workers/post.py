"""A server while a run goes on: its model, and, where it gives no answer, until when it is waited
for. One that comes back must have the same model."""

from __future__ import annotations

import time
from dataclasses import replace

from xtc_viz.errors import ServerError
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.news import Absence
from xtc_viz.models.remote.model import RemoteModel

PATIENCE = 600.0
"""Seconds for which a server that gives no answer is waited for."""
AGAIN = 1.0
"""Seconds before a server that gave no answer is asked again."""
LIVES = 5
"""So often in a row a server may fail without a text that it finished."""


class Post:
    """One server. `absence` says why it cannot write at present, None while it can."""

    def __init__(self, model: RemoteModel, patience: float) -> None:
        self.model = model
        self.identity = Identity.of(model)
        self.where = model.wire.where
        self.absence: Absence | None = None
        self._patience = patience
        self._due = 0.0  # when it is given up, by `time.monotonic`
        self._fruitless = 0

    @property
    def left_out(self) -> bool:
        """Whether it is given up for good."""
        return self.absence is not None and self.absence.until is None

    def lose(self, reason: str) -> None:
        """Note that it gave no answer."""
        since = time.time()
        self.absence = Absence(self.where, reason, since, since + self._patience)
        self._due = time.monotonic() + self._patience
        self._fruitless += 1
        if self._fruitless >= LIVES:
            self._leave_out(f"It failed {LIVES} times without finishing a text.")

    def finished(self) -> None:
        """Note that it finished a text."""
        self._fruitless = 0

    def ask_again(self) -> None:
        """Ask whether it is back; leave it out where it has another model, or took too long."""
        try:
            model = RemoteModel.connect(self.model.spec)
        except ServerError:
            if time.monotonic() > self._due:
                self._leave_out(f"It did not come back within {self._patience:g} seconds.")
            return
        if (other := Identity.of(model)) == self.identity:
            self.model, self.absence = model, None
        else:
            self._leave_out(f"It came back with another model, {words(other)}.")

    def _leave_out(self, why: str) -> None:
        assert self.absence
        self.absence = replace(self.absence, reason=f"{self.absence.reason} {why}", until=None)


def words(model: Identity) -> str:
    """Say which model it is: names of files alone are often equal."""
    parameters = f"{model.parameters:,} parameters, " if model.parameters else ""
    about = f"{parameters}{model.vocab_size:,} tokens, fingerprint {model.weights}"
    return f"{model.name} ({about})"
