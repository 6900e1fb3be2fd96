"""How a model is decoded: the first of several ways that proves itself on the model's own weights.

Some caches take several rows, some only one, some models have none, and what transformers does with
an argument that a model does not know differs from model to model. So nothing is believed: each
model decodes two short texts of different lengths, two steps beyond their prefill, then a third
text in the place of the longer one, and the logits are held against one forward over the whole
texts. A way that raises or gives others is no way; a model without any is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any, NamedTuple

import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.load import Progress, no_progress
from xtc_viz.models.local.folder.reader import is_out_of_memory
from xtc_viz.models.local.placement import devices_of
from xtc_viz.models.local.steps.fixed import Graphs
from xtc_viz.models.local.steps.forward import forward_whole
from xtc_viz.models.local.steps.generation import LocalGeneration
from xtc_viz.models.local.steps.rowwise import RowwiseGeneration
from xtc_viz.records.modelinfo import ModelInfo

log = logging.getLogger(__name__)

TEXT = "Once upon a time, a little girl named Lily went to the forest to look for her red ball."
PROMPTS = (6, 3, 2)
"""So many tokens have the prompts; the later ones are shorter than the usual convolutions."""
STEPS = (2, 3, 1)
"""So many tokens are then appended to each. The third row takes the place of the first, after its
last step: from then on all rows stand in fewer columns."""

EXACT = 1e-3
"""The error that counts as none in float32 on the CPU, as a share of how the logits spread
(`_error`). A right way is off by 1e-7 to 1e-4 there, a cache that is lost or misread by 0.1 to 2.
(Steps of Mamba 2's kind, which leave out a bound that whole texts have, by up to 5e-4.)"""
ROUNDED, UNSURE = 0.05, 0.3
"""Where the arithmetic is narrower: up to the one it counts as none, up to the other it may be
rounding too (experts chosen by a hair, say) where no other way is nearer by half."""

SMALL = 500_000_000
"""Models of more parameters do not run their whole text at each step: that takes too long."""

Started = LocalGeneration | RowwiseGeneration
Start = Callable[[Any, ModelInfo, Sequence[Sequence[int]]], Started]


class Way(NamedTuple):
    """A way to decode: what is said of it ("" for the usual one), and how a decode starts."""

    words: str
    start: Start


USUAL = Way("", LocalGeneration)
ONE_BY_ONE = Way("one lane after another", partial(RowwiseGeneration, with_cache=True))
NO_CACHE = Way("without a cache", partial(RowwiseGeneration, with_cache=False))


def with_graphs(graphs: Graphs) -> Way:
    """Return the usual way, its steps recorded."""
    return Way("", partial(LocalGeneration, graphs=graphs))


def prove(
    model: Any,
    info: ModelInfo,
    ids: Sequence[int],
    graphs: Graphs | None = None,
    progress: Progress = no_progress,
) -> Way:
    """Return the first way of decoding that gives what one forward gives.

    `ids` are those of a text (`TEXT`), for the numbers to be of the usual size.

    Raises:
        ModelError: there is none, or the model does not run at all; with the reason.
    """
    texts = _texts(ids, info)
    expected = _expected(model, info, texts)
    sure, unsure = (EXACT, EXACT) if _is_exact(model) else (ROUNDED, UNSURE)
    near: list[tuple[float, Way]] = []
    reason = ""
    for way in _ways(info, graphs):
        progress(f"trying how {info.name} is decoded", None)
        try:
            error = _error(_logits(way, model, info, texts), expected)
        except Exception as failure:
            _check_memory(failure, info)
            log.info("%s cannot be decoded %s", info.name, way.words or "as usual", exc_info=True)
            reason = f"it fails with: {_first_line(failure)}."
        else:
            if error <= sure:
                return way
            log.info("%s decoded %s is off by %.2g", info.name, way.words or "as usual", error)
            reason = "its steps give other probabilities than its whole text does."
            if error <= unsure:
                near.append((error, way))
    if near:
        least = min(error for error, _ in near)
        return next(way for error, way in near if error <= 2 * least)
    if _too_large(info):
        raise ModelError(
            f"{info.name} cannot be decoded step by step: {reason} At each step it would have to "
            f"read its whole text, too much for {(info.parameters or 0) / 1e9:.1f} billion "
            "parameters."
        )
    raise ModelError(
        f"{info.name} is no model that writes token by token: {reason} It may look at what comes "
        "behind a token."
    )


def _ways(info: ModelInfo, graphs: Graphs | None) -> Iterator[Way]:
    if graphs is not None:
        yield with_graphs(graphs)
    yield USUAL
    yield ONE_BY_ONE
    if not _too_large(info):
        yield NO_CACHE


def _too_large(info: ModelInfo) -> bool:
    return info.parameters is not None and info.parameters > SMALL


def _texts(ids: Sequence[int], info: ModelInfo) -> list[list[int]]:
    """Return three texts without a token in common, as far as there are so many."""
    lengths = [prompt + steps for prompt, steps in zip(PROMPTS, STEPS, strict=True)]
    distinct = [token for token in dict.fromkeys(ids) if 0 <= token < info.vocab_size]
    # A tokenizer of few words, or of other ones.
    others = (number * info.vocab_size // 97 for number in range(1, 97))
    tokens = cycle(dict.fromkeys([*distinct, *others]))
    return [list(islice(tokens, length)) for length in lengths]


def _expected(model: Any, info: ModelInfo, texts: list[list[int]]) -> torch.Tensor:
    """Return the logits (positions, V) after each prompt and each of its steps, by one forward."""
    length = max(map(len, texts))
    # What comes after a text says nothing about it.
    rows = [(text * length)[:length] for text in texts]
    try:
        with torch.inference_mode():
            ids = torch.tensor(rows).to(devices_of(model)[0])
            logits = forward_whole(model, ids).float().cpu()
    except Exception as error:
        _check_memory(error, info)
        raise ModelError(
            f"{info.name} cannot write on after a text: {_first_line(error)}"
        ) from error
    if logits.shape[-1] != info.vocab_size:
        raise ModelError(
            f"{info.name} gives {logits.shape[-1]} probabilities at each step, but its config "
            f"names a vocabulary of {info.vocab_size}."
        )
    expected = torch.cat(
        [row[prompt - 1 : prompt + steps] for row, prompt, steps in zip(
            logits, PROMPTS, STEPS, strict=True
        )]
    )  # fmt: skip
    if expected.isnan().any() or not expected.isfinite().any(-1).all():
        dtype = str(model.dtype).removeprefix("torch.")
        raise ModelError(
            f"{info.name} gives no numbers in {dtype}, only infinite ones or none: choose another "
            "dtype."
        )
    return expected


def _logits(way: Way, model: Any, info: ModelInfo, texts: list[list[int]]) -> torch.Tensor:
    """Return what `_expected` does, decoded this way."""
    first, second, third = (
        (text[:prompt], iter(text[prompt:])) for text, prompt in zip(texts, PROMPTS, strict=True)
    )
    generation = way.start(model, info, [first[0], second[0]])
    try:
        both = [_dense(generation.logits)]
        for _ in range(STEPS[0]):
            both.append(_dense(generation.advance([next(first[1]), next(second[1])])))
        firsts, seconds = (list(column) for column in zip(*both, strict=True))
        if not generation.accepts_rows:
            generation.close()
            generation = way.start(model, info, [third[0], texts[1][: PROMPTS[1] + STEPS[0]]])
            thirds = [_dense(generation.logits)[0]]
        else:
            thirds = [_dense(generation.replace([0], [third[0]]))[0]]
        new, old = _dense(generation.advance([next(third[1]), next(second[1])]))
    finally:
        generation.close()
    return torch.stack([*firsts, *seconds, old, *thirds, new])


def _dense(logits: torch.Tensor) -> torch.Tensor:
    return logits.float().cpu()


def _error(logits: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the largest error of a position's logits, as a share of how they spread there.

    Both are (positions, V). Logits of words that a model rules out, by minus infinity or nearly
    so, are left out, as is what they all have in common, which no probability shows.
    """
    errors = []
    for got, wanted in zip(logits, expected, strict=True):
        likely = wanted > -1e4
        got, wanted = got[likely], wanted[likely]
        spread = (wanted - wanted.mean()).norm()
        errors.append(((got - got.mean()) - (wanted - wanted.mean())).norm() / spread)
    # NaN is larger than anything.
    worst = torch.stack(errors).nan_to_num(nan=torch.inf).max()
    return float(worst)


def _is_exact(model: Any) -> bool:
    """Whether the model computes in float32 on the CPU, and in nothing narrower."""
    return (
        model.dtype is torch.float32
        and devices_of(model)[0].type == "cpu"
        and getattr(model, "hf_quantizer", None) is None
    )


def _check_memory(error: Exception, info: ModelInfo) -> None:
    """Raise a `ModelError` where memory ran out; another way would need as much."""
    if is_out_of_memory(error) or is_out_of_memory(error.__cause__ or error):
        raise ModelError(
            f"{info.name} leaves no memory to decode with: choose a smaller model, a narrower "
            "dtype, or quantization."
        ) from error


def _first_line(error: BaseException) -> str:
    line = str(error).strip().partition("\n")[0].rstrip(".")
    return line[:200] or type(error).__name__
