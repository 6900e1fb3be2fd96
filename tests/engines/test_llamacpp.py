"""The stages against llama.cpp's own: its server runs the story model and shows what it is left.

Needs `xllamacpp`, a wheel that embeds the server, and `gguf` to write the model for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import numpy.typing as npt
import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from xtc_viz.sampling.stages.base import Change
from xtc_viz.sampling.stages.dry import dry
from xtc_viz.sampling.stages.frequency_penalty import frequency
from xtc_viz.sampling.stages.presence_penalty import presence
from xtc_viz.sampling.stages.repetition_penalty import repetition
from xtc_viz.sampling.stages.temperature import dynamic_temperature
from xtc_viz.sampling.stages.top_n_sigma import sigma_floor

xllamacpp = pytest.importorskip("xllamacpp", reason="needs xllamacpp and gguf")
pytest.importorskip("gguf", reason="needs xllamacpp and gguf")

from tests.engines.gguf_model import write_gguf  # noqa: E402

pytestmark = [pytest.mark.engines, pytest.mark.slow]

FOLDER = Path(__file__).parent.parent.parent / "assets" / "story-model"
STORY = (
    'Once upon a time, there was a girl named Lily. She said: "I like my red ball." The ball was '
    "big.\nLily had a red ball and a blue ball. One day, the red ball rolled away. One day, "
)
BREAKERS = ["\n", ":", '"', "*"]
CASES = range(40)

Array = npt.NDArray[Any]


class Engine:
    """llama.cpp's server with the story model in float32, beside the same model here."""

    def __init__(self, folder: Path) -> None:
        torch.set_num_threads(1)
        self.model = LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32)
        self.tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER)
        self.story: list[int] = self.tokenizer(STORY)["input_ids"]
        path = folder / "story.gguf"
        write_gguf(self.model, self.tokenizer, path)
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.verbosity = -1
        self.server = xllamacpp.Server(params)

    @torch.inference_mode()
    def logits(self, context: list[int]) -> Array:
        logits: Array = self.model(torch.tensor([context])).logits[0, -1].numpy()
        return logits

    def probs(self, context: list[int], **settings: Any) -> Array:
        """Return what the server would draw the next token from, (V,), after these stages."""
        v = self.model.config.vocab_size
        request = {"temperature": 1, **settings, "prompt": context, "n_predict": 1, "n_probs": v}
        body = json.dumps(request | {"post_sampling_probs": True}).encode()
        headers = {"Content-Type": "application/json"}
        with urlopen(
            Request(f"{self.server.listening_address}/completion", body, headers)
        ) as reply:
            (step,) = json.load(reply)["completion_probabilities"]
        probs = np.zeros(v)
        for token in step["top_probs"]:
            probs[token["id"]] = token["prob"]
        return probs

    def breakers(self) -> frozenset[int]:
        """Return the tokens that break a sequence there: all whose text holds a breaker."""
        texts = [self.tokenizer.decode([i]) for i in range(self.model.config.vocab_size)]
        return frozenset(i for i, text in enumerate(texts) if any(b in text for b in BREAKERS))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(tmp_path_factory.mktemp("gguf"))
    yield engine
    del engine.server


def random_context(engine: Engine, rng: np.random.Generator) -> list[int]:
    """Return three pieces of the story over and over in random order, the last one cut short."""
    starts, lengths = rng.integers(0, 40, 3), rng.integers(2, 12, 3)
    pieces = [engine.story[a : a + n] for a, n in zip(starts, lengths, strict=True)]
    context = [token for i in rng.integers(0, 3, 10) for token in pieces[i]]
    return context[: len(context) - int(rng.integers(0, 5))]


def changed(logits: Array, *changes: Change) -> Array:
    logits = logits.copy()
    for change in changes:
        logits[change.ids] = change.apply(logits[change.ids])
    return logits


def softmax(logits: Array) -> Array:
    weights: Array = np.exp(logits.astype("f8") - logits.max())
    probs: Array = weights / weights.sum()
    return probs


