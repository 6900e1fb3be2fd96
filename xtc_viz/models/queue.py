"""The queue for the model: who is in it, who is next, and when it is full.

It holds no lock and waits for nobody: `ModelHost` does both.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from xtc_viz.errors import BusyError


@dataclass(eq=False, slots=True)
class Place:
    """A place in the queue, of a decode or of a load. `visitor` is "" where that is unknown.

    One in the `background` is for work that can wait: all others go before it, whenever they come,
    and it is none of those that are counted.
    """

    visitor: str = ""
    for_load: bool = False
    background: bool = False


class TurnQueue:
    """Places in the order of asking, of which one at a time is `active`: it has the model.

    `max_waiting` is the most decodes that may wait at once, `max_per_visitor` the most of one
    visitor, active or waiting; None is no limit.
    """

    def __init__(self, max_waiting: int | None = None, max_per_visitor: int | None = None) -> None:
        self._max_waiting = max_waiting
        self._max_per_visitor = max_per_visitor
        self._places: deque[Place] = deque()
        self.active: Place | None = None

    @property
    def empty(self) -> bool:
        return not self._places

    @property
    def waiting(self) -> int:
        """How many wait behind the one that is active or will be the next."""
        return max(0, len(self._order()) - 1)

    @property
    def wanted(self) -> bool:
        """Whether anyone is here who does not wait in the background."""
        return any(not place.background for place in self._places)

    @property
    def has_decodes(self) -> bool:
        return any(not place.for_load for place in self._places)

    def join(self, place: Place) -> None:
        """Take a place at the end. Raises `BusyError` for a decode that is one too many."""
        if place in self._places:
            raise RuntimeError("this turn was entered before")
        if not place.for_load and not place.background:
            self._refuse_when_full(place.visitor)
        self._places.append(place)

    def pause(self, place: Place) -> None:
        """Let others be active, and wait again behind them."""
        if self.active is place:
            self.active = None
            self._places.remove(place)
            self._places.append(place)

    def leave(self, place: Place) -> None:
        """Give a place up, whether it is active or not."""
        if self.active is place:
            self.active = None
        if place in self._places:
            self._places.remove(place)

    def ahead(self, place: Place, loads_first: bool) -> int:
        """How many must end before it is this place's turn; see `is_next` for `loads_first`.

        What is active in the background need not end, and is soon paused.
        """
        order = self._order(place.background)
        index = order.index(place) if place in order else 0
        return index or int(loads_first and self.active is not place)

    def is_next(self, place: Place, loads_first: bool) -> bool:
        """Whether it is this place's turn, or could be now.

        `loads_first` lets loads go before the decodes that wait for what they bring.
        """
        if self.active or place not in self._places:
            return self.active is place
        return place.for_load if loads_first else self._order(background=True)[0] is place

    def begin(self, place: Place) -> None:
        """Let this place be the active one."""
        if self.active is not place:
            self.active = place
            self._places.remove(place)
            self._places.appendleft(place)

    def _refuse_when_full(self, visitor: str) -> None:
        order = self._order()
        own = sum(place.visitor == visitor for place in order) if visitor else 0
        if self._max_per_visitor is not None and own >= self._max_per_visitor:
            runs = "One run" if own == 1 else f"{own} runs"
            raise BusyError(
                f"{runs} of yours {'is' if own == 1 else 'are'} going or waiting already, the most "
                "that this server lets one visitor have: let one end, or stop it."
            )
        waiting = len(order) - 1
        if self._max_waiting is not None and waiting >= self._max_waiting:
            raise BusyError(f"{waiting} runs are waiting already: try again in a moment.")

    def _order(self, background: bool = False) -> list[Place]:
        """Return the places in the order of their turns, with those in the background at the end
        or without them."""
        first = [place for place in self._places if not place.background]
        return [*first, *(p for p in self._places if p.background)] if background else first
