"""Which model is asked for, wherever it is to come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model by its name, and by a revision where it has more than one.

    What else can be asked for depends on where a model runs: see the specs that derive from this
    one, such as `local.spec.LocalSpec`.
    """

    name: str
    revision: str | None = None

    @property
    def short_name(self) -> str:
        """The name that people are shown."""
        return self.name

    @property
    def holds_memory(self) -> bool:
        """Whether the model takes memory of this process, so that putting it away frees some."""
        return True
