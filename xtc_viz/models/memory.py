"""How much memory models may use on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import torch

# Where Linux tells a container its limit (version 2 and 1 of control groups).
LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


class Machine(NamedTuple):
    """What models run on: `memory` in bytes, of all GPUs together where there are any."""

    gpus: tuple[str, ...]
    memory: int


def this_machine() -> Machine:
    """Return the GPUs and their memory, or the main memory that this process may use."""
    if torch.cuda.is_available():
        devices = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
        return Machine(tuple(d.name for d in devices), sum(d.total_memory for d in devices))
    return Machine((), main_memory())


def main_memory(limits: tuple[Path, ...] = LIMITS) -> int:
    """Return the machine's main memory in bytes, or a container's limit where that is less."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in limits:
        try:
            memory = min(memory, int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue  # no such file, or "max"
    return memory


def readable(size: int) -> str:
    """Return a size in bytes for people, such as `1.4 GB`."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
