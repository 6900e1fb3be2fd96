"""Two instrumented lanes on a GPU against a bare `model.generate`, V = 151,936.

Random weights in the shape of SmolLM2-135M (with that vocabulary), Qwen2.5-1.5B and Qwen3-8B,
bfloat16, a prompt of 32 tokens. Our side: baseline and XTC over shared random numbers, the
counterfactual and the full record, as `decode_lanes` and `Recorder` give them; the time that
recording the CUDA graph takes is counted. The reference draws from the plain distribution and
records nothing: once both rows in one batch, once one row after the other. And the operator on two
rows, as users call it, against one `torch.logsumexp` of them. All times are on the wall.

Without a CUDA device nothing is measured.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import torch
from transformers import LlamaConfig, PreTrainedConfig, PreTrainedModel, Qwen2Config, Qwen3Config

from bench.decode import XTC, prompt_ids, run
from bench.models import as_local, plain_random
from bench.references import peaked_logits
from bench.timing import Result, against, alternating, interleaved, main, relative
from xtc_viz import XTCLogitsProcessor, XTCSettings
from xtc_viz.settings import SamplerSettings

VOCAB_SIZE = 151_936
TOKENS, ROUNDS = 128, 5
LANES = [SamplerSettings(), SamplerSettings(xtc=XTC)]
_COMMON: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE,
    "max_position_embeddings": 2048,
    "bos_token_id": None,
    "eos_token_id": None,
}
CONFIGS: dict[str, PreTrainedConfig] = {
    "135M": LlamaConfig(
        hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
        num_key_value_heads=3, tie_word_embeddings=True, **_COMMON,
    ),
    "1.5B": Qwen2Config(
        hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12,
        num_key_value_heads=2, tie_word_embeddings=True, **_COMMON,
    ),
    "8B": Qwen3Config(
        hidden_size=4096, intermediate_size=12288, num_hidden_layers=36, num_attention_heads=32,
        num_key_value_heads=8, head_dim=128, tie_word_embeddings=False, **_COMMON,
    ),
}  # fmt: skip


def measure() -> list[Result]:
    if not torch.cuda.is_available():
        print("gpu: nothing is measured, no CUDA device is at hand", file=sys.stderr)
        return []
    device = torch.device("cuda")
    results = []
    for name, config in CONFIGS.items():
        results += decoding(device, name, config, TOKENS, ROUNDS)
        # A model of 8B must not find the former ones in its way.
        gc.collect()
        torch.cuda.empty_cache()
    return [*results, operator(device, VOCAB_SIZE)]


def decoding(
    device: torch.device, name: str, config: PreTrainedConfig, tokens: int, rounds: int
) -> list[Result]:
    """Compare whole runs of `tokens` tokens a lane, prefill included."""
    plain = plain_random(config, device, torch.bfloat16)
    model = as_local(plain, name)
    prompt = prompt_ids(model)
    cases: Mapping[str, Callable[[], object]] = {
        "ours": lambda: run(model, LANES, tokens),
        "batch": lambda: generate(plain, [prompt] * 2, tokens),
        "runs": lambda: [generate(plain, [prompt], tokens) for _ in range(2)],
    }
    times = alternating(waited_for(cases, device), rounds, perf_counter)
    each = {case: time / tokens for case, time in times.items()}
    what = f"{name_of(device)}, {name} bfloat16, two lanes"
    if model.graphs is None or not model.graphs.usable:
        what += " without graphs"
    return [
        against(
            f"{what}: as fast as generate with batch 2",
            each["ours"], each["batch"], "generate", at_least=1.0,
        ),
        against(
            f"{what}: faster than two runs of generate",
            each["ours"], each["runs"], "generate", at_least=1.9,
        ),
    ]  # fmt: skip


def generate(model: PreTrainedModel, prompts: list[list[int]], tokens: int) -> torch.Tensor:
    """Sample `tokens` tokens for each prompt, with nothing beside softmax and draw."""
    ids = torch.tensor(prompts, device=model.device)
    output: torch.Tensor = model.generate(  # type: ignore[operator]
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        do_sample=True,
        top_k=0,
        max_new_tokens=tokens,
        pad_token_id=0,
    )
    assert output.shape[1] == ids.shape[1] + tokens
    return output


def operator(device: torch.device, vocab_size: int, rounds: int = 15) -> Result:
    """Run the processor on two rows of float32, as `generate` has them."""
    logits = [peaked_logits(2, vocab_size, seed).to(device) for seed in range(4)]
    ids = torch.zeros(2, 1, dtype=torch.int64, device=device)
    ours = XTCLogitsProcessor(XTCSettings(1.0, XTC.tau), torch.Generator().manual_seed(0))

    def processor(i: int) -> None:
        ours(ids, logits[i % 4])
        wait(device)

    def logsumexp(i: int) -> None:
        torch.logsumexp(logits[i % 4], dim=-1)
        wait(device)

    times = interleaved({"ours": processor, "lse": logsumexp}, rounds, perf_counter)
    what = f"{name_of(device)}, operator, 2 rows: as a multiple of one logsumexp"
    return relative(what, times["ours"], times["lse"], "logsumexp", at_most=3)


def waited_for(
    cases: Mapping[str, Callable[[], object]], device: torch.device
) -> dict[str, Callable[[], object]]:
    """Let each case end when the device has."""

    def waiting(case: Callable[[], object]) -> Callable[[], object]:
        def run() -> None:
            case()
            wait(device)

        return run

    return {name: waiting(case) for name, case in cases.items()}


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def name_of(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


if __name__ == "__main__":
    main(measure, __doc__)
