"""What is said of the model in use and of the load that is on its way; plain values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xtc_viz.records.modelinfo import ModelInfo


@dataclass(frozen=True, slots=True)
class LoadState:
    """How far a load is, in words and as a share in [0, 1] where one is known.

    `id` is that of the load, `name` that of the model which it brings.
    """

    id: str
    name: str
    words: str = ""
    share: float | None = None


@dataclass(frozen=True, slots=True)
class HostState:
    """What a page says about the model.

    `info` is the model in use, `load` the load that is on its way. `failure` says why the last
    load failed, until the next begins. `resting` says that the model in use has given its memory
    back; it returns with the next run.
    """

    info: ModelInfo | None = None
    load: LoadState | None = None
    failure: str = ""
    resting: bool = False

    @property
    def phase(self) -> str:
        """One of `loading`, `failed`, `ready`, `empty`, the first that applies."""
        if self.load:
            return "loading"
        if self.failure:
            return "failed"
        return "ready" if self.info else "empty"

    def begun(self, load_id: str, name: str) -> HostState:
        """Return the state once this load is on its way."""
        return replace(self, load=LoadState(load_id, name), failure="")

    def at(self, words: str, share: float | None) -> HostState:
        """Return the state once the load that is on its way has come so far."""
        return replace(self, load=self.load and replace(self.load, words=words, share=share))

    def ended(self, failure: str = "") -> HostState:
        """Return the state once the load that was on its way is over."""
        return replace(self, load=None, failure=failure)
