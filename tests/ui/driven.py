"""The app's asynchronous generators and questions, driven step by step from tests that are not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from threading import local
from typing import Any, Generic, TypeVar

from xtc_viz.ui import api, server, service
from xtc_viz.ui import stream as streaming

T = TypeVar("T")


class _Thread(local):
    """The event loop of a thread, which ends with it."""

    def __init__(self) -> None:
        self.runner = _Runner()


class _Runner:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def __del__(self) -> None:
        self.loop.close()


_own = _Thread()


class Driven(Iterator[T], Generic[T]):
    """An asynchronous generator as a plain one; between two values its loop stands still."""

    def __init__(self, values: AsyncGenerator[T, None]) -> None:
        self._values = values
        self._loop = _own.runner.loop

    def __next__(self) -> T:
        try:
            return self._loop.run_until_complete(self._next())
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        self._loop.run_until_complete(self._values.aclose())

    async def _next(self) -> T:
        return await anext(self._values)  # within the loop, which then sees to its end


def _driven(function: Callable[..., AsyncGenerator[T, None]]) -> Callable[..., Driven[T]]:
    return lambda *arguments, **named: Driven(function(*arguments, **named))


messages = _driven(streaming.messages)
stream = _driven(streaming.stream)
events = _driven(service.events)
reports = _driven(api.reports)


def asked(question: Callable[..., Any]) -> Callable[..., str]:
    """Return a question that waits for its answer."""

    def ask(*arguments: Any) -> str:
        return str(_own.runner.loop.run_until_complete(question(*arguments)))

    ask.__name__, ask.__doc__ = question.__name__, question.__doc__
    return ask


def answer(function: Callable[..., object]) -> Callable[..., str]:
    return asked(server.answer(function))


def questions(of: service.Service) -> list[Callable[..., str]]:
    """All that the page may ask, the opening of a trace file too."""
    return [asked(question) for question in (*server.questions(of), server.opening(of))]
