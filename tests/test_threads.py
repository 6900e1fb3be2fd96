"""The wait policy is in force in a fresh interpreter, whichever module comes first."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

MODULES = ["xtc_viz", "xtc_viz.models.base"]


def run(module: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Import `module`, then torch, in a fresh interpreter that has no policy of its own."""
    clean = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    code = f"import os, {module}, torch; print(os.environ['OMP_WAIT_POLICY'])"
    return subprocess.run(
        [sys.executable, "-c", code],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize("module", MODULES)
def test_idle_threads_do_not_spin(module: str) -> None:
    done = run(module, OMP_DISPLAY_ENV="verbose")
    assert done.stdout.split() == ["PASSIVE"]
    # GNU's OpenMP library, where torch uses it, says what it took from the environment.
    if "GOMP_SPINCOUNT" in done.stderr:
        assert "GOMP_SPINCOUNT = '0'" in done.stderr


def test_a_policy_of_the_users_own_stands() -> None:
    assert run("xtc_viz", OMP_WAIT_POLICY="ACTIVE").stdout.split() == ["ACTIVE"]
