"""What a server allows its visitors: every limit's bounds, help and value on a Space, once.

Without configuration there are no limits on a machine of one's own, where only the page's owner
waits; a Space is open to everyone, and gets those in `LIMITS`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from xtc_viz.errors import SettingsError, Words
from xtc_viz.knob import Knob
from xtc_viz.knobs import KNOBS
from xtc_viz.texts import valid

MAX_LANES = 6  # as many as can be read together
LARGEST_SPREAD = 100_000  # tokens; their steps take some 100 MB
LONGEST_PROMPT = 100_000  # characters; a guard for the wire, the context is checked in tokens
NONE = "none"


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: its bounds, its value on a Space where nobody set it, and a line of help."""

    name: str
    help: str
    public: float
    low: float
    high: float = math.inf
    integer: bool = True

    @property
    def flag(self) -> str:
        """The name as a flag has it, without the dashes."""
        return self.name.replace("_", "-")

    @property
    def bounds(self) -> str:
        """The values that it may have, in words."""
        kind = "an integer" if self.integer else "a number"
        if math.isinf(self.high):
            return f"{NONE} or {kind} >= {self.low:g}"
        return f"{NONE} or {kind} in [{self.low:g}, {self.high:g}]"

    def check(self, value: object) -> float | None:
        """Return a value within the bounds; None is no limit. Raises `SettingsError`."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SettingsError(self.name, self.bounds, value)
        inside = self.low <= value <= self.high and math.isfinite(value)
        if not inside or (self.integer and value != int(value)):
            raise SettingsError(self.name, self.bounds, value)
        return int(value) if self.integer else float(value)

    def parse(self, text: str) -> float | None:
        """Return the value that a flag or a variable holds. Raises `SettingsError`."""
        if text.strip().lower() == NONE:
            return None
        try:
            value = int(text) if self.integer else float(text)
        except ValueError:
            raise SettingsError(self.name, self.bounds, text) from None
        return self.check(value)


LIMITS: dict[str, Limit] = {
    limit.name: limit
    for limit in (
        # A small model on a free Space's two cores writes some 20 tokens a second.
        Limit("max_tokens", "tokens that a lane may have, continued or not", 400, 1),
        # A lane more rides along in the same forward and costs little.
        Limit("max_lanes", "lanes of a run", 4, 2, MAX_LANES),
        # 16 seeds of two lanes of the usual length; in a batch they take some seconds.
        Limit("max_spread", "tokens of a spread: its seeds, times lanes, times tokens", 6400, 4),
        # About a thousand tokens, which those two cores read in some seconds.
        Limit("max_prompt", "characters of a prompt", 4000, 1, LONGEST_PROMPT),
        # The last in line then waits for some minutes.
        Limit("max_waiting", "runs that may wait for the model; one more is turned away", 8, 0),
        # So that ten tabs of one visitor leave room for others.
        Limit("max_per_visitor", "runs of one visitor that may be going or waiting", 2, 1),
        Limit(
            "idle_minutes", "minutes after which an unused model gives its memory back",
            15, 0.01, integer=False,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server; None is no limit."""

    max_tokens: int | None = None
    max_lanes: int | None = None
    max_spread: int | None = None
    max_prompt: int | None = None
    max_waiting: int | None = None
    max_per_visitor: int | None = None
    idle_minutes: float | None = None

    def __post_init__(self) -> None:
        for name, limit in LIMITS.items():
            object.__setattr__(self, name, limit.check(getattr(self, name)))

    @classmethod
    def default(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Return the limits where nobody set any: those for the public on a Space, else none."""
        public: dict[str, Any] = {name: limit.public for name, limit in LIMITS.items()}
        return cls(**public) if environment.get("SPACE_ID") else cls()

    @property
    def length(self) -> Knob:
        """The setting of how many tokens a lane writes, within this limit."""
        knob = KNOBS["max_new_tokens"]
        if self.max_tokens is None:
            return knob
        _, end = knob.slider
        return replace(
            knob,
            default=min(knob.default, self.max_tokens),
            high=min(knob.high, self.max_tokens),
            soft_high=min(end, self.max_tokens),
        )

    @property
    def lanes(self) -> int:
        """The most lanes of a run."""
        return self.max_lanes or MAX_LANES

    @property
    def prompt(self) -> int:
        """The most characters of a prompt."""
        return self.max_prompt or LONGEST_PROMPT

    def check_request(self, data: object) -> object:
        """Return what a page sent as a request, its length within these limits.

        Values of a wrong kind are left to `Request.parse`, but for texts, whose bounds stand here.

        Raises:
            SettingsError: there are too many lanes or tokens, or a text is too long.
        """
        if not isinstance(data, Mapping) or not isinstance(data.get("settings", {}), Mapping):
            return data
        settings = dict(data.get("settings", {}))
        lanes = settings.get("lanes", [])
        if isinstance(lanes, (list, tuple)):
            self.check_lanes(len(lanes))
            length = settings.get("max_new_tokens", self.length.default)
            settings["max_new_tokens"] = self.length.check(length)
        for name in ("prompt", "system"):
            self.check_text(name, data.get(name, ""))
        return {**data, "settings": settings}

    def check_lanes(self, count: int) -> None:
        """Raise `SettingsError` for more lanes than there may be, or none."""
        if not 1 <= count <= self.lanes:
            raise SettingsError("lanes", f"1 to {self.lanes} lanes", count)

    def check_spread(self, seeds: object, lanes: int, length: int) -> int:
        """Return how many seeds a spread of so many lanes and tokens a lane is to have.

        Raises:
            SettingsError: it is no such number, or all texts together are too long.
        """
        count = int(KNOBS["seeds"].check(seeds))
        each, most = lanes * length, self.max_spread or LARGEST_SPREAD
        if count * each > most:
            bounds = (
                f"at most {most // each} where each takes {each:,} tokens ({most:,} in all); "
                "fewer lanes or a shorter length leave room for more"
            )
            raise SettingsError("seeds", bounds, count)
        return count

    def check_text(self, name: str, value: object) -> str:
        """Return a text; raise `SettingsError` for what is none, too long a one, or no Unicode."""
        if not isinstance(value, str) or len(value) > self.prompt:
            shown = Words(f"{len(value):,} characters") if isinstance(value, str) else value
            raise SettingsError(name, f"a text of at most {self.prompt:,} characters", shown)
        return valid(name, value)

    def check_prompt(self, prompt: str, tokens: int) -> None:
        """Raise `SettingsError` for the prompt of a run that may come from a file, and so hold what
        nobody could have typed here."""
        # A token has at least one byte, a character at most four.
        characters = max(len(prompt), tokens // 4)
        if characters > self.prompt:
            bounds = f"a text of at most {self.prompt:,} characters"
            raise SettingsError("prompt", bounds, Words(f"{characters:,} characters"))

    def check_position(self, position: int) -> None:
        """Raise `SettingsError` for a step that no lane may have."""
        if self.max_tokens is not None and position >= self.max_tokens:
            raise SettingsError("i", f"below {self.max_tokens} on this server", position)


NO_LIMITS = Limits()
