"""The exception tree: every message names the parameter, its bounds and the value."""

from __future__ import annotations

from typing import Any


class XTCVizError(Exception):
    """Base of everything that xtc_viz raises on purpose; its text is fit to show to a user."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an error is made anew from its text alone, whatever its class takes.
        return _again, (type(self), self.args, self.__dict__)


class SettingsError(XTCVizError, ValueError):
    """A setting is out of its bounds or of the wrong kind."""

    def __init__(self, parameter: str, bounds: str, value: object) -> None:
        super().__init__(f"`{parameter}` must be {bounds}, but is {value!r}")
        self.parameter = parameter
        self.bounds = bounds
        self.value = value


class PromptError(XTCVizError, ValueError):
    """A prompt that the model cannot take, such as one longer than its context."""


class DistributionError(XTCVizError, ValueError):
    """Logits that are no distribution: NaN, +inf, or every token masked."""


class TraceError(XTCVizError, ValueError):
    """A trace file that is broken or of another version."""


class ModelError(XTCVizError):
    """A model that could not be loaded; the former model stays in use."""


class BusyError(XTCVizError):
    """The model is in use by another run or load."""


def _again(kind: type[XTCVizError], args: tuple[Any, ...], values: dict[str, Any]) -> XTCVizError:
    """Return an error as it was before it went to another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(values)
    return error
