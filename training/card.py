"""Writes the model card: every figure in it is measured here or comes from the run's record.

python -m training.card --model assets/story-model --prompts assets/prompts.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from training.measure import POSITIONS, Estimate, Mechanism, mechanism
from xtc_viz.decode import decode_lanes
from xtc_viz.models.local.model import LocalModel
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

TAUS = (0.1, 0.05)
RHO = 0.5
SEEDS = (1, 2, 3, 4)
SAMPLE_PROMPTS = (0, 7, 9)  # places in the list of prompts; chosen before any sample was seen
SAMPLE_SEED = 1
SAMPLE_TOKENS = 400
CURVE = "loss-curve.png"
TEMPLATE = Path(__file__).with_name("card.md")


def draw_curve(record: dict[str, Any], path: Path) -> None:
    """The training loss and the held-out bits per byte over tokens, as a small picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    history = record["history"]
    tokens = [point["tokens"] / 1e6 for point in history]
    figure, left = pyplot.subplots(figsize=(6.4, 3.2), dpi=100, layout="constrained")
    left.plot(tokens, [point["train_nats"] for point in history], color="#0072B2")
    left.set_xlabel("training tokens (millions)")
    left.set_ylabel("training loss (nats a token)", color="#0072B2")
    right = left.twinx()
    held_out = [point["held_out_bits_per_byte"] for point in history]
    right.plot(tokens, held_out, color="#D55E00", linestyle="--")
    right.set_ylabel("held-out bits per byte", color="#D55E00")
    # The first steps fall from 12 bits; what one wants to see is the rest.
    left.set_ylim(top=min(3.5, history[0]["train_nats"]))
    right.set_ylim(top=min(1.2, history[0]["held_out_bits_per_byte"]))
    for axes in (left, right):
        axes.spines["top"].set_visible(False)
    figure.savefig(path)
    pyplot.close(figure)


def samples(model: LocalModel, prompt: str) -> list[tuple[str, str]]:
    """The same prompt and random numbers with and without XTC: (lane, text) pairs."""
    medium = XTCSettings(rho=RHO, tau=TAUS[0])
    lanes = (LaneSettings("Baseline"), LaneSettings("XTC medium", SamplerSettings(xtc=medium)))
    settings = RunSettings(lanes=lanes, seed=SAMPLE_SEED, max_new_tokens=SAMPLE_TOKENS)
    texts, ends = ["" for _ in lanes], ["" for _ in lanes]
    for column in decode_lanes(model, model.encode(prompt), settings):
        for i, (step, finish) in enumerate(zip(column.steps, column.finishes, strict=True)):
            texts[i] += step.text if step else ""
            ends[i] = finish or ends[i]
    notes = [f"stopped after {SAMPLE_TOKENS} tokens" if end != "eos" else "" for end in ends]
    names = [f"{lane.name} ({n})" if n else lane.name for lane, n in zip(lanes, notes, strict=True)]
    bodies = [prompt + text.replace("<|endoftext|>", "").rstrip() for text in texts]
    return list(zip(names, bodies, strict=True))


def quoted(text: str) -> str:
    """A text as a Markdown quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def samples_section(model: LocalModel, prompts: list[str]) -> str:
    """All samples, one heading a prompt."""
    blocks = []
    for place in SAMPLE_PROMPTS:
        blocks.append(f"### {prompts[place]}")
        for name, text in samples(model, prompts[place]):
            blocks += [f"**{name}**", quoted(text)]
    return "\n\n".join(blocks)


def mechanism_table(found: list[Mechanism]) -> str:
    """The figures beside the paper's."""
    rows: list[tuple[str, list[Estimate], str, str]] = [
        ("steps with two or more eligible tokens", [m.ambiguous for m in found], "%", ""),
        ("steps at which XTC acts", [m.fired for m in found], "%", "about 40 % ¹"),
        ("steps that get another token by it", [m.changed for m in found], "%", ""),
        ("mean number of eligible tokens", [m.eligible for m in found], "", "1.5 to 1.6"),
        ("… at ambiguous steps", [m.eligible_ambiguous for m in found], "", ""),
        ("mean removed mass where XTC acts", [m.removed for m in found], "%", "about 25 % ²"),
        ("expected removed mass ρ·M of a step", [m.expected for m in found], "%", "about 25 % ²"),
        ("… of an ambiguous step", [m.expected_ambiguous for m in found], "%", ""),
    ]
    head = " | ".join(f"τ = {m.tau:g}" for m in found)
    lines = [f"| | {head} | paper, Gemma 3 27B |", "|---|" + "---|" * (len(found) + 1)]
    for label, estimates, unit, paper in rows:
        cells = " | ".join(estimate.text(unit) for estimate in estimates)
        lines.append(f"| {label} | {cells} | {paper} |")
    return "\n".join(lines)


def card(record: dict[str, Any], found: list[Mechanism], samples_text: str, prompts: int) -> str:
    """The whole card as Markdown: the text of `card.md` with this run's figures."""
    recipe, tokens = record["recipe"], record["tokens"]
    stories_share = 1 - recipe["side_share"]
    figures = {
        **recipe,
        **record,  # after the recipe, because what was used counts and not the budget
        "parameters_millions": record["parameters"] / 1e6,
        "main_share": stories_share,
        "tokens_millions": tokens / 1e6,
        "epochs": tokens * stories_share / record["main_tokens"],
        "minutes": record["seconds"] / 60,
        "speed": tokens / record["seconds"],
        "rho": RHO,
        "tau": TAUS[0],
        "seeds": len(SEEDS),
        "positions": POSITIONS,
        "prompts": prompts,
        "steps_found": " and ".join(f"{m.steps:,}" for m in found),
        "mechanism_table": mechanism_table(found),
        "sample_seed": SAMPLE_SEED,
        "samples": samples_text,
        "curve": CURVE,
    }
    return TEMPLATE.read_text(encoding="utf-8").format(**figures)


def main() -> None:
    """Measures the model and writes its card and the picture of its training."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="folder of the exported model")
    parser.add_argument("--prompts", type=Path, required=True, help="list of genre and text")
    options = parser.parse_args()
    prompts = [p["text"] for p in json.loads(options.prompts.read_text(encoding="utf-8"))]
    record = json.loads((options.model / "training.json").read_text(encoding="utf-8"))
    model = LocalModel.load(str(options.model))
    found = mechanism(model, prompts, taus=TAUS, rho=RHO, seeds=SEEDS)
    text = card(record, found, samples_section(model, prompts), len(prompts))
    draw_curve(record, options.model / CURVE)
    (options.model / "README.md").write_text(text, encoding="utf-8")
    print(mechanism_table(found))


if __name__ == "__main__":
    main()
