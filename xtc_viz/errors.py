"""The exception tree: every message names the parameter, its bounds and the value."""

from __future__ import annotations

import reprlib
from typing import Any

LONGEST = 100
"""Characters of a value, or of a name, that a message may quote."""


class Words(str):
    """What a message is to say of a value in place of showing it: `101 characters`."""

    __slots__ = ()


class _Shown(reprlib.Repr):
    """Values in few words; what Python alone calls so has its name in JSON, or none."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60
        self.maxlevel = 3

    def repr_int(self, x: int, level: int) -> str:
        digits = int(x.bit_length() * 0.30103) + 1  # log10(2); Python writes none of 5,000 digits
        return repr(x) if digits <= 40 else f"a number of {digits:,} digits"

    def repr_bool(self, x: bool, level: int) -> str:
        return "true" if x else "false"

    def repr_NoneType(self, x: None, level: int) -> str:  # noqa: N802
        return "nothing"


def shown(value: object) -> str:
    """Return a value as a message may quote it: short and printable, whatever it is."""
    return value if isinstance(value, Words) else shortened(_Shown().repr(value))


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text as a message may quote it: short, and without what turns or breaks a line."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return "".join(c if c.isprintable() else "\ufffd" for c in cut)


class XTCVizError(Exception):
    """Base of everything that xtc_viz raises on purpose; its text is fit to show to a user."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an error is made anew from its text alone, whatever its class takes.
        return _again, (type(self), self.args, self.__dict__)


class SettingsError(XTCVizError, ValueError):
    """A setting is out of its bounds or of the wrong kind."""

    def __init__(self, parameter: str, bounds: str, value: object) -> None:
        parameter = shortened(parameter)
        super().__init__(f"`{parameter}` must be {bounds}, but is {shown(value)}")
        self.parameter = parameter
        self.bounds = bounds
        self.value = value


class LaneError(SettingsError):
    """A setting of one lane is out of its bounds or of the wrong kind; `lane` is its index."""

    def __init__(self, lane: int, error: SettingsError) -> None:
        super().__init__(error.parameter, error.bounds, error.value)
        self.lane = lane


class PromptError(XTCVizError, ValueError):
    """A prompt that the model cannot take, such as one longer than its context."""


class DistributionError(XTCVizError, ValueError):
    """Logits that are no distribution: NaN, +inf, or every token masked."""


class TraceError(XTCVizError, ValueError):
    """A trace file that is broken or of another version."""


class FormError(XTCVizError, ValueError):
    """A text that holds no settings in the words of a program that is known."""


class SuiteError(XTCVizError, ValueError):
    """A suite of prompts that is not there or broken; file, line and field are named."""


class StoreError(XTCVizError):
    """A store of cells that cannot be opened, read or written; what it holds stays as it is."""


class ModelError(XTCVizError):
    """A model that could not be loaded; the former model stays in use."""


class ServerError(XTCVizError):
    """A server of a model that gave no answer, or none that can be used."""


class BusyError(XTCVizError):
    """The model is in use by another run or load."""


class UnknownRunError(XTCVizError, KeyError):
    """A run that this server does not keep (any more)."""

    def __str__(self) -> str:
        return "This run is no longer kept on the server. Generate it again to look at its steps."


def _again(kind: type[XTCVizError], args: tuple[Any, ...], values: dict[str, Any]) -> XTCVizError:
    """Return an error as it was before it went to another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(values)
    return error
