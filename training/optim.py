"""The optimizers and the learning-rate schedule."""

from __future__ import annotations

import torch
from torch import nn


def make_optimizers(
    model: nn.Module, *, matrix_lr: float, vector_lr: float, weight_decay: float
) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, AdamW for the embedding and the norms.

    Muon orthogonalizes a matrix's update, which suits hidden layers; the embedding's rows are used
    one at a time and want Adam's step per element. `initial_lr` keeps each peak for the schedule.
    """
    named = list(model.named_parameters())
    matrices = [p for name, p in named if p.ndim == 2 and "embed" not in name]
    rest = [p for name, p in named if p.ndim != 2 or "embed" in name]
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.Muon(matrices, lr=matrix_lr, momentum=0.95, weight_decay=weight_decay),
        torch.optim.AdamW(rest, lr=vector_lr, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.0),
    ]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
    return optimizers


def schedule(step: int, progress: float, warmup: int, hold: float) -> float:
    """The factor on every learning rate: up over `warmup` steps, level, then linearly to zero.

    `progress` is the share of the run that is done, `hold` the share after which the rate falls.
    In the level part a run has no memory of its own end, so its length can still be changed there.
    """
    rising = (step + 1) / max(1, warmup)
    falling = (1 - progress) / (1 - hold)
    return max(0.0, min(1.0, rising, falling))


def set_factor(optimizers: list[torch.optim.Optimizer], factor: float) -> None:
    """Multiplies every group's peak learning rate by `factor`."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] * factor
