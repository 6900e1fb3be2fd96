"""Which model is in use, who has it, and which one is to come: the state that `ModelHost` guards.

Nothing here locks, waits or loads, so each method is one move from one consistent state to the
next. `ModelHost` makes these moves under its lock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from xtc_viz.errors import BusyError, ModelError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.load import Load
from xtc_viz.models.queue import Place, TurnQueue
from xtc_viz.models.spec import ModelSpec
from xtc_viz.models.state import HostState


class Occupancy:
    """A model, the queue for it, and the loads that are not over, the one on its way first.

    `spec` says how the model could be loaded again; None for one that was not loaded but given.
    """

    def __init__(self, model: LanguageModel | None, turns: TurnQueue) -> None:
        self.model = model
        self.spec: ModelSpec | None = None
        self.turns = turns
        self.loads: deque[Load] = deque()
        self.state = HostState(info=model.info if model else None)

    # Turns

    def is_next(self, place: Place) -> bool:
        """Whether it is this place's turn, or could be now."""
        return self.turns.is_next(place, self._awaits_first_model)

    def ahead(self, place: Place) -> int:
        """How many decodes and loads must end before it is this place's turn."""
        return self.turns.ahead(place, self._awaits_first_model)

    @property
    def _awaits_first_model(self) -> bool:
        # Decodes wait for the first model, so the load that brings it goes before them.
        return self.model is None and self.state.load is not None

    def model_for(self, place: Place) -> LanguageModel:
        """Return the model for the place whose turn it is; see `Turn.model`."""
        if self.turns.active is not place:
            raise BusyError("The model is in use by another run or load.")
        if self.model is None:
            words = "No model is loaded: choose one."
            if self.spec:
                words = f"{self.spec.short_name} was not loaded again. Another try does it."
            raise ModelError(self.state.failure or words)
        return self.model

    # The model

    def install(self, model: LanguageModel, spec: ModelSpec) -> None:
        """Put a model in place of the former one."""
        self.model, self.spec = model, spec
        self.state = HostState(info=model.info)

    @property
    def can_rest(self) -> bool:
        """Whether the model in use could be loaded again."""
        return self.model is not None and self.spec is not None and self.spec.holds_memory

    @property
    def is_idle(self) -> bool:
        """Whether there is a model in memory that could rest, and nobody wants it."""
        return self.turns.empty and self.can_rest

    def rest(self) -> None:
        """Let go of a model that can be loaded again.

        Raises:
            BusyError: a run or a load is going on.
            ModelError: there is no such model.
        """
        if not self.turns.empty:
            raise BusyError("The model is writing: it can be put away when no run is going on.")
        if self.loads:
            raise BusyError(f"{self.loads[0].name} is being loaded: stop that first, or wait.")
        if not self.can_rest:
            raise ModelError("There is no model in memory that could come back by itself.")
        self.model = None
        self.state = replace(self.state, resting=True)

    # Loads

    def begin(self, load: Load) -> None:
        """Put a load at the end of the list."""
        self.loads.append(load)
        self._show_first()

    def end(self, load: Load) -> None:
        """Take a load off the list, whether it has succeeded or not."""
        self.loads.remove(load)
        if self.state.load and self.state.load.id == load.id:
            self.state = self.state.ended("" if load.stopped else load.failure)
        self._show_first()

    def return_load(self, ended: Load | None = None) -> Load | None:
        """Begin the load that brings the model at rest back to decodes that wait for it, if any.

        The load that has just `ended` is not tried again by itself.
        """
        needed = self.model is None and self.turns.has_decodes and not self.loads
        if not needed or self.spec is None or (ended and ended.spec == self.spec):
            return None
        load = Load(self.spec)
        self.begin(load)
        return load

    def _show_first(self) -> None:
        if self.loads and self.state.load is None:
            self.state = self.state.begun(self.loads[0].id, self.loads[0].name)
