"""A llama.cpp server in a process of its own, which a test kills and starts again where it was.

python -m tests.models.remote.llama_process model.gguf 7830 2
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx

from tests.models.remote.llama import serving

ROOT = Path(__file__).resolve().parents[3]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LlamaProcess:
    """A server with the model of a file, at one address for all of its lives."""

    def __init__(self, path: Path, slots: int = 2) -> None:
        self.path, self.slots, self.port = path, slots, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["-m", __name__, str(self.path), str(self.port), str(self.slots)]
        self._process = subprocess.Popen(
            [sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL
        )

    def wait(self) -> None:
        """Return when its model is loaded."""
        for _ in range(600):
            assert self._process
            assert self._process.poll() is None, "the server ended by itself"
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.address}/health").status_code == 200:
                    return
            time.sleep(0.05)
        raise AssertionError("the server did not come up")

    @property
    def lives(self) -> bool:
        return self._process is not None

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(20)
            self._process = None


if __name__ == "__main__":
    file, port, slots = sys.argv[1:]
    with serving(Path(file), slots=int(slots), port=int(port)):
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
