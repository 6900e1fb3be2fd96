"""The other side: an interpreter that does one call after the other, within their limits."""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xtc_viz.errors import XTCVizError
from xtc_viz.sideprocess.messages import Work, read, write

GRACE = 1.0  # seconds after which a process whose parent is gone ends itself


def serve() -> None:
    """Do one call after the other, until the input ends. The other process runs this."""
    with suppress(AttributeError, OSError):
        os.nice(10)
    with suppress(AttributeError, ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a function prints is no reply
    silence = open(os.devnull, "w")  # noqa: SIM115 (open as long as the process is)
    while (request := read(requests)) is not None:
        work: Work = pickle.loads(request)
        # Ends the process even where nothing of Python runs, and where the parent is gone.
        faulthandler.dump_traceback_later(work.most.seconds + GRACE, exit=True, file=silence)
        reply = _reply(work)
        faulthandler.cancel_dump_traceback_later()
        write(replies, reply)
        if not reply:
            return  # what is left in memory is not known


def _reply(work: Work) -> bytes:
    """Return (error, value), pickled: a `XTCVizError`, or a traceback. Empty is no memory."""
    try:
        function, arguments = pickle.loads(work.function)
        # Of millions of values that are read, none is garbage.
        gc.disable()
        with _memory(work.most.memory):
            value = function(*arguments)
            return pickle.dumps((None, value), protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return b""
    except XTCVizError as error:
        return pickle.dumps((error, None))
    except Exception:
        return pickle.dumps((traceback.format_exc(), None))
    finally:
        gc.enable()


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
