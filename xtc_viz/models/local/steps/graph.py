"""A decode step as a CUDA graph: recorded once, then replayed without Python or launches.

On a GPU a step of a small model is bound by the hundreds of kernels that Python launches one by
one. A graph replays them with a single call, over the same memory, so what is recorded must read
and write fixed buffers only (`static`), must not look at a value, and needs no compiler. Where a
graph cannot be recorded, the decode goes on without one.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from typing import Any

import torch

from xtc_viz.models.local import zerogpu
from xtc_viz.models.local.placement import devices_of
from xtc_viz.models.local.steps.fixed import Graphs, Step, can_be_fixed

log = logging.getLogger(__name__)

SWITCH = "XTC_VIZ_CUDA_GRAPHS"
"""Environment variable: 0 decodes without graphs."""


def graphs_for(model: Any, environment: Mapping[str, str] = os.environ) -> Graphs | None:
    """Return what records this model's steps, or None where they run one kernel at a time.

    That is wherever a model is not on one CUDA device alone, or its step needs more than fixed
    buffers (`can_be_fixed`), or the environment says so (`SWITCH`), or the device is another one
    for every decode (ZeroGPU).
    """
    devices = devices_of(model)
    if len(devices) != 1 or devices[0].type != "cuda" or environment.get(SWITCH) == "0":
        return None
    if zerogpu.here(environment):
        return None
    return CudaGraphs(devices[0]) if can_be_fixed(model) else None


class CudaGraphs:
    """Graphs of one device."""

    # The process may record only one graph at a time.
    _recording = threading.Lock()

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._side: torch.cuda.Stream | None = None
        self._usable = True

    @property
    def usable(self) -> bool:
        return self._usable

    def warm_up(self, step: Step) -> torch.Tensor:
        # On the stream that records later, as its libraries keep a workspace for each stream.
        side, here = self._stream(), torch.cuda.current_stream(self._device)
        side.wait_stream(here)
        with torch.cuda.stream(side):
            logits = step()
        here.wait_stream(side)
        return logits

    def capture(self, step: Step) -> Step | None:
        if not self._usable:
            return None
        try:
            graph = torch.cuda.CUDAGraph()
            # The outer context puts the stream back, which a failed recording does not. Other
            # threads of a server may do as they like meanwhile.
            with (
                self._recording,
                torch.cuda.stream(self._stream()),
                torch.cuda.graph(graph, stream=self._stream(), capture_error_mode="thread_local"),
            ):
                logits = step()
        except Exception:
            self._usable = False
            log.warning("no CUDA graph could be recorded: decoding without", exc_info=True)
            return None

        def replay() -> torch.Tensor:
            with torch.cuda.device(self._device):
                graph.replay()
            return logits

        return replay

    def _stream(self) -> torch.cuda.Stream:
        if self._side is None:
            self._side = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        return self._side
