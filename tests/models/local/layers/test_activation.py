"""Activation functions: the same numbers, each row as if it were alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers.activations import ACT2FN

from xtc_viz.models.local.layers.activation import BLOCK, MANY, RowActivation, use_row_activations

KINDS = ("silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "sigmoid", "tanh", "relu2", "mish")


def test_the_end_of_a_row_is_computed_as_if_it_were_alone() -> None:
    """101 numbers are 96 in blocks and 5 that are left over; two rows of them are 192 and 10."""
    kind = nn.SiLU()
    x = torch.randn(2, 101, generator=torch.Generator().manual_seed(0))
    ours = RowActivation(kind)(x)
    assert torch.equal(ours[0], kind(x[:1])[0])
    assert torch.equal(ours[1], kind(x[1:])[0])


@given(
    name=st.sampled_from(KINDS),
    rows=st.integers(1, 9),
    tokens=st.integers(1, 3),
    width=st.integers(1, 2 * BLOCK + 1),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
)
def test_rows_do_not_see_each_other(
    name: str, rows: int, tokens: int, width: int, dtype: torch.dtype
) -> None:
    torch.manual_seed(rows * width)
    kind = ACT2FN[name]
    ours: Any = RowActivation(kind)
    x = torch.randn(rows, tokens, width).to(dtype)
    before = x.clone()
    got = ours(x)
    assert torch.equal(x, before)
    assert torch.equal(got, torch.cat([ours(row) for row in torch.split(x, 1)]))
    torch.testing.assert_close(got, kind(x))


@pytest.mark.parametrize(("rows", "width"), [(MANY + 1, 5), (3, BLOCK), (1, 5)])
def test_the_others_go_the_usual_way(rows: int, width: int) -> None:
    calls = []
    kind = nn.SiLU()
    kind.register_forward_hook(lambda *_: calls.append(1))
    RowActivation(kind)(torch.randn(rows, width))
    assert len(calls) == 1


def test_all_activations_of_a_model_are_replaced_once() -> None:
    model = nn.ModuleDict(
        {"act": ACT2FN["silu"], "inner": nn.Sequential(nn.GELU(), nn.Linear(2, 2))}
    )
    use_row_activations(model)
    use_row_activations(model)
    kinds = [type(module) for module in model.modules()]
    assert kinds.count(RowActivation) == 2
    assert nn.GELU in kinds
