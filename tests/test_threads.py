"""How a process uses its threads: every entry has idle ones sleep, the page leaves a core free."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from xtc_viz.models.local.model import leave_a_core

ENTRIES = {
    "command": "import xtc_viz.cli; xtc_viz.cli.TASKS['page'] = xtc_viz.cli.Task('', print); "
    "xtc_viz.cli.main([])",
    "benchmarks": "import bench",
    "training": "import training",
}


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter that has no policy of its own, and print the policy."""
    clean = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    return subprocess.run(
        [sys.executable, "-c", f"{code}\nimport os; print(os.environ['OMP_WAIT_POLICY'])"],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_decides(entry: str) -> None:
    assert run(ENTRIES[entry]).stdout.split()[-1] == "PASSIVE"


@pytest.mark.slow
def test_idle_threads_do_not_spin() -> None:
    """The policy stands before torch is imported, so its threads sleep."""
    done = run(f"{ENTRIES['training']}\nimport torch", OMP_DISPLAY_ENV="verbose")
    # GNU's OpenMP library, where torch uses it, says what it took from the environment.
    if "GOMP_SPINCOUNT" in done.stderr:
        assert "GOMP_SPINCOUNT = '0'" in done.stderr


def test_a_policy_of_the_users_own_stands() -> None:
    done = run(ENTRIES["training"], OMP_WAIT_POLICY="ACTIVE")
    assert done.stdout.split() == ["ACTIVE"]


def test_a_core_stays_free_unless_the_environment_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = torch.get_num_threads()
    try:
        monkeypatch.setattr(os, "cpu_count", lambda: 3)
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        torch.set_num_threads(1)
        leave_a_core()
        assert torch.get_num_threads() == 1
        monkeypatch.delenv("OMP_NUM_THREADS")
        leave_a_core()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
