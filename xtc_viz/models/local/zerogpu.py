"""Decoding on a ZeroGPU Space, where a GPU is there for the length of a call only.

The platform forks a worker for each call, in which alone CUDA works. What goes in and what comes
out is pickled: a decode goes in as prompt ids and settings, plain columns come out, and the model
is not passed at all, as the fork has it already. What the worker changes is lost with it, so the
page and its store stay in the main process. Everywhere else `on_gpu` changes nothing.

On such a Space the model must be loaded, on `cuda`, before the page is launched; and this module
must be imported before anything touches CUDA.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import Any, NamedTuple, ParamSpec, TypeVar

from xtc_viz.errors import BusyError, XTCVizError

P = ParamSpec("P")
T = TypeVar("T")

# The platform's own bounds for a call, in seconds.
SHORTEST, LONGEST = 10, 120


def here(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process runs on a ZeroGPU Space."""
    return environment.get("SPACES_ZERO_GPU", "").lower() in {"1", "t", "true"}


# The platform patches torch when its package is imported, which must come before any use of CUDA.
_spaces: Any = importlib.import_module("spaces") if here() else None


class Failure(NamedTuple):
    """An error on its way out of the worker.

    The platform passes on no more than an error's class, and an exception with arguments of its
    own cannot be unpickled: so its parts travel instead.
    """

    kind: type[XTCVizError]
    message: str
    values: dict[str, Any]

    @classmethod
    def of(cls, error: XTCVizError) -> Failure:
        return cls(type(error), str(error), dict(vars(error)))

    def error(self) -> XTCVizError:
        error = self.kind.__new__(self.kind, self.message)
        vars(error).update(self.values)
        return error


def on_gpu(
    task: Callable[P, Generator[T, None, None]],
    seconds: Callable[P, float],
    spaces: Any = None,
) -> Callable[P, Generator[T, None, None]]:
    """Return `task`, a generator of plain data, so that it runs where the GPU is.

    `seconds` estimates from the same arguments how long a call takes. Arguments and items must be
    picklable. Closing the generator ends the worker's at its next item. Off ZeroGPU this is `task`
    itself; there it raises `BusyError` where the platform lends no GPU.
    """
    platform = spaces or _spaces
    if platform is None:
        return task

    def in_worker(*args: P.args, **kwargs: P.kwargs) -> Generator[T | Failure, None, None]:
        try:
            yield from task(*args, **kwargs)
        except XTCVizError as error:
            yield Failure.of(error)

    def duration(*args: P.args, **kwargs: P.kwargs) -> int:
        return round(min(LONGEST, max(SHORTEST, seconds(*args, **kwargs))))

    in_platform: Callable[P, Generator[T | Failure, None, None]] = platform.GPU(
        in_worker, duration=duration
    )

    def unpacked(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        try:
            with closing(in_platform(*args, **kwargs)) as items:
                for item in items:
                    if isinstance(item, Failure):
                        raise item.error()
                    yield item
        except XTCVizError:
            raise
        except Exception as error:
            raise _refusal(error) from error

    return unpacked


def _refusal(error: Exception) -> Exception:
    """Return what to raise for an error of the platform, which has a title and words to show."""
    words = getattr(error, "message", None)
    if not isinstance(words, str):
        return error
    plain = re.sub(r"<[^>]*>", "", words)
    return BusyError(f"{getattr(error, 'title', 'ZeroGPU')}: {plain}")


def estimated_seconds(new_tokens: int, seconds_a_step: float = 0.04) -> float:
    """Return how long a decode of so many steps may take, the worker's start included.

    All lanes share a step. The default suits models up to about 14B parameters.
    """
    return 5.0 + new_tokens * seconds_a_step
