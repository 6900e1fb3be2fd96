"""What a CUDA graph does, on the CPU: the operations of a step, recorded once and run again.

A tape holds every tensor operation with the very tensors that it was given, as a graph holds
kernels with addresses. Whatever Python decided while recording is decided for good, an operation
that looks at a value is refused, and the result always comes out in the same memory. A step that
a tape replays rightly leans on nothing but its buffers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from xtc_viz.models.local.steps.fixed import Step

aten = torch.ops.aten
# Each of these makes the host wait for the device, or copies from the host's memory.
LOOKS = {
    aten._local_scalar_dense.default,
    aten.is_nonzero.default,
    aten.equal.default,
    aten.nonzero.default,
    aten.masked_select.default,
    aten.lift_fresh.default,
}
INDEXING = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default}


class Tape(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[Any, tuple[Any, ...], dict[str, Any], Any]] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        by_mask = func in INDEXING and any(i is not None and i.dtype == torch.bool for i in args[1])
        if func in LOOKS or by_mask:
            raise RuntimeError(f"{func} while a step is recorded")
        result = func(*args, **(kwargs or {}))
        self.operations.append((func, args, kwargs or {}, result))
        return result

    def run(self, wanted: torch.Tensor) -> torch.Tensor:
        """Run all operations again and return what now stands for `wanted`."""
        now: dict[int, torch.Tensor] = {}

        def current(tensor: torch.Tensor) -> torch.Tensor:
            return now.get(id(tensor), tensor)

        for func, args, kwargs, before in self.operations:
            args, kwargs = tree_map_only(torch.Tensor, current, (args, kwargs))
            after = func(*args, **kwargs)
            many = isinstance(before, (tuple, list))
            for old, new in zip(before, after, strict=True) if many else [(before, after)]:
                if isinstance(old, torch.Tensor):
                    now[id(old)] = new
        return now[id(wanted)]


class HostTape(Tape):
    """Notes the operations on tensors in the host's memory, for a model that is elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.on_host: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = super().__torch_dispatch__(func, types, args, kwargs)
        tensors = [x for x in tree_leaves((args, kwargs, result)) if isinstance(x, torch.Tensor)]
        if any(tensor.device.type == "cpu" for tensor in tensors):
            self.on_host.append(str(func))
        return result


class TapeGraphs:
    """Records steps on tapes (`static.Graphs`); counts what was recorded and replayed."""

    def __init__(self) -> None:
        self.usable = True
        self.warmed = self.recorded = self.replayed = 0

    def warm_up(self, step: Step) -> torch.Tensor:
        self.warmed += 1
        return step()

    def capture(self, step: Step) -> Step | None:
        self.recorded += 1
        tape = Tape()
        with tape:
            logits = step()
        ran = True  # unlike a graph, a tape runs while it records

        def replay() -> torch.Tensor:
            nonlocal ran
            self.replayed += 1
            if not ran:
                logits.copy_(tape.run(logits))
            ran = False
            return logits

        return replay


class RefusingGraphs:
    """Can record nothing, as where a driver or a model does not allow it."""

    def __init__(self) -> None:
        self.usable = True
        self.asked = 0

    def warm_up(self, step: Step) -> torch.Tensor:
        return step()

    def capture(self, step: Step) -> Step | None:
        self.asked += 1
        self.usable = False
        return None
