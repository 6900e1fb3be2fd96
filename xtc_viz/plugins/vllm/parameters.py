"""What a request asks XTC for, in `vllm_xargs`; names as in the engines that have XTC."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from xtc_viz.errors import SettingsError
from xtc_viz.knobs import KNOBS

PREFIX = "xtc_"
NUMBERS = {
    "xtc_probability": "rho",
    "xtc_threshold": "tau",
    "xtc_seed": "seed",
    "xtc_top_k": "top_k",
    "xtc_top_p": "top_p",
    "xtc_min_p": "min_p",
}
"""The numbers of a request, and the knobs whose bounds they have."""
MOST_PROTECTED = 256


@dataclass(frozen=True, slots=True)
class Parameters:
    """What XTC does in one request.

    `seed` None means coins that nobody can repeat. `protected` are token ids that it must never
    silence. `top_k`, `top_p` and `min_p` cut off in front of it; 0, 1 and 0 are off.
    """

    rho: float
    tau: float
    seed: int | None = None
    protected: frozenset[int] = frozenset()
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    @property
    def cuts(self) -> bool:
        return bool(self.top_k or self.top_p < 1 or self.min_p)


class Request(Protocol):
    """What is read of vLLM's `SamplingParams`."""

    @property
    def extra_args(self) -> Mapping[str, Any] | None: ...
    @property
    def temperature(self) -> float: ...
    @property
    def all_stop_token_ids(self) -> Iterable[int]: ...


def asked(request: Request) -> Parameters | None:
    """Return what a request asks for. Raises `SettingsError`, which is a `ValueError`."""
    ends = frozenset(request.all_stop_token_ids)
    return parameters(request.extra_args, request.temperature, ends)


def parameters(
    asked: Mapping[str, Any] | None, temperature: float, ends: frozenset[int] = frozenset()
) -> Parameters | None:
    """Return what a request's extra arguments ask for; None where they ask for no XTC.

    `xtc_probability` and `xtc_threshold` have the defaults of the page where only one is given.
    `ends` are the tokens that end this request's text: they are protected unless
    `xtc_protect_ends` is 0.

    Raises:
        SettingsError: a name is none of ours, a value lies outside its bounds, or the request
            wants the most probable token at every step (temperature 0), which vLLM takes by itself.
    """
    own = {name: value for name, value in (asked or {}).items() if name.startswith(PREFIX)}
    if not own:
        return None
    known = [*NUMBERS, "xtc_protected", "xtc_protect_ends"]
    for name in own:
        if name not in known:
            raise SettingsError("vllm_xargs", f"of {', '.join(known)}", name)
    numbers = {}
    for name, knob in NUMBERS.items():
        if name in own:
            numbers[knob] = _number(name, knob, own[name])
    rho = numbers.get("rho", KNOBS["rho"].default)
    if rho and temperature < 1e-5:
        raise SettingsError("temperature", "above 0 with XTC, which vLLM skips there", temperature)
    protect_ends = own.get("xtc_protect_ends", 1)
    if protect_ends not in (0, 1):
        raise SettingsError("xtc_protect_ends", "0 or 1", protect_ends)
    return Parameters(
        rho=rho,
        tau=numbers.get("tau", KNOBS["tau"].default),
        seed=int(numbers["seed"]) if "seed" in numbers else None,
        protected=_ids(own.get("xtc_protected", [])) | (ends if protect_ends else frozenset()),
        top_k=int(numbers.get("top_k", 0)),
        top_p=numbers.get("top_p", 1.0),
        min_p=numbers.get("min_p", 0.0),
    )


def _number(name: str, knob: str, value: object) -> float:
    """Return a number within the knob's bounds, and complain in the request's own word."""
    try:
        return KNOBS[knob].check(value)
    except SettingsError as error:
        raise SettingsError(name, KNOBS[knob].interval, value) from error


def _ids(value: object) -> frozenset[int]:
    ids = value if isinstance(value, list) else [value]
    whole = all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i < 2**31 for i in ids)
    if not whole or len(ids) > MOST_PROTECTED:
        raise SettingsError("xtc_protected", f"up to {MOST_PROTECTED} token ids", value)
    return frozenset(ids)
