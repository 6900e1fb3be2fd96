"""What becomes of an architecture: how it is decoded, or why not. It writes docs/models.md.

python -m tests.models.trial --write
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers.cache_utils import (
    CacheLayerMixin,
    DynamicIndexedLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionCacheLayerMixin,
)

from tests.models import zoo
from xtc_viz.errors import ModelError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.local.layers.activation import use_row_activations
from xtc_viz.models.local.layers.linear import use_few_rows_linear
from xtc_viz.models.local.steps.cache import new_cache
from xtc_viz.models.local.steps.forward import forward_whole
from xtc_viz.models.local.steps.proof import USUAL, Started, Way, prove
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.rows import Row, decode_rows
from xtc_viz.settings import SamplerSettings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
BEGIN, END = "<!-- architectures -->", "<!-- /architectures -->"

# (tokens of the prompt, new ones): longer and shorter than windows, chunks and convolutions; each
# row beyond the second takes the place of one that has ended.
ROWS = ((11, 14), (5, 4), (2, 12), (12, 3), (1, 9))

TOLERANCE = 1e-5
# It runs its layers many times, and so rounds more.
TOLERANCES = {"hrm_text": 2e-4}


class Tokens:
    """A model of transformers without a tokenizer (as much of a `LanguageModel` as rows need)."""

    def __init__(self, model: Any, info: ModelInfo, way: Way) -> None:
        self.model, self.info, self.way = model, info, way

    def start(self, prompts: Sequence[Sequence[int]]) -> Started:
        return self.way.start(self.model, self.info, prompts)

    def detokenizer(self, prefix_ids: Sequence[int] = ()) -> Any:
        return FakeModel().detokenizer()


def load(name: str) -> Tokens:
    """Return the tiny model of an architecture as it is decoded. Raises `ModelError`."""
    model = zoo.make(name)
    use_few_rows_linear(model)
    use_row_activations(model)
    info = zoo.info_of(name, model)
    return Tokens(model, info, prove(model, info, ()))


def error_of(tokens: Any) -> float:
    """Return how far the probabilities that rows record are from those of whole texts, at most."""
    rows = [
        Row([3 + 7 * i * (n + 1) % 60 for i in range(1, length + 1)], SamplerSettings(), seed=n,
            max_new_tokens=new, top_candidates=100)
        for n, (length, new) in enumerate(ROWS)
    ]  # fmt: skip
    texts = [list(row.prompt_ids) for row in rows]
    recorded: list[list[torch.Tensor]] = [[] for _ in rows]
    for steps, _ in decode_rows(tokens, rows, at_once=2):
        for number, step, _, refusal in steps:
            assert step, refusal
            shown = torch.zeros(zoo.VOCABULARY)
            shown[list(step.ids)] = torch.tensor(list(step.probs))
            recorded[number].append(shown)
            texts[number].append(step.token)
    errors = []
    for row, text, probs in zip(rows, texts, recorded, strict=True):
        with torch.inference_mode():
            whole = forward_whole(tokens.model, torch.tensor([text[:-1]]))[0].softmax(-1)
        wanted = whole[len(row.prompt_ids) - 1 :]
        errors.append(float((torch.stack(probs) - wanted).abs().max()))
    return max(errors)


def outcome(name: str) -> str:
    """Return what the docs say of an architecture, once it has shown that it is so."""
    try:
        tokens = load(name)
    except ModelError as error:
        return f"refused: {str(error).removeprefix(f'{name} is ').partition(':')[0]}"
    off = error_of(tokens)
    assert off <= TOLERANCES.get(name, TOLERANCE), f"{name} is off by {off:.2g}"
    if tokens.way is USUAL:
        return f"lanes at once, {_kept(tokens.model.config)}"
    return tokens.way.words


def _kept(config: Any) -> str:
    """Say what the layers keep of a text."""
    kinds = {
        "a state": LinearAttentionCacheLayerMixin,
        "a window": DynamicSlidingWindowLayer,
        "an index": DynamicIndexedLayer,
    }
    layers = new_cache(config).layers
    words = [word for word, kind in kinds.items() if any(isinstance(x, kind) for x in layers)]
    special = tuple(kinds.values())
    whole = [x for x in layers if isinstance(x, CacheLayerMixin) and not isinstance(x, special[1:])]
    return " and ".join((["all tokens"] if whole else []) + words)


def table() -> dict[str, str]:
    """Return what docs/models.md says, by architecture."""
    text = PAGE.read_text(encoding="utf-8")
    lines = text.partition(BEGIN)[2].partition(END)[0].splitlines()
    cells = (re.findall(r"`(.+?)` +\| (.*?) +\|", line) for line in lines)
    return {name: words for found in cells for name, words in found}


def written(outcomes: dict[str, str]) -> str:
    """Return the table."""
    names = max(len(name) + 2 for name in outcomes)
    words = max(map(len, outcomes.values()))
    rows = [f"| {f'`{name}`':{names}} | {said:{words}} |" for name, said in outcomes.items()]
    head = [f"| {'architecture':{names}} | {'how it is decoded':{words}} |"]
    head.append(f"|{'-' * (names + 2)}|{'-' * (words + 2)}|")
    return "\n".join([*head, *rows])


def main() -> None:
    torch.set_num_threads(1)
    outcomes = {name: outcome(name) for name in zoo.NAMES}
    outcomes |= {name: f"not tried: {why}" for name, why in zoo.LEFT_OUT.items()}
    made = written(dict(sorted(outcomes.items())))
    if "--write" in sys.argv:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")
    else:
        print(made)


if __name__ == "__main__":
    main()
