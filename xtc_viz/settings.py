"""The settings of a run as frozen values that check themselves by their knobs (`knobs`)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self, TypeVar

from xtc_viz.engines.known import ENGINES
from xtc_viz.errors import SettingsError
from xtc_viz.knobs import KNOBS
from xtc_viz.sampling.dialect import PAPER, Dialect
from xtc_viz.sampling.stages import STAGES

MIN_TEMPERATURE = 0.01
"""The least temperature beside 0."""
LEAST_FLOAT32 = 2.0**-149
"""The least positive float32: a token whose probability is 0 is never eligible."""


@lru_cache(maxsize=1024)
def _float32(value: float) -> float:
    """Round a positive number to float32, but not to 0."""
    return max(array("f", (value,))[0], LEAST_FLOAT32)


class Strategy(StrEnum):
    """Which eligible tokens XTC removes when it fires (the paper's design ablation)."""

    KEEP_LEAST = "keep_least"
    KEEP_SECOND = "keep_second"
    KEEP_RANDOM = "keep_random"
    DROP_TOP = "drop_top"


XTC, TEMPERATURE = "xtc", "temperature"
"""The two stages that are more than a filter or a penalty."""
ORDER = (*(stage.name for stage in STAGES), XTC)
"""The order of the paper: XTC acts on what penalties, temperature and truncation leave."""


def in_order(*last: str) -> tuple[str, ...]:
    """Return the default order of stages with these moved to its end."""
    return (*(stage for stage in ORDER if stage not in last), *last)


def _check_knobs(settings: Any) -> None:
    for f in fields(settings):
        if f.name in KNOBS:
            object.__setattr__(settings, f.name, KNOBS[f.name].check(getattr(settings, f.name)))


E = TypeVar("E", bound=StrEnum)


def _choice(name: str, kind: type[E], value: object) -> E:
    try:
        return kind(str(value))
    except ValueError:
        raise SettingsError(name, f"one of {', '.join(kind)}", value) from None


def _known(cls: type, data: object) -> dict[str, Any]:
    """Return `data` as keyword arguments for `cls`; unknown names are an error, not ignored."""
    if not isinstance(data, Mapping):
        raise SettingsError(cls.__name__, "an object with named values", data)
    names = {f.name for f in fields(cls)}
    for name in data:
        if name not in names:
            raise SettingsError(str(name), f"one of {', '.join(sorted(names))}", name)
    return dict(data)


def _order(value: object) -> tuple[str, ...]:
    """Check an order of stages; one that it does not name comes before all that follow it in the
    default order."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SettingsError("order", f"a list of {', '.join(ORDER)}", value)
    order = list(value)
    for name in order:
        if name not in ORDER:
            raise SettingsError("order", f"a list of {', '.join(ORDER)}", name)
    if len(set(order)) < len(order):
        raise SettingsError("order", "a list that names no stage twice", order)
    for place, stage in reversed(list(enumerate(ORDER, 1))):
        if stage not in order:
            order.insert(min(map(order.index, ORDER[place:]), default=len(order)), stage)
    return tuple(order)


def _dialect(value: object) -> Dialect:
    if isinstance(value, Dialect):
        return value
    if not isinstance(value, str) or value not in ENGINES:
        raise SettingsError("dialect", f"one of {', '.join(ENGINES)}", value)
    return ENGINES[value].dialect


def _token_ids(name: str, ids: object) -> frozenset[int]:
    if not isinstance(ids, Iterable) or isinstance(ids, (str, bytes)):
        raise SettingsError(name, "a set of token ids", ids)
    numbers = list(ids)
    for i in numbers:
        if isinstance(i, bool) or not isinstance(i, int) or i < 0:
            raise SettingsError(name, "a set of token ids, each an integer >= 0", i)
    return frozenset(numbers)


@dataclass(frozen=True, slots=True)
class XTCSettings:
    """The operator's settings (paper, Algorithm 1). `rho = 0` switches it off.

    `protected` holds token ids that XTC must never silence: a step whose removed set would
    contain one of them is left alone. `dialect` is the rule of an engine, or its name; files and
    links name it where it is not the paper's.
    """

    rho: float = KNOBS["rho"].default
    tau: float = KNOBS["tau"].default
    strategy: Strategy = Strategy.KEEP_LEAST
    protected: frozenset[int] = frozenset()
    dialect: Dialect = PAPER

    def __post_init__(self) -> None:
        _check_knobs(self)
        object.__setattr__(self, "dialect", _dialect(self.dialect))
        object.__setattr__(self, "strategy", _choice("strategy", Strategy, self.strategy))
        object.__setattr__(self, "protected", _token_ids("protected", self.protected))

    @property
    def tau32(self) -> float:
        """τ rounded to float32, the precision in which probabilities are compared with it."""
        return _float32(self.tau)

    @property
    def max_eligible(self) -> int:
        """The most tokens that can clear τ: ⌊1/τ⌋, and one more for float32 sums just over 1."""
        return int(1.0 / self.tau32) + 1

    def to_dict(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "dialect"}
        values |= {"strategy": str(self.strategy), "protected": sorted(self.protected)}
        return values if self.dialect == PAPER else values | {"dialect": self.dialect.name}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        return cls(**_known(cls, data))


XTC_OFF = XTCSettings(rho=0.0)


_Knobs = make_dataclass(
    "_Knobs",
    [
        (
            knob.name,
            int if knob.integer else float,
            field(default=knob.check(knob.default)),
        )
        for stage in STAGES
        for knob in stage.knobs
    ],
    frozen=True,
    slots=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerSettings(_Knobs):  # type: ignore[misc, valid-type]
    """The sampler stack of one lane: the knobs of all stages by their names, each off by default.

    `order` names every stage. `dry_breakers` are the token ids that DRY's matches end at.
    Temperature 0 always comes last: it takes the most probable token that is left.
    """

    xtc: XTCSettings = XTC_OFF
    order: tuple[str, ...] = ORDER
    dry_breakers: frozenset[int] = frozenset()

    if TYPE_CHECKING:  # the knobs are known when the program runs

        def __init__(self, **values: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    def __post_init__(self) -> None:
        _check_knobs(self)
        if 0.0 < self.temperature < MIN_TEMPERATURE:
            # Smaller ones overflow float32 and mean the same: the most probable token.
            raise SettingsError("temperature", f"0 or at least {MIN_TEMPERATURE}", self.temperature)
        object.__setattr__(self, "order", _order(self.order))
        object.__setattr__(self, "dry_breakers", _token_ids("dry_breakers", self.dry_breakers))
        if not isinstance(self.xtc, XTCSettings):
            object.__setattr__(self, "xtc", XTCSettings.from_dict(self.xtc))

    def to_dict(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        breakers, order = sorted(self.dry_breakers), list(self.order)
        return values | {"xtc": self.xtc.to_dict(), "dry_breakers": breakers, "order": order}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict` wrote, or an older version with `xtc_place` in place of an order."""
        if isinstance(data, Mapping) and "xtc_place" in data and "order" not in data:
            place = {"after_temperature": ORDER, "before_temperature": in_order(TEMPERATURE)}
            data = dict(data)
            name = data.pop("xtc_place")
            if name not in list(place):
                raise SettingsError("xtc_place", f"one of {', '.join(place)}", name)
            data["order"] = place[name]
        return cls(**_known(cls, data))


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """One stream: a name to show and the stack that it samples with."""

    name: str = "Baseline"
    sampler: SamplerSettings = SamplerSettings()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise SettingsError("name", "text", self.name)
        if not isinstance(self.sampler, SamplerSettings):
            object.__setattr__(self, "sampler", SamplerSettings.from_dict(self.sampler))

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "sampler": self.sampler.to_dict()}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        return cls(**_known(cls, data))


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a run is made of, beside its prompt and model.

    With `shared_randomness` all lanes draw from the same random numbers, so that they differ only
    where their settings make them differ; without it each lane has a stream of its own.
    A lane ends at an end-of-sequence token, after `max_new_tokens`, or when its text contains one
    of `stop`. With `server_draws` the model's server draws by itself, with an XTC and dice of its
    own (`runs.served`).
    """

    lanes: tuple[LaneSettings, ...] = (LaneSettings(),)
    seed: int = int(KNOBS["seed"].default)
    max_new_tokens: int = int(KNOBS["max_new_tokens"].default)
    shared_randomness: bool = True
    stop: tuple[str, ...] = ()
    top_candidates: int = int(KNOBS["top_candidates"].default)
    server_draws: bool = False

    def __post_init__(self) -> None:
        _check_knobs(self)
        if isinstance(self.lanes, str) or not isinstance(self.lanes, Iterable):
            raise SettingsError("lanes", "a list of lanes", self.lanes)
        lanes = tuple(
            lane if isinstance(lane, LaneSettings) else LaneSettings.from_dict(lane)
            for lane in self.lanes
        )
        if not lanes:
            raise SettingsError("lanes", "at least one lane", len(lanes))
        object.__setattr__(self, "lanes", lanes)
        for name in ("shared_randomness", "server_draws"):
            if not isinstance(getattr(self, name), bool):
                raise SettingsError(name, "true or false", getattr(self, name))
        plain = isinstance(self.stop, (list, tuple))
        if not plain or not all(isinstance(s, str) and s for s in self.stop):
            raise SettingsError("stop", "a list of non-empty texts", self.stop)
        object.__setattr__(self, "stop", tuple(self.stop))

    def source(self, lane: int) -> int:
        """Return the source of a lane's random numbers (`sampling.randomness`)."""
        return 0 if self.shared_randomness else 1 + lane

    def to_dict(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        if not self.server_draws:  # older programs, which know nothing of it, read the others
            del values["server_draws"]
        return values | {
            "lanes": [lane.to_dict() for lane in self.lanes],
            "stop": list(self.stop),
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        return cls(**_known(cls, data))


def with_protected(lane: LaneSettings, protected: Iterable[int]) -> LaneSettings:
    """Return `lane` with these protected token ids in its XTC settings."""
    xtc = replace(lane.sampler.xtc, protected=frozenset(protected))
    return replace(lane, sampler=replace(lane.sampler, xtc=xtc))
