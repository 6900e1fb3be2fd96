"""A real vLLM server with the story model in it, started by a test and ended with it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from xtc_viz.assets import STORY_MODEL

ROOT = Path(__file__).parent.parent
PYTHON = "XTC_VIZ_VLLM_PYTHON"
"""The environment variable with the Python that has vLLM, where that is not the tests' own."""
START = 600.0
"""Seconds that vLLM may take to start, and to answer for the first time."""


@contextmanager
def serving_vllm(log: Path, *words: str) -> Iterator[str]:
    """Run a server and yield its address; `words` are further ones of its command line."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = (
        f"-m vllm.entrypoints.openai.api_server --model {STORY_MODEL.relative_to(ROOT)} "
        f"--served-model-name story --port {port} --host 127.0.0.1 --dtype float32 "
        "--max-model-len 512 --enforce-eager --max-num-seqs 16"
    )
    python = os.environ.get(PYTHON, sys.executable)
    environment = {"VLLM_CPU_KVCACHE_SPACE": "1"} | os.environ
    with log.open("w") as output:
        process = subprocess.Popen(
            [python, *command.split(), *words],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
        )
        try:
            end = time.monotonic() + START
            while not _healthy(address):
                if process.poll() is not None or time.monotonic() > end:
                    pytest.fail(log.read_text()[-3000:])
                time.sleep(1)
            yield address
        finally:
            process.terminate()
            process.wait(30)


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
