"""The chain of samplers that llama.cpp's server draws with: a lane's settings, as it knows them.

Its order is that of its `src/llama-sampler.cpp`: top-k, min-p, XTC, temperature, so that XTC acts
before temperature. It protects no token.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from xtc_viz.engines.known.llamacpp import ENGINE
from xtc_viz.errors import LaneError, SettingsError
from xtc_viz.knobs import KNOBS
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.settings import (
    TEMPERATURE,
    XTC,
    RunSettings,
    SamplerSettings,
    Strategy,
    XTCSettings,
    in_order,
)

KIND = "llama.cpp"
TOP_K = 128
"""Where nothing else is said: all that it draws from has to be shown."""
MOST_TOP_K = 1000
MOST_SEED = 2**32 - 2  # the next one stands for a seed by chance

_OWN = ("top_k", "min_p", TEMPERATURE)


def has_own_xtc(info: ModelInfo) -> bool:
    """Whether the model is in a server that can draw by itself, with dice that are known here."""
    return info.served is not None and info.served.kind == KIND


@dataclass(frozen=True, slots=True)
class Chain:
    """What the server is asked to draw with. Without a `top_k` there would be a tail that nobody
    sees."""

    xtc: XTCSettings
    top_k: int = TOP_K
    min_p: float = 0.0
    temperature: float = 1.0
    seed: int = int(KNOBS["seed"].default)

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MOST_TOP_K:
            raise SettingsError("top_k", f"in [1, {MOST_TOP_K}]", self.top_k)
        if not 0.0 <= self.min_p <= 1.0:
            raise SettingsError("min_p", "in [0, 1]", self.min_p)
        if not self.temperature > 0.0:
            raise SettingsError("temperature", "above 0", self.temperature)
        check_seed(self.seed)

    @classmethod
    def of(cls, sampler: SamplerSettings, seed: int) -> Chain:
        """Return a lane as this chain, which has an order of its own and protects nothing.

        Raises:
            SettingsError: naming what such a chain does not have here.
        """
        plain = SamplerSettings()
        for field in fields(sampler):
            name = field.name
            own = getattr(plain, name)
            if name in KNOBS and name not in _OWN and getattr(sampler, name) != own:
                raise SettingsError(name, f"{own:g} where the server draws", getattr(sampler, name))
        if sampler.xtc.strategy is not Strategy.KEEP_LEAST:
            bounds = f"{Strategy.KEEP_LEAST} where the server draws"
            raise SettingsError("strategy", bounds, str(sampler.xtc.strategy))
        xtc = replace(sampler.xtc, protected=frozenset(), dialect=ENGINE.dialect)
        return cls(xtc, sampler.top_k or TOP_K, sampler.min_p, sampler.temperature, seed)

    @property
    def sampler(self) -> SamplerSettings:
        """The same as a lane's settings, in the server's order."""
        return SamplerSettings(
            xtc=self.xtc,
            top_k=self.top_k,
            min_p=self.min_p,
            temperature=self.temperature,
            order=in_order(XTC, TEMPERATURE),
        )

    def tosses(self, count: int) -> bool:
        """Whether XTC tosses a coin where so many tokens are left to choose from."""
        inert_above = ENGINE.dialect.inert_above
        inert = inert_above is not None and self.xtc.tau > inert_above
        return self.xtc.rho > 0.0 and not inert and count > 1

    def request(self) -> dict[str, object]:
        """Return the values by which the server knows it."""
        return {
            "samplers": ["top_k", "min_p", "xtc", "temperature"],
            "top_k": self.top_k,
            "min_p": self.min_p,
            "xtc_probability": self.xtc.rho,
            "xtc_threshold": self.xtc.tau,
            "temperature": self.temperature,
            "seed": self.seed,
        }


def check_seed(seed: int) -> int:
    if not 0 <= seed <= MOST_SEED:
        raise SettingsError("seed", f"in [0, {MOST_SEED}] where the server draws", seed)
    return seed


def chains_of(settings: RunSettings) -> list[Chain]:
    """Return what the server is asked to draw each lane with.

    Raises:
        LaneError: a setting of a lane that such a chain does not have.
        SettingsError: the seed.
    """
    chains = []
    for number, lane in enumerate(settings.lanes):
        seed = check_seed(settings.seed + settings.source(number))
        try:
            chains.append(Chain.of(lane.sampler, seed))
        except SettingsError as error:
            raise LaneError(number, error) from None
    return chains


def as_served(settings: RunSettings) -> RunSettings:
    """Return the settings with each lane as the server has it. Raises as `chains_of` does."""
    pairs = zip(settings.lanes, chains_of(settings), strict=True)
    return replace(settings, lanes=tuple(replace(lane, sampler=c.sampler) for lane, c in pairs))
