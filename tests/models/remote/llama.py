"""A real llama.cpp server with the story model in it, started by a test and ended with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from xtc_viz.assets import STORY_MODEL

ANSWERS = 0.001  # how far its logits may be from those of this process


def write_story_model(path: Path) -> Path:
    """Write the embedded model as a GGUF file, in float32."""
    pytest.importorskip("gguf", reason="needs xllamacpp and gguf")
    # Here, so that a server in a process of its own starts at once.
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

    from tests.engines.gguf_model import write_gguf

    model = LlamaForCausalLM.from_pretrained(STORY_MODEL, dtype="float32")
    write_gguf(model, PreTrainedTokenizerFast.from_pretrained(STORY_MODEL), path)
    return path


@contextmanager
def serving(path: Path, *, slots: int = 4, **options: Any) -> Iterator[str]:
    """Run a server with the model of a GGUF file and yield its address.

    It computes in float32, cache included, on one thread: two that wait for each other beside a
    busy core are fifty times slower. `options` are further ones of its command line.
    """
    xllamacpp = pytest.importorskip("xllamacpp", reason="needs xllamacpp and gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.n_parallel = slots
    params.verbosity = -1
    for name, value in options.items():
        setattr(params, name, value)
    server = xllamacpp.Server(params)
    try:
        yield server.listening_address
    finally:
        del server
