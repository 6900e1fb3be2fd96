"""How much memory there is on a machine, or in a container."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.catalog import Machine
from xtc_viz.models.local.folder import memory
from xtc_viz.models.local.folder.memory import (
    check_room,
    free_main_memory,
    main_memory,
    readable,
    this_machine,
)


def test_machine_memory(tmp_path: Path) -> None:
    whole = main_memory(())
    assert whole > 10**8
    limit, unlimited = tmp_path / "limit", tmp_path / "max"
    limit.write_text("123456789\n")
    unlimited.write_text("max\n")
    assert main_memory((tmp_path / "absent", unlimited)) == whole
    assert main_memory((unlimited, limit)) == 123456789
    machine = this_machine()
    assert bool(machine.gpus) == torch.cuda.is_available()
    assert machine.memory > 10**8
    assert [readable(n) for n in (123456789, 1_400_000_000)] == ["123 MB", "1.4 GB"]


def test_free_memory_is_what_the_container_has_left(tmp_path: Path) -> None:
    system = tmp_path / "meminfo"
    system.write_text("MemTotal:  900 kB\nMemAvailable:   500 kB\n")
    limit, usage = tmp_path / "memory.max", tmp_path / "memory.current"
    assert free_main_memory((), (), system) == 500 * 1024
    assert free_main_memory((limit,), (usage,), system) == 500 * 1024, "no container"
    limit.write_text("300000\n")
    usage.write_text("250000\n")
    assert free_main_memory((limit,), (usage,), system) == 50_000
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 40000\n")
    assert free_main_memory((limit,), (usage,), system) == 90_000, "a file cache gives way"
    usage.write_text("999999\n")
    assert free_main_memory((limit,), (usage,), system) == 0
    assert 0 < this_machine().free <= this_machine().memory
    assert this_machine("cpu").gpus == ()


def test_weights_need_room(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine((), 8_000_000_000, 3_000_000_000)
    monkeypatch.setattr(memory, "this_machine", lambda device: machine)
    check_room(3_000_000_000, "cpu", "mine", now=True)
    check_room(8_000_000_000, "cpu", "mine", now=False)
    with pytest.raises(ModelError, match=r"mine does not fit: its weights need 8\.1 GB of memory"):
        check_room(8_100_000_000, "cpu", "mine", now=False)
    with pytest.raises(ModelError, match=r"mine does not fit now: .* and 3\.0 GB are free"):
        check_room(3_100_000_000, "cpu", "mine", now=True)
    machine = Machine(("A GPU",), 8_000_000_000, 3_000_000_000)
    check_room(3_100_000_000, "cuda", "mine", now=True)
    with pytest.raises(ModelError, match=r"and this GPU has 8\.0 GB"):
        check_room(8_100_000_000, "cuda", "mine", now=True)
