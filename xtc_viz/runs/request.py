"""A request: what one run is asked to be, parsed once, and what it means on a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from xtc_viz.errors import LaneError, SettingsError
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.runs.breakers import breaker_ids, needs_breakers
from xtc_viz.runs.chain import as_served, chains_of
from xtc_viz.runs.protection import Protection
from xtc_viz.settings import LaneSettings, RunSettings, with_protected
from xtc_viz.texts import valid


@dataclass(frozen=True, slots=True)
class Request:
    """A run that someone wants: the prompt, its settings, and which tokens are protected.

    `system`, `chat` and `thinking` are for the chat template of a model that has one.
    """

    prompt: str
    settings: RunSettings
    protection: Protection = field(default_factory=Protection)
    system: str = ""
    chat: bool = False
    thinking: bool = True

    @classmethod
    def parse(cls, data: object) -> Self:
        """Return the request that plain data holds: `prompt`, `settings` (with `lanes`),
        `protect`, `system`, `chat` and `thinking`; other names are left alone.

        Raises:
            SettingsError: naming what is wrong.
            LaneError: the same for a setting of a lane.
        """
        if not isinstance(data, Mapping):
            raise SettingsError("request", "an object with named values", data)
        settings = parse_settings(data.get("settings", {}))
        prompt = _text("prompt", data.get("prompt", ""))
        if not prompt.strip():
            raise SettingsError("prompt", "a text to go on from", prompt)
        return cls(
            prompt=prompt,
            settings=settings,
            protection=Protection.parse(data.get("protect", {})),
            system=_text("system", data.get("system", "")),
            chat=data.get("chat") is True,
            thinking=data.get("thinking", True) is not False,
        )

    def encode(self, model: LanguageModel) -> list[int]:
        """Return the prompt's token ids for this model, with its chat template where that is
        wanted and there is one."""
        if self.chat and model.info.has_chat_template:
            return model.encode_chat(self.prompt, self.system, thinking=self.thinking)
        return model.encode(self.prompt)

    def guarded(self, model: LanguageModel) -> RunSettings:
        """Return the settings with all that only this model's tokenizer can tell: the ids of the
        protected tokens, in every lane, and what ends DRY's matches. Where the server draws, they
        are those that it has.

        Raises:
            LaneError: τ of a lane is too low for what the model's server shows.
        """
        for number, lane in enumerate(self.settings.lanes):
            _check_floor(number, lane, model.info)
        if self.settings.server_draws:
            return as_served(self.settings)
        ids = self.protection.ids(model)
        lanes = (with_protected(lane, ids) for lane in self.settings.lanes)
        return replace(self.settings, lanes=tuple(_with_breakers(lane, model) for lane in lanes))


def _check_floor(number: int, lane: LaneSettings, info: ModelInfo) -> None:
    """Refuse a τ that more tokens can clear than the model's server shows.

    At most 1/τ of them can, so with K candidates all that do are among these where τ ≥ 1/K.
    """
    shows, xtc = info.served and info.served.candidates, lane.sampler.xtc
    if shows and xtc.rho > 0.0 and xtc.tau * shows < 1.0:
        least = math.ceil(10_000 / shows) / 10_000
        bounds = f"at least {least:g}, as this server shows {shows} candidates at a step"
        raise LaneError(number, SettingsError("tau", bounds, xtc.tau))


def _with_breakers(lane: LaneSettings, model: LanguageModel) -> LaneSettings:
    if not needs_breakers(lane.sampler):
        return lane
    return replace(lane, sampler=replace(lane.sampler, dry_breakers=breaker_ids(model)))


def parse_settings(data: object) -> RunSettings:
    """Return the settings of a run that plain data holds.

    Raises:
        SettingsError: naming what is wrong.
        LaneError: the same for a setting of a lane.
    """
    if not isinstance(data, Mapping):
        raise SettingsError("settings", "an object with named values", data)
    lanes = data.get("lanes", [])
    if not isinstance(lanes, (list, tuple)):
        raise SettingsError("lanes", "a list of lanes", lanes)
    lane_settings = [_lane(i, v) for i, v in enumerate(lanes)]
    settings = RunSettings.from_dict({**data, "lanes": lane_settings})
    for text in settings.stop:
        valid("stop", text)
    if settings.server_draws:
        chains_of(settings)
    return settings


def _lane(index: int, value: object) -> LaneSettings:
    try:
        lane = LaneSettings.from_dict(value)
        valid("name", lane.name)
    except SettingsError as error:
        raise LaneError(index, error) from None
    return lane


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise SettingsError(name, "a text", value)
    return valid(name, value)
