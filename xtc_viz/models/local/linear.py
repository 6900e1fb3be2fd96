"""Linear layers for a handful of rows on the CPU: faster, and each row as if it were alone.

For one to four float32 rows `torch.nn.functional.linear` falls into matrix kernels that reach a
third of the memory's speed. The same product in the other layout, weight times inputs, reads the
weights once at full speed (135M parameters, two lanes: 75 ms a step became 40, and four lanes
cost what one does). It is always done for at least four columns, so that the same kernel adds up
the same numbers in the same order however many rows there are: with one torch thread the numbers
of a row do not depend on the rows beside it, not even in the last bit. (With several threads
attention itself divides its work by the number of rows, and the last bits differ.)

For more rows both layouts cost about the same (a step of the story model with 5, 16 and 32 rows:
1.2, 1.0 and 1.0 of the usual way), so a decoding step of up to `MANY` rows stays with the one in
which rows do not see each other.
"""

from __future__ import annotations

import torch
from torch import nn

FEW = 4
"""So many rows cost what one does."""

MANY = 32
"""So many rows may take a decoding step in which they do not see each other."""


class FewRowsLinear(nn.Linear):
    """`torch.nn.Linear` with another kernel for few rows; more, and long prompts, go as usual."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        rows = input.numel() // self.in_features
        # A decoding step has one token a row: (rows, 1, width).
        one_token = input.dim() == 3 and input.shape[1] == 1
        if rows > (MANY if one_token else FEW) or rows == 0:
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
