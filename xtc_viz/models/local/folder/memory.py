"""How much memory models may use on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.catalog import Machine

# Where Linux tells a container its limit (version 2 and 1 of control groups).
LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
# What the container uses of it, in the same order.
USAGES = (
    Path("/sys/fs/cgroup/memory.current"),
    Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
MEMINFO = Path("/proc/meminfo")


def this_machine(device: str = "auto") -> Machine:
    """Return the memory that models may use on a device: all GPUs where `auto` finds any."""
    if device == "cpu" or not torch.cuda.is_available():
        return Machine((), main_memory(), free_main_memory())
    index = torch.device("cuda" if device == "auto" else device).index
    indices = range(torch.cuda.device_count()) if index is None else (index,)
    names = tuple(torch.cuda.get_device_properties(i).name for i in indices)
    sizes = [torch.cuda.mem_get_info(i) for i in indices]
    # What torch holds and no tensor uses is as good as free.
    spare = sum(torch.cuda.memory_reserved(i) - torch.cuda.memory_allocated(i) for i in indices)
    return Machine(names, sum(total for _, total in sizes), sum(free for free, _ in sizes) + spare)


def check_room(need: int, device: str, name: str, *, now: bool) -> None:
    """Raise `ModelError` where `need` bytes are more than a device has, or has free (`now`)."""
    machine = this_machine(device)
    where = "machine has"
    if machine.gpus:
        where = "GPU has" if len(machine.gpus) == 1 else "machine's GPUs have"
    if need > machine.memory:
        raise ModelError(
            f"{name} does not fit: its weights need {readable(need)} of memory, and this {where} "
            f"{readable(machine.memory)}. Choose a smaller model or fewer bits."
        )
    # A GPU says by itself that it is full; a machine would end this program.
    if now and not machine.gpus and need > machine.free:
        raise ModelError(
            f"{name} does not fit now: its weights need {readable(need)} of memory, and "
            f"{readable(machine.free)} are free. Put the present model away first, or end other "
            "programs."
        )


def main_memory(limits: tuple[Path, ...] = LIMITS) -> int:
    """Return the machine's main memory in bytes, or a container's limit where that is less."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([memory, *filter(None, map(_number, limits))])


def free_main_memory(
    limits: tuple[Path, ...] = LIMITS, usages: tuple[Path, ...] = USAGES, system: Path = MEMINFO
) -> int:
    """Return the bytes of main memory that a program could have now, file caches included."""
    free = _field(system, "MemAvailable:", 1024)
    if free is None:  # not Linux
        free = main_memory(limits)
    for limit, usage in zip(limits, usages, strict=True):
        most, used = _number(limit), _number(usage)
        if most is not None and used is not None:
            cached = _field(usage.with_name("memory.stat"), "inactive_file", 1) or 0
            free = min(free, most - used + cached)
    return max(0, free)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None  # no such file, or "max"


def _field(path: Path, name: str, unit: int) -> int | None:
    """Return a number of a file of named numbers, one a line, in bytes."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    values = [line.split()[1] for line in lines if line.split()[:1] == [name]]
    return int(values[0]) * unit if values else None


def readable(size: int) -> str:
    """Return a size in bytes for people, such as `1.4 GB`."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
