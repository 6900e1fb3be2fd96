"""The case for XTC, on the story model: what it does to variety, and to the words drawn.

    python -m training.case --model assets/story-model --prompts assets/prompts.json --write FILE

Every prompt is written on with every seed by four samplers on the same random numbers. Variety is
counted in each text by itself: distinct-2, and the share of trigrams that occurred before. A word
is improbable when the model itself, before any cutoff, gave it less than 2 %.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from training.measure import Estimate, ratio
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.local.model import LocalModel
from xtc_viz.records.step import Step
from xtc_viz.rows import Row, decode_rows
from xtc_viz.runs.request import Request
from xtc_viz.runs.stats import LaneStats
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

SEEDS = (1, 2, 3, 4, 5, 6)
TOKENS = 120
IMPROBABLE = 0.02
MEDIUM = XTCSettings(rho=0.5, tau=0.1)
SAMPLERS = (
    LaneSettings("Plain sampling"),
    LaneSettings("Min-p 0.05", SamplerSettings(min_p=0.05)),
    LaneSettings("Min-p 0.05 with XTC", SamplerSettings(min_p=0.05, xtc=MEDIUM)),
    LaneSettings("Plain sampling with XTC", SamplerSettings(xtc=MEDIUM)),
)
"""XTC is the medium one of the paper and the page: ρ 0.50, τ 0.10."""


@dataclass(frozen=True, slots=True)
class Text:
    """What there is to count in one text; `stats` as over a lane (`LaneStats`)."""

    sampler: int
    prompt: int
    tokens: int
    improbable: int
    distinct2: float
    repeated3: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One sampler over all texts; each estimate with its 95 % interval, by prompt."""

    name: str
    texts: int
    tokens: int
    distinct2: Estimate  # mean over the texts
    repeated3: Estimate  # mean over the texts
    improbable: Estimate  # share of all words


def own_probability(step: Step) -> float:
    """Return what the model itself gave the token drawn, at temperature 1 and without penalties."""
    return step.p * (step.kept[-1] if step.kept else 1.0)


def read(steps: Sequence[Step], sampler: int, prompt: int) -> Text:
    """Count one text."""
    stats = LaneStats()
    for step in steps:
        stats.add(step)
    values = stats.values()
    return Text(
        sampler,
        prompt,
        len(steps),
        sum(own_probability(step) < IMPROBABLE for step in steps),
        values["distinct2"] or 0.0,
        values["repeated3"] or 0.0,
    )


def write(
    model: LanguageModel, prompts: Sequence[str], seeds: Sequence[int], tokens: int
) -> Iterator[Text]:
    """Write every text and yield what was counted in it, in any order."""
    plan = [
        (sampler, prompt, seed)
        for prompt in range(len(prompts))
        for seed in seeds
        for sampler in range(len(SAMPLERS))
    ]
    # What XTC must not silence is protected as on the page.
    lanes = Request(prompts[0], RunSettings(lanes=SAMPLERS)).guarded(model).lanes
    rows = (
        Row(
            prompt_ids=model.encode(prompts[prompt]),
            sampler=lanes[sampler].sampler,
            seed=seed,
            max_new_tokens=tokens,
        )
        for sampler, prompt, seed in plan
    )
    steps: dict[int, list[Step]] = {}
    for entries, _ in decode_rows(model, rows):
        for row, step, finish, error in entries:
            if error or step is None:
                raise error or AssertionError("a row without a step has an error")
            steps.setdefault(row, []).append(step)
            if finish:
                sampler, prompt, _seed = plan[row]
                yield read(steps.pop(row), sampler, prompt)


def findings(texts: Sequence[Text]) -> list[Finding]:
    """Return the figures of each sampler."""
    found = []
    for sampler, lane in enumerate(SAMPLERS):
        own = sorted((t for t in texts if t.sampler == sampler), key=lambda t: t.prompt)
        by_prompt = [list(group) for _, group in groupby(own, key=lambda t: t.prompt)]
        counts = [len(group) for group in by_prompt]
        words = [sum(t.tokens for t in group) for group in by_prompt]
        found.append(
            Finding(
                lane.name,
                len(own),
                sum(words),
                ratio([sum(t.distinct2 for t in group) for group in by_prompt], counts),
                ratio([sum(t.repeated3 for t in group) for group in by_prompt], counts),
                ratio([sum(t.improbable for t in group) for group in by_prompt], words),
            )
        )
    return found


def table(found: Sequence[Finding]) -> str:
    """Return the findings as Markdown."""
    lines = ["| | distinct-2 | repeated trigrams | words below 2 % |", "|---|---|---|---|"]
    for one in found:
        cells = (one.distinct2.text("%"), one.repeated3.text("%"), one.improbable.text("%"))
        lines.append(f"| {one.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def as_json(model: str, prompts: int, found: Sequence[Finding]) -> dict[str, Any]:
    """Return the findings as plain values, with what they are of."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rounded(part) for name, part in value.items()}
        return round(value, 4) if isinstance(value, float) else value

    return {
        "model": model,
        "prompts": prompts,
        "seeds": len(SEEDS),
        "length": TOKENS,
        "improbable": IMPROBABLE,
        "samplers": [rounded(asdict(one)) for one in found],
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.case", description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--write", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = LocalModel.load(arguments.model)
    entries = json.loads(arguments.prompts.read_text(encoding="utf-8"))
    prompts = [entry["text"] for entry in entries]
    found = findings(list(write(model, prompts, SEEDS, TOKENS)))
    print(table(found))
    if arguments.write:
        data = as_json(model.info.name, len(prompts), found)
        text = json.dumps(data, indent=1, ensure_ascii=False)
        arguments.write.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
