"""The platform of a ZeroGPU Space, without its scheduler: each call of a generator has a worker.

As there, arguments and items are pickled, the worker is a fork that has what its parent had, an
error in it comes out as its class's name, and closing the generator ends it at its next item.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from typing import Any


class PlatformError(Exception):
    """What the platform raises: a title and words for the visitor, as in gradio's own error."""

    def __init__(self, title: str, message: str) -> None:
        super().__init__(message)
        self.title, self.message = title, message


class ForkingSpaces:
    """Stands for the package `spaces`. `durations` are those that were asked for; `refusal`, when
    set, is raised in place of lending a GPU."""

    def __init__(self) -> None:
        self.durations: list[float] = []
        self.refusal: Exception | None = None

    def GPU(self, task: Callable[..., Iterator[Any]], duration: Callable[..., int]) -> Any:  # noqa: N802
        context = multiprocessing.get_context("fork")

        def lent(*args: Any, **kwargs: Any) -> Iterator[Any]:
            self.durations.append(duration(*args, **kwargs))
            if self.refusal:
                raise self.refusal
            sent = pickle.dumps((args, kwargs))
            read, write = context.Pipe(duplex=False)
            stop = context.Event()

            def work() -> None:
                args, kwargs = pickle.loads(sent)
                try:
                    items: Any = task(*args, **kwargs)
                    for item in items:
                        if stop.is_set():
                            items.close()
                            break
                        write.send_bytes(pickle.dumps(("item", item)))
                except Exception as error:
                    write.send_bytes(pickle.dumps(("error", type(error).__name__)))
                write.send_bytes(pickle.dumps(("end", None)))

            process = context.Process(target=work, daemon=True)
            process.start()
            write.close()
            kind = ""
            try:
                while True:
                    kind, item = pickle.loads(read.recv_bytes())
                    if kind == "end":
                        return
                    if kind == "error":
                        raise PlatformError("ZeroGPU worker error", item)
                    yield item
            finally:
                stop.set()
                while kind != "end":
                    kind, _ = pickle.loads(read.recv_bytes())
                process.join()
                read.close()

        return lent
