"""Work in another process, within limits of time and memory: what a stranger's file can make slow
or large holds nobody up there, and can be ended.

    pool.call("Reading this file", read, text, most=Cost(seconds=10.0, memory=512 * MIB))

The other process is an interpreter of its own and no fork, as this one has torch's threads, and it
imports only what the function needs, never the program's own `__main__`. It stays for the next
call. It gives way to this process (`nice`), uses one core, and ends with it: when its input ends,
and, in the middle of a call, at that call's limit.
"""

from __future__ import annotations

import atexit
import os
import pickle
import struct
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import IO, Any, NamedTuple, TypeVar

from xtc_viz.errors import BusyError, XTCVizError

MIB = 2**20
PROCESSES = 2  # at once, and so the most cores that such work may take
WAITING = 12  # calls that may wait for one of them
OF_ONE = 2  # calls of one visitor, going or waiting
POLL = 0.05  # seconds between two looks at a call's time and at whether it was stopped
GRACE = 1.0  # seconds after which a process whose parent is gone ends itself

_START = "import sys; sys.path[:] = {path!r}; from xtc_viz.sideprocess import serve; serve()"
_ONE_CORE = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
_LENGTH = struct.Struct("<Q")

T = TypeVar("T")


class LimitError(XTCVizError):
    """Work that took more time or memory than it may, or that crashed its process."""


class StoppedError(XTCVizError):
    """Work that was stopped by whoever asked for it."""


class Cost(NamedTuple):
    """What a call may take: `seconds`, and `memory` in bytes beyond what its process has."""

    seconds: float
    memory: int


class _Work(NamedTuple):
    """A function with its arguments, pickled, and what it may take."""

    function: bytes
    most: Cost


class SidePool:
    """At most `processes` other processes, each doing one call at a time.

    Those who call wait in their order. Safe to use from many threads.
    """

    def __init__(
        self, processes: int = PROCESSES, waiting: int = WAITING, of_one: int = OF_ONE
    ) -> None:
        self._most, self._waiting, self._of_one = processes, waiting, of_one
        self._changed = threading.Condition()
        self._line: deque[object] = deque()
        self._callers: list[str] = []
        self._busy = 0
        self._idle: list[_Process] = []
        atexit.register(self.close)

    def call(
        self,
        what: str,
        function: Callable[..., T],
        *arguments: Any,
        most: Cost,
        visitor: str = "",
        stopped: Callable[[], bool] = lambda: False,
    ) -> T:
        """Return `function(*arguments)`, done in another process.

        The function stands at the top of a module; it, its arguments and its value can be pickled.
        The waiting for a free process is not among the seconds that it may take. `what` names the
        work in messages ("Reading this file"), `visitor` says whose it is, where that is known, and
        `stopped` is asked 20 times a second.

        Raises:
            LimitError: it took more than that, or crashed its process, which is ended.
            StoppedError: `stopped` said so.
            BusyError: too many calls wait already, or too many of this visitor.
            XTCVizError: what the function raised of this kind.
            RuntimeError: it raised anything else; the text is the traceback.
        """
        request = pickle.dumps(_Work(pickle.dumps((function, arguments)), most))
        with self._place(visitor, stopped, what):
            process = self._take()
            try:
                reply = process.do(what, request, most, stopped)
            except BaseException:
                process.end()
                raise
            with self._changed:
                self._idle.append(process)
        error, value = pickle.loads(reply)
        if error is not None:
            raise error if isinstance(error, XTCVizError) else RuntimeError(error)
        return value  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the processes that have nothing to do; the next call starts new ones."""
        with self._changed:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    @contextmanager
    def _place(self, visitor: str, stopped: Callable[[], bool], what: str) -> Iterator[None]:
        """Wait for the turn of a call, and hold it."""
        ticket = object()
        with self._changed:
            if visitor and self._callers.count(visitor) >= self._of_one:
                raise BusyError(
                    f"{self._of_one} files of yours are being read or written already: wait for "
                    "one of them."
                )
            if self._busy + len(self._line) >= self._most + self._waiting:
                raise BusyError("The server reads and writes many files: try again in a moment.")
            self._callers.append(visitor)
            self._line.append(ticket)
        begun = False
        try:
            with self._changed:
                while self._line[0] is not ticket or self._busy >= self._most:
                    if stopped():
                        raise StoppedError(f"{what} was stopped.")
                    self._changed.wait(POLL)
                self._line.popleft()
                self._busy += 1
                begun = True
            yield
        finally:
            with self._changed:
                self._callers.remove(visitor)
                if begun:
                    self._busy -= 1
                else:
                    self._line.remove(ticket)
                self._changed.notify_all()

    def _take(self) -> _Process:
        with self._changed:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
        return _Process()


class _Process:
    """One other process, as the calling side sees it."""

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
                _write(self._process.stdin, request)
                reply = _read(self._process.stdout)
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


# The other side


def serve() -> None:
    """Do one call after the other, until the input ends. The other process runs this."""
    import faulthandler
    import signal

    with suppress(AttributeError, OSError):
        os.nice(10)
    with suppress(AttributeError, ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a function prints is no reply
    silence = open(os.devnull, "w")  # noqa: SIM115 (open as long as the process is)
    while (request := _read(requests)) is not None:
        work: _Work = pickle.loads(request)
        # Ends the process even where nothing of Python runs, and where the parent is gone.
        faulthandler.dump_traceback_later(work.most.seconds + GRACE, exit=True, file=silence)
        reply = _reply(work)
        faulthandler.cancel_dump_traceback_later()
        _write(replies, reply)
        if not reply:
            return  # what is left in memory is not known


def _reply(work: _Work) -> bytes:
    """Return (error, value), pickled: a `XTCVizError`, or a traceback. Empty is no memory."""
    try:
        function, arguments = pickle.loads(work.function)
        with _memory(work.most.memory):
            value = function(*arguments)
            return pickle.dumps((None, value), protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return b""
    except XTCVizError as error:
        return pickle.dumps((error, None))
    except Exception:
        return pickle.dumps((traceback.format_exc(), None))


@contextmanager
def _memory(more: int) -> Iterator[None]:
    """Let this process take so many bytes more, where the system has such a limit.

    Of the limits that there are, that on data is meant: what a library maps for its code does not
    count.
    """
    try:
        import resource

        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except (ImportError, OSError):
        yield
        return
    size = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData"))
    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = size + more if before[1] < 0 else min(size + more, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _write(file: IO[bytes], data: bytes) -> None:
    file.write(_LENGTH.pack(len(data)))
    file.write(data)
    file.flush()


def _read(file: IO[bytes]) -> bytes | None:
    """Return the next message, None where there is none."""
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = file.read(length)
    return data if len(data) == length else None


pool = SidePool()
"""The one that the app shares."""
