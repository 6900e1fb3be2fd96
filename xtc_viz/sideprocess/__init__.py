"""Work in another process, within limits of time and memory: what a stranger's file can make slow
or large holds nobody up there, and can be ended.

    pool.call("Reading this file", read, text, most=Cost(seconds=10.0, memory=512 * MIB))

The other process is an interpreter of its own and no fork, as this one has torch's threads, and it
imports only what the function needs, never the program's own `__main__`. It stays for the next
call. It gives way to this process (`nice`), uses one core, and ends with it: when its input ends,
and, in the middle of a call, at that call's limit.
"""

from __future__ import annotations

from xtc_viz.sideprocess.calls import SidePool
from xtc_viz.sideprocess.messages import MIB, Cost, LimitError, StoppedError

__all__ = ["MIB", "Cost", "LimitError", "SidePool", "StoppedError", "pool"]

pool = SidePool()
"""The one that the app shares."""
