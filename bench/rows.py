"""Rows of different prompts, 16 at once, on the story model, one thread.

Our side: 24 prompts of the page, each with a seed and a length of its own, through `decode_rows`
with the whole stack (temperature 0.9, top-p 0.95, min-p 0.02, XTC), the counterfactual and the full
record. The reference: the same prompts and lengths one by one through `model.generate` with the
same stack and the published, sort-based XTC, recording nothing. Recording is what it costs to keep
the steps, packed, against a decode that is only looked at.
"""

from __future__ import annotations

import json
from dataclasses import replace

import torch
from transformers import PreTrainedModel

from bench.decode import STACKS, XTC
from bench.models import plain_story_model, story_model
from bench.references import PublishedXTC
from bench.timing import Result, against, alternating, main, time_text
from xtc_viz.assets import STORY_MODEL
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.local.model import LocalModel
from xtc_viz.records.packed import Steps
from xtc_viz.rows import Row, decode_rows

STACK = replace(STACKS["usual stack"], xtc=XTC)
AT_ONCE = 16
SHORTEST, SPREAD = 32, 64
"""The new tokens of the shortest text, and how much longer the longest is."""


def measure() -> list[Result]:
    model = story_model()
    return compare("story model", model, plain_story_model(), story_rows(model), rounds=3)


def compare(
    name: str, model: LocalModel, plain: PreTrainedModel, rows: list[Row], rounds: int
) -> list[Result]:
    """Compare both ways of writing these rows, and keeping the record with keeping nothing."""
    tokens = sum(row.max_new_tokens for row in rows)

    def one_by_one() -> None:
        for row in rows:
            generate(plain, row)

    times = alternating(
        {
            "recorded": lambda: record(model, rows),
            "looked at": lambda: look_at(model, rows),
            "generate": one_by_one,
        },
        rounds,
    )
    each = {name: time / tokens for name, time in times.items()}
    recorded, seen = each["recorded"], each["looked at"]
    return [
        against(
            f"rows, {name}, {len(rows)} prompts, {AT_ONCE} at once: faster than generate one "
            "by one", recorded, each["generate"], "a token, generate", at_least=5,
        ),
        Result(
            "rows: cost of keeping the record", 100 * (recorded - seen) / seen, "%", at_most=10,
            detail=f"{time_text(recorded)} a token, not kept {time_text(seen)}",
        ),
    ]  # fmt: skip


def story_rows(model: LanguageModel) -> list[Row]:
    """Return a row for each prompt of the page, with lengths from `SHORTEST`, evenly mixed."""
    prompts = json.loads((STORY_MODEL.parent / "prompts.json").read_text(encoding="utf-8"))
    return [
        Row(
            prompt_ids=model.encode(prompt["text"]),
            sampler=STACK,
            seed=number,
            max_new_tokens=SHORTEST + number * 7 % len(prompts) * SPREAD // len(prompts),
        )
        for number, prompt in enumerate(prompts)
    ]


def look_at(model: LanguageModel, rows: list[Row]) -> None:
    """Decode these rows and keep nothing."""
    for _ in decode_rows(model, rows, at_once=AT_ONCE):
        pass


def record(model: LanguageModel, rows: list[Row]) -> None:
    """Decode these rows and keep every step."""
    records = [Steps() for _ in rows]
    for steps, _ in decode_rows(model, rows, at_once=AT_ONCE):
        for row, step, _, error in steps:
            assert step, error
            records[row].append(step)
    assert [len(record) for record in records] == [row.max_new_tokens for row in rows]


def generate(model: PreTrainedModel, row: Row) -> None:
    """Write one row's tokens with `generate` and sort-based XTC."""
    ids = torch.tensor([row.prompt_ids])
    xtc = row.sampler.xtc
    output = model.generate(  # type: ignore[operator]
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        do_sample=True,
        max_new_tokens=row.max_new_tokens,
        min_new_tokens=row.max_new_tokens,
        temperature=row.sampler.temperature,
        top_k=row.sampler.top_k,
        top_p=row.sampler.top_p,
        min_p=row.sampler.min_p,
        logits_processor=[PublishedXTC(xtc.rho, xtc.tau, torch.Generator().manual_seed(row.seed))],
        pad_token_id=0,
    )
    assert output.shape[1] == ids.shape[1] + row.max_new_tokens


if __name__ == "__main__":
    main(measure, __doc__)
