"""Models that showed wrong distributions without a word, or ended in "Something went wrong".

Each is loaded from a folder and decoded as lanes are, which begin together, go on from texts of
different lengths, and take tokens that a person chose. What is recorded is what one forward over
the whole text gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.models import tiny, zoo
from tests.models.trial import TOLERANCE, TOLERANCES
from xtc_viz.decode import decode_lanes
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.steps.forward import forward_whole
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

pytestmark = pytest.mark.slow

WRONG = ("mamba", "mamba2", "falcon_mamba", "rwkv", "openai-gpt")
CRASHED = (
    "qwen3_next", "jamba", "lfm2", "granitemoehybrid", "bamba", "zamba2", "recurrent_gemma",
    "falcon_h1", "minimax", "xlstm", "kimi_linear",
)  # fmt: skip
LANES = tuple(
    LaneSettings(name, SamplerSettings(xtc=XTCSettings(rho=rho, tau=0.02)))
    for name, rho in (("plain", 0.0), ("some", 0.5), ("all", 1.0))
)
STARTS = {
    "together": ((), (), ()),
    "from texts of different lengths": ((), tuple(range(20, 32)), (40,)),
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", [*WRONG, *CRASHED])
def test_it_is_right(name: str, tmp_path: Path) -> None:
    tokenizer = tiny.fast_tokenizer("bytelevel")
    zoo.make(name, len(tokenizer)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = LocalModel.load(str(tmp_path))
    prompt = model.encode("Once upon a time there was")
    settings = RunSettings(LANES, max_new_tokens=12)
    for prefixes in STARTS.values():
        texts = [[*prompt, *prefix] for prefix in prefixes]
        lengths = list(map(len, texts))
        probs: list[list[tuple[list[int], list[float]]]] = [[] for _ in LANES]
        columns = decode_lanes(
            model, prompt, settings, prefixes=prefixes, forced=((), (50, 51), (52,))
        )
        for column in columns:
            for lane, step in enumerate(column.steps):
                if step:
                    probs[lane].append((list(step.ids), list(step.probs)))
                    texts[lane].append(step.token)
        assert texts[1][lengths[1] : lengths[1] + 2] == [50, 51]
        for text, length, recorded in zip(texts, lengths, probs, strict=True):
            with torch.inference_mode():
                whole = forward_whole(model.model, torch.tensor([text]))[0].softmax(-1)
            for wanted, (ids, shown) in zip(whole[length - 1 :], recorded, strict=False):
                off = float((wanted[ids] - torch.tensor(shown)).abs().max())
                assert off <= TOLERANCES.get(name, TOLERANCE)
