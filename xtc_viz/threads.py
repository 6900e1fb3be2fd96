"""How torch's worker threads wait: decided before torch is imported, or not at all.

Idle OpenMP threads spin by default. Beside one other busy process that makes a decoding step on
the CPU up to 70 times slower, as each parallel section waits for a thread that is not scheduled;
waiting passively costs 15 %. The OpenMP library reads the environment once, when it is loaded.

A process is told by its entry (the command, the benchmarks, the training), never by an import of
the library: other people's programs keep the environment that they have.
"""

from __future__ import annotations

import os

WAIT_POLICY = "OMP_WAIT_POLICY"


def wait_passively() -> None:
    """Let idle worker threads sleep, unless the environment already says otherwise."""
    os.environ.setdefault(WAIT_POLICY, "PASSIVE")
