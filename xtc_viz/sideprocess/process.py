"""One other process, as the calling side sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from xtc_viz.errors import XTCVizError
from xtc_viz.sideprocess.messages import MIB, Cost, LimitError, StoppedError, read, write

POLL = 0.05  # seconds between two looks at a call's time and at whether it was stopped

_START = "import sys; sys.path[:] = {path!r}; from xtc_viz.sideprocess.child import serve; serve()"
_ONE_CORE = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


class Process:
    """It does one call at a time, from its start to its end."""

    def __init__(self) -> None:
        code = _START.format(path=[*map(os.path.abspath, sys.path)])
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ONE_CORE},
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def do(self, what: str, request: bytes, most: Cost, stopped: Callable[[], bool]) -> bytes:
        """Return the reply to a request. Raises `LimitError`, `StoppedError`."""
        seconds, memory = most
        ended = threading.Event()
        reason: list[XTCVizError] = []
        begin = self._resident()

        def watch() -> None:
            latest = monotonic() + seconds
            while not ended.wait(POLL):
                if stopped():
                    reason.append(StoppedError(f"{what} was stopped."))
                elif monotonic() > latest:
                    reason.append(
                        LimitError(f"{what} took longer than {seconds:g} s, and was ended.")
                    )
                # Where the system does not hold a process to its memory, or counts it otherwise.
                elif self._resident() > max(begin, 256 * MIB) + 2 * memory:
                    reason.append(_too_much(what, memory))
                if reason:
                    self._process.kill()
                    return

        watcher = threading.Thread(target=watch, name="side process", daemon=True)
        watcher.start()
        reply = None
        try:
            assert self._process.stdin
            assert self._process.stdout
            with suppress(OSError):
                write(self._process.stdin, request)
                reply = read(self._process.stdout)
        finally:
            ended.set()
            watcher.join()
        if reply:
            return reply
        if reason:
            raise reason[0]
        if reply is not None:  # the other side's word for too little memory
            raise _too_much(what, memory)
        raise LimitError(f"{what} ended without a result: its process crashed.")

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()

    def _resident(self) -> int:
        """Return the memory that the process has, in bytes; 0 where the system does not say."""
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _too_much(what: str, memory: int) -> LimitError:
    return LimitError(f"{what} needs more than {memory // MIB:,} MiB of memory, and was ended.")
