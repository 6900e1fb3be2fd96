"""The XTC operator, V = 151,936, τ = 0.1, firing, one thread.

As users call it (`XTCLogitsProcessor`, out of place), one and two rows: against the published way
(full sort, softmax, shift, scatter) and against one `torch.softmax` over the same rows; warm, in a
loop, and cold, once after something else has filled the caches, as in a real step. Cold, the
published way sets no limit: one softmax alone takes about a sixtieth of it there, and whoever
wants p needs one. And the decision alone, on the top-100 record that a step has anyway.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

import torch

from bench.references import PublishedXTC, peaked_logits
from bench.timing import Result, against, cold, interleaved, main, relative
from xtc_viz import XTCLogitsProcessor, XTCSettings
from xtc_viz.sampling.rule import decide

VOCAB_SIZE = 151_936
INPUTS = 8
TAU = 0.1


def measure() -> list[Result]:
    return [*on_rows(1), *on_rows(2), on_record()]


def on_rows(rows: int) -> list[Result]:
    """Run the processor on whole rows of logits."""
    logits = [peaked_logits(rows, VOCAB_SIZE, seed) for seed in range(INPUTS)]
    ids = torch.zeros(rows, 1, dtype=torch.int64)
    ours = XTCLogitsProcessor(XTCSettings(1.0, TAU), torch.Generator().manual_seed(0))
    published = PublishedXTC(1.0, TAU, torch.Generator().manual_seed(0))
    for row in logits:
        assert torch.equal(ours(ids, row), published(ids, row)), "the two ways differ"
    cases: dict[str, Callable[[int], object]] = {
        "ours": lambda i: ours(ids, logits[i % INPUTS]),
        "published": lambda i: published(ids, logits[i % INPUTS]),
        "softmax": lambda i: torch.softmax(logits[i % INPUTS], dim=-1),
    }
    results = []
    for state, times in (("warm", interleaved(cases)), ("cold", cold(cases))):
        name = f"operator, {rows} row{'s' if rows > 1 else ''}, {state}"
        results += [
            against(
                f"{name}: faster than the published way",
                times["ours"], times["published"], "published",
                **({"at_least": 60} if state == "warm" else {}),
            ),
            relative(
                f"{name}: as a multiple of one softmax",
                times["ours"], times["softmax"], "softmax", at_most=2,
            ),
        ]  # fmt: skip
    return results


def on_record() -> Result:
    """Decide on the step's own record: find the eligible prefix, apply the rule."""
    records = []
    for seed in range(INPUTS):
        top = torch.softmax(peaked_logits(1, VOCAB_SIZE, seed)[0], dim=-1).topk(100)
        records.append((array("i", top.indices.tolist()), array("f", top.values.tolist())))
    settings = XTCSettings(1.0, TAU)

    def decision(i: int) -> object:
        return decide(*records[i % INPUTS], 0.5, settings)

    time = interleaved({"decide": decision})["decide"]
    return Result("decision on a top-100 record, a lane", time * 1e6, "µs", at_most=10)


if __name__ == "__main__":
    main(measure, __doc__)
