"""What a model is worth on held-out text: nats per token, perplexity, bits per byte."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from training.data import collate
from training.model import StoryLM


@dataclass(frozen=True, slots=True)
class Score:
    """A held-out score; the end of a document is predicted too but counts no bytes."""

    nats: float  # summed over all tokens
    tokens: int
    bytes: int

    @property
    def perplexity(self) -> float:
        """Of the tokens."""
        return math.exp(self.nats / self.tokens)

    @property
    def bits_per_byte(self) -> float:
        """Comparable between tokenizers, unlike the perplexity."""
        return self.nats / math.log(2) / self.bytes

    def __str__(self) -> str:
        nats = self.nats / self.tokens
        return f"{nats:.4f} nats, ppl {self.perplexity:.3f}, {self.bits_per_byte:.4f} bits/byte"


@torch.no_grad()
def evaluate(model: StoryLM, documents: Sequence[np.ndarray], sizes: Sequence[int]) -> Score:
    """Scores token-id documents of `sizes` bytes, each from its first token to its end.

    A document longer than the context is read in pieces of one context each.
    """
    context, eos = model.config.max_position_embeddings, model.config.eos_token_id
    rows = [
        ids[start : start + context + 1]
        for document in documents
        for ids in [np.concatenate([[eos], document, [eos]]).astype(np.int64)]
        for start in range(0, len(ids) - 1, context)
    ]
    rows.sort(key=len)  # rows of like length share a batch, so little is spent on padding
    nats, tokens = 0.0, 0
    for start in range(0, len(rows), 8):
        batch = collate(rows[start : start + 8])
        nats += model.loss(batch.inputs, batch.targets).item()
        tokens += batch.count
    return Score(nats, tokens, sum(sizes))
