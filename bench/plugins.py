"""The plug-in for vLLM: a batch of 64 rows, V = 151,936, each row with settings of its own, firing.

Against one `torch.softmax` of the batch, which is the least that a step needs; on the CPU with one
thread, and on a CUDA device where there is one.
"""

from __future__ import annotations

from time import perf_counter

import torch

from bench.references import peaked_logits
from bench.timing import Result, interleaved, main, relative
from xtc_viz.plugins.vllm.parameters import Parameters
from xtc_viz.plugins.vllm.slots import Slots

ROWS, VOCAB_SIZE = 64, 151_936
TAUS = (0.05, 0.1, 0.2)


def measure() -> list[Result]:
    names = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    return [batch(torch.device(name)) for name in names]


def batch(device: torch.device) -> Result:
    """Run one step of the whole batch."""
    logits = peaked_logits(ROWS, VOCAB_SIZE, 0).to(device)
    slots = Slots(device)
    for row in range(ROWS):
        slots.put(row, Parameters(1.0, TAUS[row % len(TAUS)], seed=row, protected=frozenset({2})))
    rows, steps = range(ROWS), [3] * ROWS

    def plugin(_: int) -> None:
        slots.apply(logits, rows, steps)  # in place, which costs the same each time
        wait()

    def softmax(_: int) -> None:
        torch.softmax(logits, dim=-1)
        wait()

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    times = interleaved({"plugin": plugin, "softmax": softmax}, clock=perf_counter)
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    name = f"plug-in for vLLM, {ROWS} rows, {where}: as a multiple of one softmax"
    return relative(name, times["plugin"], times["softmax"], "softmax", at_most=2)


if __name__ == "__main__":
    main(measure, __doc__)
