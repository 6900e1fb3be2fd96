"""The head of a safetensors file: one by hand, and safetensors itself as the reference."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from xtc_viz.errors import ModelError
from xtc_viz.models.local.folder.headers import TensorHead, tensor_heads

DTYPES = {"F32": torch.float32, "BF16": torch.bfloat16, "I64": torch.int64, "BOOL": torch.bool}


def test_by_hand(tmp_path: Path) -> None:
    head = json.dumps({"w": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}}).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(head)) + head + b"\0" * 12)
    assert tensor_heads(file, "mine") == {"w": TensorHead("F16", (2, 3), 12)}
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ModelError, match="it ends at byte 12 of 11, so the file is cut off"):
        tensor_heads(file, "mine")


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tensors=st.dictionaries(
        st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8),
        st.tuples(st.sampled_from(sorted(DTYPES)), st.lists(st.integers(0, 4), max_size=3)),
        max_size=5,
    )
)
def test_as_safetensors_writes_it(
    tmp_path: Path, tensors: dict[str, tuple[str, list[int]]]
) -> None:
    file = tmp_path / "model.safetensors"
    made = {key: torch.zeros(shape, dtype=DTYPES[dtype]) for key, (dtype, shape) in tensors.items()}
    save_file(made, file)
    assert tensor_heads(file, "mine") == {
        key: TensorHead(dtype, tuple(shape), made[key].nbytes)
        for key, (dtype, shape) in tensors.items()
    }
