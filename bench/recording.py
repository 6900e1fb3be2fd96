"""Everything between two forwards, for two lanes at V = 49,152 (and 151,936), one thread.

Post-processing is the shared noise, the whole stack with XTC, the draw, the counterfactual and the
full record of both lanes. Recording is what that takes beyond a bare step, which normalizes,
decides and draws with the same random numbers and keeps nothing; it is held against a step of the
135M model. Then: what a step costs at token 1,000 against token 100, what the steps of a trace
of two lanes of 500 take in memory (the texts of its tokens apart), and how long it takes to write
and read as a file.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from statistics import median
from time import process_time as clock

import numpy as np
import torch

from bench.decode import XTC, prompt_ids
from bench.models import random_135m
from bench.references import peaked_logits
from bench.timing import Result, alternating, interleaved, main, relative, time_text
from xtc_viz.models.fake import FakeModel
from xtc_viz.records import tracefile
from xtc_viz.records.step import Step
from xtc_viz.runs.jobs import Job
from xtc_viz.runs.record import write
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.sampling.distribution import Distribution
from xtc_viz.sampling.draw import draw
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.rule import decide
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings

VOCAB_SIZE = 49_152
LARGE_VOCAB_SIZE = 151_936
INPUTS = 16
LANES = (LaneSettings(), LaneSettings("XTC", SamplerSettings(xtc=XTC)))


def measure() -> list[Result]:
    post, bare = post_processing(VOCAB_SIZE)
    large, _ = post_processing(LARGE_VOCAB_SIZE)
    step = forward_135m()
    recording = Result(
        "recording, as a share of a 135M bfloat16 step",
        100 * (post - bare) / (step + post), "%", at_most=1,
        detail=f"{time_text(post - bare)} of {time_text(step + post)}",
    )  # fmt: skip
    return [
        Result("post-processing, 2 lanes, V = 49,152", post * 1e3, "ms", at_most=0.8),
        # On a GPU the host does this too, beside steps of 5 ms and more.
        Result("post-processing, 2 lanes, V = 151,936", large * 1e3, "ms", at_most=2),
        recording,
        long_run(),
        *trace_costs(),
    ]


def post_processing(vocab_size: int) -> tuple[float, float]:
    """Return the time of a step's post-processing, and that of a bare step."""
    logits = [peaked_logits(len(LANES), vocab_size, seed) for seed in range(INPUTS)]
    context = torch.arange(200)
    stacks = [SamplerStack(lane.sampler) for lane in LANES]
    randomness = SharedRandomness(7)

    def full(i: int) -> list[Step]:
        noise, coin = randomness.noise(i, vocab_size), randomness.coin(i)
        rows = zip(stacks, logits[i % INPUTS], strict=True)
        return [stack.run(context, row, coin, noise) for stack, row in rows]

    def bare(i: int) -> list[int]:
        noise, coin = randomness.noise(i, vocab_size), randomness.coin(i)
        tokens = []
        for lane, row in zip(LANES, logits[i % INPUTS], strict=True):
            distribution = Distribution.of(row)
            head = distribution.head(1, lane.sampler.xtc.tau)
            most = lane.sampler.xtc.max_eligible
            ids, probs = head.ids[:most].tolist(), head.probs[:most].tolist()
            decision = decide(ids, probs, coin, lane.sampler.xtc)
            kept = ~np.isin(head.ids, decision.removed)
            tokens.append(draw(distribution, head, kept, noise).token)
        return tokens

    for i in range(INPUTS):
        assert [step.token for step in full(i)] == bare(i), "recording changes the draw"
    times = interleaved({"full": full, "bare": bare})
    return times["full"], times["bare"]


def forward_135m() -> float:
    """Return the time of one forward for two lanes."""
    model = random_135m(torch.bfloat16)
    generation = model.start([prompt_ids(model)] * 2)
    time = alternating({"forward": lambda: generation.advance([300, 301])}, 15)["forward"]
    generation.close()
    return time


def decoding(tokens: int) -> tuple[Recorder, Iterator[None]]:
    """Return a recorder, and the steps of its decode on a model whose forward costs next to
    nothing."""
    rows = [row.numpy() for row in peaked_logits(INPUTS, VOCAB_SIZE)]
    model = FakeModel(logits=lambda ids: rows[len(ids) % INPUTS], vocab_size=VOCAB_SIZE)
    settings = RunSettings(lanes=LANES, max_new_tokens=tokens)
    job = Job(blank_trace(model, "", [300], settings), tuple(range(len(LANES))), settings)
    recorder = Recorder(job.begin, job.lanes)
    return recorder, write(job, recorder, model)


def long_run() -> Result:
    """Compare the steps around token 1,000 with those around token 100."""
    _, steps = decoding(1050)
    times = []
    begin = clock()
    for _ in steps:
        times.append(clock() - begin)
        begin = clock()
    late, early = median(times[950:1050]), median(times[50:150])
    what = "post-processing at token 1,000 as a multiple of that at token 100"
    return relative(what, late, early, "at token 100", at_most=1.15)


def trace_costs() -> list[Result]:
    """Return what a trace of two lanes of 500 steps takes: memory, time to write and to read."""
    first, steps = decoding(500)
    for _ in steps:
        pass
    recorder, steps = decoding(500)
    recorder.texts.update(first.texts)  # so that none has to be named
    next(steps)
    gc.collect()
    tracemalloc.start()
    for _ in steps:
        pass
    del steps
    gc.collect()
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    trace = recorder.trace()
    text = tracefile.dumps(trace)
    times = alternating(
        {"write": lambda: tracefile.dumps(trace), "read": lambda: tracefile.loads(text)}, 3
    )
    return [
        Result("trace of 2 × 500 steps in memory", memory / 1e6, "MB", at_most=1),
        Result("trace of 2 × 500 steps: write", times["write"] * 1e3, "ms"),
        Result("trace of 2 × 500 steps: read and check", times["read"] * 1e3, "ms"),
    ]


if __name__ == "__main__":
    main(measure, __doc__)
