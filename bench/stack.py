"""The sampler stack with top-p 0.9 and typical-p 0.9 on, two rows, V = 151,936, one thread.

Our side is a lane's whole step: softmax, both stages, XTC, draw, counterfactual, record. The
reference is transformers' two processors alone. Both leave the same tokens, checked first.
"""

from __future__ import annotations

import numpy as np
import torch
from transformers import TopPLogitsWarper, TypicalLogitsWarper

from bench.references import peaked_logits
from bench.timing import Result, against, interleaved, main
from xtc_viz.sampling.distribution import Distribution
from xtc_viz.sampling.passage import through
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.settings import SamplerSettings, XTCSettings

VOCAB_SIZE = 151_936
ROWS = 2
INPUTS = 6


def measure() -> list[Result]:
    logits = [peaked_logits(ROWS, VOCAB_SIZE, seed) for seed in range(INPUTS)]
    context = torch.zeros(1, dtype=torch.int64)
    settings = SamplerSettings(top_p=0.9, typical_p=0.9, xtc=XTCSettings(0.5, 0.1))
    stack = SamplerStack(settings)
    top_p, typical = TopPLogitsWarper(0.9), TypicalLogitsWarper(0.9)
    noise = SharedRandomness(7).noise(0, VOCAB_SIZE)

    def transformers_way(i: int) -> torch.Tensor:
        result: torch.Tensor = typical(context[None], top_p(context[None], logits[i % INPUTS]))
        return result

    def ours(i: int) -> object:
        return [stack.run(context, row, 0.25, noise) for row in logits[i % INPUTS]]

    for i in range(INPUTS):
        for row, theirs in zip(logits[i], transformers_way(i), strict=True):
            passage = through(stack.plan.before, settings, Distribution.of(row), context.numpy())
            left = passage.distribution.ids
            assert left is not None
            same = np.array_equal(np.sort(left), torch.isfinite(theirs).nonzero()[:, 0].numpy())
            assert same, "the two ways leave different tokens"
    times = interleaved({"ours": ours, "transformers": transformers_way}, rounds=15)
    return [
        against(
            "stack with top-p and typical-p, 2 rows: faster than transformers",
            times["ours"], times["transformers"], "transformers", at_least=20,
        )
    ]  # fmt: skip


if __name__ == "__main__":
    main(measure, __doc__)
