"""Linear layers for a handful of rows on the CPU: fast, and each row as if it were alone.

Which kernel is fast for one to four float32 rows depends on who made the processor, because torch's
matrix library (MKL) has paths of its own for each. With one torch thread both ways add up the same
numbers in the same order however many lanes run. With activation functions that do so too
(`activation`) the logits of a lane do not depend on the lanes beside it, not even in the last bit:
those of lanes that begin with the same prompt, in models that are made of such layers alone.
(With several threads attention itself divides its work by the number of lanes, a row beside a
longer one is masked, and experts are chosen by the row: there the last bits may differ. So they may
on AMD where all heads of a lane together are no multiple of four numbers wide, as then not every
lane begins at a place in memory that suits attention. No published model is known to be so.)

- On AMD `torch.nn.functional.linear` falls into kernels that reach a third of the memory's speed.
  The same product in the other layout, weight times inputs, reads the weights once at full speed
  (135M parameters, two lanes: 75 ms a step became 40, and four lanes cost what one does). It is
  always done for four columns.
- On Intel `linear` itself is the fast one (all layers of 135M parameters, two rows: 54 ms, and 122
  in the other layout). A single row is added up in another order, so it gets a second one beside
  it, at hardly any cost; with inputs of fewer than 96 numbers so are two and three, which then
  become four. With fewer than four outputs each place in the batch is added up in an order of its
  own: there, rows go one by one.
  In bfloat16 the other layout is the fast one there too (two lanes: 61 ms a step became 51).
- Also on Intel, the weights of a small model lie in memory with the inputs first. Two rows cost the
  same then, eleven 12 % less of a step, and every row but a single one is added up as it is beside
  any others. Larger weights, which come from memory at each step, take a quarter longer that way
  for two rows, and those of an embedding have to lie with a token's numbers together.

More rows go the usual way everywhere. A row's last bits then may depend on how many rows there are.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch
from torch import nn

FEW = 4
"""So many rows cost little more than one does."""
NARROW = 96
SMALL = 2**25
"""A model's weights of so many bytes stay in the processor's caches from step to step."""
CPUINFO = Path("/proc/cpuinfo")


@cache
def on_intel(cpuinfo: Path = CPUINFO) -> bool:
    """Whether this machine's processor is Intel's; False where nobody says so."""
    try:
        return "GenuineIntel" in cpuinfo.read_text(encoding="utf-8")
    except OSError:
        return False


class FewRowsLinear(nn.Linear):
    """`torch.nn.Linear` with a kernel of choice for at most four rows; more go the usual way."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        rows = input.numel() // self.in_features
        if rows > FEW or rows == 0:
            return super().forward(input)
        flat = input.reshape(rows, self.in_features)
        if on_intel() and self.weight.dtype is torch.float32:
            usual = self.weight.is_contiguous()
            narrow = usual and self.in_features < NARROW
            if usual and self.in_features > 1 and self.out_features < FEW:
                each = [super(FewRowsLinear, self).forward(row) for row in torch.split(flat, 1)]
                output = torch.cat(each)
            else:
                output = super().forward(_at_least(FEW if narrow else 2, flat))[:rows]
        else:
            output = torch.mm(self.weight, _at_least(FEW, flat).t()).t()[:rows].contiguous()
            if self.bias is not None:
                output += self.bias
        return output.view(*input.shape[:-1], self.out_features)


def _at_least(rows: int, flat: torch.Tensor) -> torch.Tensor:
    """Return `flat` (n, width) with rows added, if it has fewer; any numbers would do in them."""
    missing = rows - len(flat)
    return flat if missing <= 0 else torch.cat((flat, flat[:1].expand(missing, -1)))


def use_few_rows_linear(model: nn.Module) -> None:
    """Replace the plain linear layers of a model on the CPU where that is faster.

    They share their weights with those that they replace.
    """
    dtypes = {torch.float32, torch.bfloat16} if on_intel() else {torch.float32}
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            # Exactly this class: quantized and other special layers keep their own ways, and
            # a layer whose weights accelerate moves about is in its hands.
            if type(child) is not nn.Linear or hasattr(child, "_hf_hook"):
                continue
            if child.weight.dtype in dtypes:
                new = FewRowsLinear(
                    child.in_features, child.out_features, child.bias is not None, device="meta"
                )
                new.weight, new.bias = child.weight, child.bias
                setattr(module, name, new.train(child.training))
    if on_intel() and sum(weight.nbytes for weight in model.parameters()) <= SMALL:
        _put_inputs_first(model)


def _put_inputs_first(model: nn.Module) -> None:
    """Turn the weights of the float32 layers round in memory; shapes and numbers stay."""
    embeddings = {id(x.weight) for x in model.modules() if isinstance(x, nn.Embedding)}
    for layer in model.modules():
        if isinstance(layer, FewRowsLinear) and id(layer.weight) not in embeddings:
            weight = layer.weight
            if weight.dtype is torch.float32:
                weight.data = weight.data.t().contiguous().t()
