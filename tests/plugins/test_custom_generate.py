"""The folder for `custom_generate`, through transformers' own way of loading it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from xtc_viz.assets import STORY_MODEL
from xtc_viz.sampling.operator import XTCLogitsProcessor
from xtc_viz.settings import XTCSettings

FOLDER = str(Path(__file__).resolve().parents[2] / "xtc_viz" / "plugins" / "transformers")
pytestmark = pytest.mark.story_model


@pytest.fixture(scope="module")
def story() -> tuple[Any, Any]:
    """The story model and its tokenizer, as transformers has them."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(STORY_MODEL)
    return model.eval(), AutoTokenizer.from_pretrained(STORY_MODEL)


@pytest.fixture
def generate(story: tuple[Any, Any]) -> Any:
    model, tokenizer = story
    inputs = tokenizer(["Once upon a time", "Tom had a red"], return_tensors="pt", padding=False)

    def written(**more: Any) -> list[list[int]]:
        torch.manual_seed(5)
        ids = model.generate(**inputs, max_new_tokens=40, pad_token_id=0, **more)
        return [row.tolist() for row in ids]

    return written


def own(**more: Any) -> dict[str, Any]:
    return {"custom_generate": FOLDER, "trust_remote_code": True, **more}


def test_it_is_the_processor_behind_the_cutoffs(generate: Any) -> None:
    from transformers import LogitsProcessorList, MinPLogitsWarper, TemperatureLogitsWarper

    asked = {"xtc_probability": 0.6, "xtc_threshold": 0.05, "xtc_seed": 3, "xtc_protected": [7]}
    settings = XTCSettings(0.6, 0.05, protected=frozenset({7}))
    by_hand = LogitsProcessorList(
        [
            TemperatureLogitsWarper(0.8),
            MinPLogitsWarper(0.1),
            XTCLogitsProcessor(settings, torch.Generator().manual_seed(3)),
        ]
    )
    expected = generate(
        logits_processor=by_hand, do_sample=True, temperature=1.0, top_k=0, top_p=1.0
    )
    assert generate(**own(temperature=0.8, min_p=0.1, top_k=0, **asked)) == expected


def test_without_xtc_it_is_what_transformers_does(generate: Any) -> None:
    stack = {"temperature": 0.9, "top_k": 20, "top_p": 0.9}
    assert generate(**own(xtc_probability=0.0, **stack)) == generate(do_sample=True, **stack)
    assert generate(**own(xtc_probability=1.0, **stack)) != generate(do_sample=True, **stack)


def test_ends_are_protected(generate: Any, story: tuple[Any, Any]) -> None:
    _, tokenizer = story
    seen: list[frozenset[int]] = []
    whole = XTCLogitsProcessor.__init__

    def init(self: Any, settings: XTCSettings, generator: Any) -> None:
        seen.append(settings.protected)
        whole(self, settings, generator)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(XTCLogitsProcessor, "__init__", init)
        generate(**own())
        generate(**own(tokenizer=tokenizer))
        generate(**own(xtc_protected=[]))
    ends, more, none = seen
    assert ends == {tokenizer.eos_token_id}
    assert more > ends, "the newlines too"
    assert not none


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"xtc_probability": 2.0}, "`rho` must be"),
        ({"xtc_threshold": 0.0}, "`tau` must be"),
        ({"do_sample": False}, "do_sample"),
        ({"num_beams": 4}, "num_beams"),
    ],
)
def test_what_is_wrong_is_named(generate: Any, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        generate(**own(**asked))