def assert_same(ours: Array, theirs: Array) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=5e-4, atol=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_penalties(engine: Engine, case: int) -> None:
    rng = np.random.default_rng(case)
    context = random_context(engine, rng)
    window = int(rng.choice([len(context), 1, 5, 20]))
    repeat, present, often = (float(x) for x in rng.uniform([0.5, -2, -2], [2, 2, 2]))
    theirs = engine.probs(
        context, samplers=["penalties"], repeat_last_n=window, repeat_penalty=repeat,
        presence_penalty=present, frequency_penalty=often,
    )  # fmt: skip
    changes = (
        repetition(repeat, window, context),
        presence(present, window, context),
        frequency(often, window, context),
    )
    assert_same(softmax(changed(engine.logits(context), *changes)), theirs)


@pytest.mark.parametrize("case", CASES)
def test_dry(engine: Engine, case: int) -> None:
    rng = np.random.default_rng(case)
    context = random_context(engine, rng)
    window = int(rng.choice([len(context), 10, 30]))
    multiplier, base, allowed = rng.uniform(0.1, 2), rng.uniform(1, 2), int(rng.integers(1, 5))
    theirs = engine.probs(
        context, samplers=["dry"], dry_multiplier=multiplier, dry_base=base,
        dry_allowed_length=allowed, dry_penalty_last_n=window, dry_sequence_breakers=BREAKERS,
    )  # fmt: skip
    change = dry(multiplier, base, allowed, window, engine.breakers(), context)
    assert_same(softmax(changed(engine.logits(context), change)), theirs)


def test_a_long_match_of_dry_goes_on_there(engine: Engine) -> None:
    """The one difference but for breakers: here a match ends at 50 tokens."""
    block = [*range(500, 560)]
    context = [*block, 499, *block]
    settings = {"dry_multiplier": 0.1, "dry_base": 1.05, "dry_penalty_last_n": len(context)}
    theirs = engine.probs(context, samplers=["dry"], **settings)
    logits = engine.logits(context)
    change = dry(0.1, 1.05, 2, 0, frozenset(), context)
    assert change.lowered == pytest.approx([0.1 * 1.05**48])
    assert_same(
        softmax(changed(logits, Change(change.ids, 1.0, change.lowered * 1.05**10))), theirs
    )


@pytest.mark.parametrize("case", CASES)
def test_dynamic_temperature(engine: Engine, case: int) -> None:
    rng = np.random.default_rng(case)
    context = random_context(engine, rng)
    temperature, spread, exponent = (float(x) for x in rng.uniform([0, 0.1, 0.2], [2, 1, 3]))
    top_k = int(rng.choice([0, 2, 40]))
    theirs = engine.probs(
        context, samplers=["top_k", "temperature"], top_k=top_k, temperature=temperature,
        dynatemp_range=spread, dynatemp_exponent=exponent,
    )  # fmt: skip
    logits = engine.logits(context)
    if top_k:
        logits = np.where(logits >= np.sort(logits)[-top_k], logits, -np.inf)
    probs = softmax(logits)
    probs = probs[probs > 0]
    entropy = float(-(probs * np.log(probs)).sum())
    divisor = dynamic_temperature(temperature, spread, exponent, entropy, len(probs))
    assert_same(softmax(logits / divisor), theirs)


@pytest.mark.parametrize("case", CASES)
def test_top_n_sigma(engine: Engine, case: int) -> None:
    rng = np.random.default_rng(case)
    context = random_context(engine, rng)
    n = rng.uniform(0.1, 3)
    theirs = engine.probs(context, samplers=["top_n_sigma"], top_n_sigma=n)
    logits = engine.logits(context)
    probs = softmax(logits)
    kept = probs >= sigma_floor(logits, n) * probs.max()
    assert_same(softmax(np.where(kept, logits, -np.inf)), theirs)


def test_what_top_n_sigma_masked_counts_as_left_there(engine: Engine) -> None:
    """A difference: to us the support is what is left, to llama.cpp still the vocabulary."""
    logits = engine.logits(engine.story)
    theirs = engine.probs(
        engine.story, samplers=["top_n_sigma", "temperature"], top_n_sigma=1.5, dynatemp_range=0.8
    )
    probs = softmax(logits)
    logits = np.where(probs >= sigma_floor(logits, 1.5) * probs.max(), logits, -np.inf)
    probs = softmax(logits)
    entropy = -float((probs[probs > 0] * np.log(probs[probs > 0])).sum())
    ours, whole = (
        dynamic_temperature(1.0, 0.8, 1.0, entropy, support)
        for support in (np.isfinite(logits).sum(), len(logits))
    )
    assert whole < ours
    assert_same(softmax(logits / whole), theirs)
