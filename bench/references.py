"""What we measure against, and on: the published way of XTC, and logits like a model's."""

from __future__ import annotations

import torch

# The head of a distribution as real models have it; the rest of the mass lies in the tail.
HEAD = (0.34, 0.19, 0.12, 0.08, 0.05, 0.035, 0.025, 0.018, 0.012, 0.009, 0.007, 0.005)


def peaked_logits(rows: int, vocab_size: int, seed: int = 0) -> torch.Tensor:
    """Return logits (rows, vocab_size): `HEAD` on random tokens over a long, uneven tail."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, vocab_size, generator=generator) * 2.2
    tail = torch.logsumexp(logits.double(), dim=-1, keepdim=True)
    shares = torch.tensor(HEAD, dtype=torch.float64)
    head = (tail + torch.log(shares / (1 - shares.sum()))).float()
    places = torch.rand(rows, vocab_size, generator=generator).topk(len(HEAD)).indices
    return logits.scatter(1, places, head)


class PublishedXTC:
    """XTC as text-generation-webui publishes it, stated anew: sort, softmax, shift, scatter.

    Everything down to the last token that clears τ is removed; that last one is kept.
    """

    def __init__(self, rho: float, tau: float, generator: torch.Generator) -> None:
        self.rho = rho
        self.tau = tau
        self.generator = generator

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if torch.rand((), generator=self.generator) >= self.rho:
            return scores
        ordered, order = torch.sort(scores, descending=True, dim=-1)
        probs = ordered.softmax(dim=-1)
        remove = torch.zeros_like(probs, dtype=torch.bool)
        remove[..., :-1] = probs[..., 1:] >= self.tau
        return scores.masked_fill(remove.scatter(1, order, remove), -torch.inf)
