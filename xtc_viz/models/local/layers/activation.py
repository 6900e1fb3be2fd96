"""Activation functions on the CPU, each row as if it were alone.

torch computes many numbers of a function such as SiLU at once, and those that are left over at the
end one by one, by another formula, whose last bit may differ. In several rows, one after another in
memory, what is left over at the end of the last are not the numbers that are left over at the end
of a row alone. So where a row is no whole number of such blocks, each is computed by itself.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers.activations import ACT2CLS

BLOCK = 64
"""Rows of so many numbers have none left over (two registers of 512 bits, in bfloat16)."""
MANY = 64
"""A call for each of so many rows would take too long."""

# transformers' by name, each a class or one with its arguments, and torch's.
_KINDS: tuple[Any, ...] = (
    *{kind[0] if isinstance(kind, tuple) else kind for kind in ACT2CLS.values()},
    *(nn.ELU, nn.GELU, nn.Mish, nn.Sigmoid, nn.SiLU, nn.Softplus, nn.Tanh),
)


class RowActivation(nn.Module):
    """An activation function of `kind`, whose rows do not depend on those beside them."""

    def __init__(self, kind: nn.Module) -> None:
        super().__init__()
        self.kind = kind

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the function of (rows, ..., width); more than `MANY` rows go the usual way."""
        if input.shape[-1] % BLOCK == 0 or not 1 < len(input) <= MANY:
            output: torch.Tensor = self.kind(input)
            return output
        return torch.cat([self.kind(row) for row in torch.split(input, 1)])


def use_row_activations(model: nn.Module) -> None:
    """Replace the activation functions of a model; those that are no modules stay as they are."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, _KINDS) and not isinstance(module, RowActivation):
                setattr(module, name, RowActivation(child))
