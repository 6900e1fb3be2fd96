"""XTC on a batch whose rows have settings of their own, without a look from the host.

What a server decodes with must not wait for the device: nothing here copies to the host, and no
shape depends on a value. The rule is Algorithm 1 of the paper, as in `sampling.operator`, which is
the reference; what that one decides on the host is decided here by tensors.

The few tokens that can clear τ are looked for among the largest of blocks of the vocabulary: one
pass over p after the softmax. Whatever follows is small, so that all in all it costs about as much
as the softmax did.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

BLOCK = 512
"""The most tokens in a block; a power of two."""


@dataclass(frozen=True, slots=True)
class RowSettings:
    """What decides each row, as tensors on the device of the logits.

    `fires` (B,) bool is what the coin said, `tau` (B,) float32, `protected` (B, P) token ids, −1
    where there are fewer. `most` is the largest number of tokens that can clear a τ: ⌊1/τ⌋ of the
    smallest one, and one more for float32 sums just over 1. `min_p`, `top_p` (B,) float32 and
    `top_k` (B,) integers cut off in front of XTC, in the order top-k, top-p, min-p; None where no
    row wants it, and 0, 2 and the size of the vocabulary in a row that does not.
    """

    fires: torch.Tensor
    tau: torch.Tensor
    protected: torch.Tensor
    most: int
    top_k: torch.Tensor | None = None
    top_p: torch.Tensor | None = None
    min_p: torch.Tensor | None = None


def exclude(
    logits: torch.Tensor, settings: RowSettings, temperature: torch.Tensor | None = None
) -> torch.Tensor:
    """Set what is cut off, and what XTC removes, to -inf in `logits` (B, V), and return it.

    p is the softmax of the logits, divided by `temperature` (B,) where that is given, in float32,
    renormalized over what the cutoffs leave. Rows that are not to fire lose what is cut off alone.
    """
    scaled = logits.float() if temperature is None else logits.float() / temperature[:, None]
    p = torch.softmax(scaled, dim=-1)
    if cut := _cut(p, settings):
        kept, p = cut
        logits.masked_fill_(~kept, -torch.inf)
    ids, probs = _candidates(p, settings.most)
    eligible = probs >= settings.tau[:, None]
    # Of the least probable ones the lowest id is kept.
    least = torch.where(eligible, probs, 2.0).amin(dim=-1, keepdim=True)
    tied = eligible & (probs == least)
    beyond = p.shape[-1]
    underdog = torch.where(tied, ids, beyond).amin(dim=-1, keepdim=True)
    removed = eligible & (ids != underdog) & settings.fires[:, None]
    if settings.protected.shape[1]:
        silenced = (ids[:, :, None] == settings.protected[:, None, :]) & removed[:, :, None]
        removed &= ~silenced.flatten(1).any(dim=-1, keepdim=True)
    own = logits.gather(1, ids)
    return logits.scatter_(1, ids, torch.where(removed, -torch.inf, own))


def _candidates(p: torch.Tensor, most: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the `most` most probable tokens of each row and their p, (B, most) each, in any order.

    They lie in the `most` blocks whose largest p are largest.
    """
    rows, size = p.shape
    most = min(most, size)
    block = 1
    while block < BLOCK and size % (2 * block) == 0:
        block *= 2
    count = size // block
    if block < 8 or count <= most:
        probs, ids = p.topk(most, dim=-1, sorted=False)
        return ids, probs
    blocks = p.view(rows, count, block)
    places = blocks.amax(dim=-1).topk(most, dim=-1, sorted=False).indices
    few = blocks.gather(1, places[:, :, None].expand(-1, -1, block)).view(rows, most * block)
    probs, within = few.topk(most, dim=-1, sorted=False)
    ids = places.gather(1, within // block) * block + within % block
    return ids, probs


def _cut(p: torch.Tensor, settings: RowSettings) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return what the cutoffs leave, (B, V) bool, and p renormalized over it; None without any."""
    if settings.top_k is None and settings.top_p is None and settings.min_p is None:
        return None
    # A row that wants none loses nothing, not even what underflows.
    kept = torch.ones_like(p, dtype=torch.bool)
    if settings.top_k is not None or settings.top_p is not None:
        # Equal tokens in rising order of their ids, as the stack has them.
        order = p.sort(dim=-1, descending=True, stable=True)
        falling = order.values
        inside = torch.ones_like(falling, dtype=torch.bool)
        if settings.top_k is not None:
            places = torch.arange(p.shape[-1], device=p.device)
            inside &= places < settings.top_k[:, None]
        if settings.top_p is not None:
            left = torch.where(inside, falling, 0.0).double()
            left /= left.sum(dim=-1, keepdim=True)
            # A token is kept while what stands before it has less than top-p.
            inside &= left.cumsum(dim=-1) - left < settings.top_p[:, None]
        kept &= torch.zeros_like(inside).scatter_(1, order.indices, inside)
    if settings.min_p is not None:
        kept &= p >= settings.min_p[:, None] * p.amax(dim=-1, keepdim=True)
    left = torch.where(kept, p, 0.0)
    return kept, left / left.sum(dim=-1, keepdim=True)
