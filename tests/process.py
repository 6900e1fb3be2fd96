"""The page as a process of its own, until it listens and after it has ended."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple


class Served(NamedTuple):
    """A page that is being served: where, and the lines that its process has printed."""

    url: str
    printed: list[str]
    pid: int


@contextmanager
def served(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] = os.environ,
    *,
    strict: bool = True,
) -> Iterator[Served]:
    """Serve by a command in a folder, at a free port.

    What goes wrong by itself fails the test, unless it is not `strict`.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        printed: list[str] = []
        assert process.stdout
        reader = threading.Thread(target=lambda out: printed.extend(out), args=(process.stdout,))
        reader.start()
        try:
            _wait_for(port, process, printed)
            yield Served(f"http://127.0.0.1:{port}", printed, process.pid)
        finally:
            process.terminate()
            process.wait(20)
            reader.join(20)
    assert not strict or not _tracebacks(printed), "".join(printed)


def _tracebacks(printed: list[str]) -> list[str]:
    """The tracebacks but those of event loops that Python collects at its end."""
    pairs = pairwise(["", *printed])
    return [b for a, b in pairs if "Traceback" in b and not a.startswith("Exception ignored in")]


def _wait_for(port: int, process: subprocess.Popen[str], printed: list[str]) -> None:
    for _ in range(600):
        assert process.poll() is None, "".join(printed)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError("the page did not come up")
