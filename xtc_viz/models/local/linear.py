"""Linear layers for a handful of rows on the CPU: faster, and each row as if it were alone.

For one to four float32 rows `torch.nn.functional.linear` falls into matrix kernels that reach a
third of the memory's speed. The same product in the other layout, weight times inputs, reads the
weights once at full speed (135M parameters, two lanes: 75 ms a step became 40, and four lanes
cost what one does). It is always done for four columns, so that the same kernel adds up the same
numbers in the same order however many lanes run: with one torch thread the logits of a lane do
not depend on the lanes beside it, not even in the last bit. (With several threads attention
itself divides its work by the number of lanes, and the last bits differ.)

More rows go the usual way, which is quicker for them (all layers of the story model, 8 and 16 rows:
6.4 and 7.8 ms, and 8.3 and 9.7 in the other layout). A row's last bits then depend on how many
rows there are.
"""

from __future__ import annotations

import torch
from torch import nn

FEW = 4
"""So many rows cost what one does."""


class FewRowsLinear(nn.Linear):
    """`torch.nn.Linear` with another kernel for at most four rows; more go the usual way."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        rows = input.numel() // self.in_features
        if rows > FEW or rows == 0:
            return super().forward(input)
        flat = input.reshape(rows, self.in_features)
        if rows < FEW:
            # Any numbers would do in the other columns; these need no tensor of their own.
            flat = torch.cat((flat, flat[:1]) if rows == 3 else (flat,) * (FEW // rows))
        output = torch.mm(self.weight, flat.t()).t()[:rows].contiguous()
        if self.bias is not None:
            output += self.bias
        return output.view(*input.shape[:-1], self.out_features)


def use_few_rows_linear(model: nn.Module) -> None:
    """Replace the plain linear layers of a float32 model on the CPU; weights are shared."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            # Exactly this class: quantized and other special layers keep their own ways, and
            # a layer whose weights accelerate moves about is in its hands.
            if type(child) is not nn.Linear or hasattr(child, "_hf_hook"):
                continue
            if child.weight.dtype is torch.float32:
                new = FewRowsLinear(
                    child.in_features, child.out_features, child.bias is not None, device="meta"
                )
                new.weight, new.bias = child.weight, child.bias
                setattr(module, name, new.train(child.training))
