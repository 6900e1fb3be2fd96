"""Trains the story model with one command, resumable after a kill at any moment.

    python -m training.train --corpus ../shared/corpus --out assets/story-model

The first call makes the tokenizer and the encoded corpus in `--work`; a later call with the same
settings goes on from the last checkpoint there. The length of the run is a budget of tokens, or of
minutes on a machine whose speed nobody knows, so that the schedule has an end to fall to. Then the
model is exported to `--out`.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.data import BUCKETS, Batch, BatchStream
from training.evaluate import Score, evaluate
from training.export import export_run
from training.model import StoryLM
from training.optim import make_optimizers, schedule, set_factor
from training.prepare import WORK, Corpus, load_corpus
from training.recipe import Recipe

FREE = {"tokens", "minutes", "ema"}  # what a resumed run may change


class Run:
    """The state of a run, and how it is stepped, saved and loaded.

    All of it is a function of the recipe and the number of batches drawn, so a resumed run and an
    uninterrupted one end with the same weights, unless minutes bound them.
    """

    def __init__(self, recipe: Recipe, stream: BatchStream) -> None:
        torch.manual_seed(recipe.seed)
        self.recipe, self.stream = recipe, stream
        self.model = StoryLM(recipe.config())
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        self.optimizers = make_optimizers(
            self.model,
            matrix_lr=recipe.matrix_lr,
            vector_lr=recipe.vector_lr,
            weight_decay=recipe.weight_decay,
        )
        self.loss = self.model.loss  # main() puts the compiled one here
        self.step_number = self.tokens = self.drawn = 0
        self.seconds = 0.0  # spent training, over all sessions
        self.history: list[dict[str, float]] = []
        self._batches: Iterator[Batch] | None = None

    @property
    def progress(self) -> float:
        """The share of the budget that is spent, of tokens or of minutes, whichever is more."""
        minutes = self.recipe.minutes
        timed = self.seconds / 60 / minutes if minutes else 0.0
        return max(timed, self.tokens / self.recipe.tokens)

    def step(self) -> float:
        """One optimizer step; returns the mean training loss in nats per token."""
        recipe = self.recipe
        if self._batches is None:
            self._batches = self.stream(self.drawn)
        batches = [next(self._batches) for _ in range(recipe.batches_per_step)]
        count = sum(batch.count for batch in batches)
        total = 0.0
        for batch in batches:
            loss: Tensor = self.loss(batch.inputs, batch.targets) / count
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        if not math.isfinite(total):
            raise FloatingPointError(f"training loss is {total} at step {self.step_number}")
        rate = schedule(self.step_number, self.progress, recipe.warmup, recipe.hold)
        set_factor(self.optimizers, rate)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.step_number += 1
        self.tokens += count
        self.drawn += len(batches)
        self._update_average()
        return total

    @torch.no_grad()
    def _update_average(self) -> None:
        """The moving average of the weights; its window grows with the run at first."""
        decay = min(self.recipe.ema, self.step_number / (self.step_number + 10))
        for name, value in self.model.state_dict().items():
            self.average[name].lerp_(value, 1 - decay)

    def averaged_model(self) -> StoryLM:
        """A copy of the model that holds the averaged weights."""
        model = StoryLM(self.recipe.config())
        model.load_state_dict(self.average)
        return model

    def save(self, path: Path) -> None:
        """Writes the checkpoint so that a kill leaves the old file or the new one, never half."""
        state = {
            "recipe": asdict(self.recipe),
            "model": self.model.state_dict(),
            "average": self.average,
            "optimizers": [o.state_dict() for o in self.optimizers],
            "counters": (self.step_number, self.tokens, self.drawn, self.seconds),
            "history": self.history,
        }
        partial = path.with_suffix(".partial")
        torch.save(state, partial)
        os.replace(partial, path)

    def load(self, path: Path) -> None:
        """Goes on from a checkpoint of the same recipe; only budget and averaging may differ."""
        state: dict[str, Any] = torch.load(path, weights_only=True)
        for field in fields(Recipe):
            old, new = state["recipe"][field.name], getattr(self.recipe, field.name)
            if old != new and field.name not in FREE:
                raise ValueError(f"{field.name}: the checkpoint was made with {old}, not {new}")
        self.model.load_state_dict(state["model"])
        self.average = state["average"]
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.step_number, self.tokens, self.drawn, self.seconds = state["counters"]
        self.history = state["history"]
        self._batches = None


def train(run: Run, corpus: Corpus, work: Path, *, every: int, save_seconds: float) -> None:
    """Steps to the end of the budget, with a report now and then and a checkpoint at the end."""
    checkpoint = work / "checkpoint.pt"
    began, earlier, first_token = time.monotonic(), run.seconds, run.tokens
    saved, losses = began, []
    while run.progress < 1:
        losses.append(run.step())
        now = time.monotonic()
        run.seconds = earlier + now - began
        if run.step_number % every == 0:
            score = evaluate(run.averaged_model(), corpus.held_out[:64], corpus.held_out_bytes[:64])
            mean = sum(losses) / len(losses)
            losses = []
            run.history.append(
                {
                    "step": run.step_number,
                    "tokens": run.tokens,
                    "seconds": run.seconds,
                    "train_nats": mean,
                    "held_out_bits_per_byte": score.bits_per_byte,
                }
            )
            report(run, mean, score, (run.tokens - first_token) / (now - began))
        if now - saved > save_seconds:
            run.save(checkpoint)
            saved = now
    run.save(checkpoint)


def report(run: Run, mean: float, score: Score, speed: float) -> None:
    """One line of progress; `speed` in tokens per second."""
    left = (1 / run.progress - 1) * run.seconds / 60
    print(
        f"step {run.step_number:6d} {run.tokens / 1e6:6.2f}M tokens {100 * run.progress:5.1f} % "
        f"train {mean:.4f} held-out {score} · {speed:.0f} tokens/s · {left:.0f} min left",
        flush=True,
    )


def compile_loss(run: Run) -> None:
    """Swaps in the compiled loss and compiles it for every row length, ahead of the clock."""
    torch._dynamo.config.recompile_limit = len(BUCKETS)
    run.loss = torch.compile(run.model.loss, dynamic=False)
    for length in BUCKETS:
        began = time.monotonic()
        ids = torch.zeros((max(1, run.recipe.batch_tokens // length), length), dtype=torch.int64)
        loss = run.loss(ids, ids.clone())  # one tensor twice would be another graph
        loss.backward()  # type: ignore[no-untyped-call]
        print(f"compiled rows of {length} in {time.monotonic() - began:.0f} s", flush=True)
    run.model.zero_grad()


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line: paths, and every field of the recipe by its name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True, help="folder of the corpus files")
    parser.add_argument("--out", type=Path, required=True, help="where the model is exported to")
    parser.add_argument("--work", type=Path, default=WORK, help="checkpoint, tokenizer, ids")
    parser.add_argument("--eager", action="store_true", help="do not compile the model")
    parser.add_argument("--every", type=int, default=250, help="steps between two reports")
    parser.add_argument("--save-seconds", type=float, default=60, help="between two checkpoints")
    for field in fields(Recipe):
        flag, default = f"--{field.name.replace('_', '-')}", field.default
        parser.add_argument(flag, type=type(default), default=default, help=f"default {default}")
    return parser.parse_args(arguments)


def main() -> None:
    """Prepares, trains or resumes, exports."""
    options = parse()
    recipe = Recipe(**{field.name: getattr(options, field.name) for field in fields(Recipe)})
    options.work.mkdir(parents=True, exist_ok=True)
    corpus = load_corpus(options.corpus, options.work, recipe.vocab_size, recipe.held_out)
    stream = BatchStream(
        corpus.main,
        corpus.side,
        side_share=recipe.side_share,
        tokens_per_batch=recipe.batch_tokens,
        eos=0,
        seed=recipe.seed,
    )
    run = Run(recipe, stream)
    if not options.eager:
        compile_loss(run)
    checkpoint = options.work / "checkpoint.pt"
    if checkpoint.exists():
        run.load(checkpoint)
        print(f"resumed at step {run.step_number}", flush=True)
    train(run, corpus, options.work, every=options.every, save_seconds=options.save_seconds)
    export_run(options.work, corpus, options.out)


if __name__ == "__main__":
    main()
