"""A fingerprint of weights: tells a model from another one of the same name and shape."""

from __future__ import annotations

from hashlib import blake2b

import torch

SAMPLES = 64
"""Numbers of each tensor that are looked at, evenly spread, the first and the last among them."""


def weights_fingerprint(model: torch.nn.Module) -> str:
    """Return 16 hexadecimal digits made of every parameter's name, shape, type and some numbers.

    A training step changes nearly every number, so any fine-tuning shows; an edit of a few single
    numbers may not. Takes milliseconds, whatever the size. What has no numbers in memory (weights
    on a disk) counts by name and shape.
    """
    digest = blake2b(digest_size=8)
    for name, weight in model.state_dict().items():
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}\n".encode())
        if weight.device.type != "meta" and weight.numel():
            flat = weight.detach().reshape(-1)
            places = torch.linspace(0, flat.numel() - 1, SAMPLES, dtype=torch.float64)
            some = flat[places.round().long().to(flat.device)].cpu().contiguous()
            digest.update(some.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
