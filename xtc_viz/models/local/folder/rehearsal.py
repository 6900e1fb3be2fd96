"""A load without its weights: what a model needs and whether its files have it, before any memory
is taken.

The model is made on torch's device `meta`, whose tensors have a shape and no content, and the
tensors that the files' heads describe are loaded into it by transformers itself, with all its
renaming and merging. So what fits here fits later on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter, signature
from logging import CRITICAL
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import (
    CONFIG_MAPPING,
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForMultimodalLM,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.utils import logging

from xtc_viz.errors import ModelError, shortened, shown
from xtc_viz.models.catalog import BYTES, Precision
from xtc_viz.models.local.folder.files import CONFIG, ModelFiles
from xtc_viz.models.local.folder.headers import TensorHead

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U64": torch.uint64, "U32": torch.uint32, "U16": torch.uint16, "U8": torch.uint8,
    "BOOL": torch.bool, "C64": torch.complex64,
    "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
}  # fmt: skip
# Where the text part of a model for images has its weights, by the names of its own class.
TEXT_PART = {
    r"^(model\.)?language_model\.model\.": "model.",
    r"^(model\.)?language_model\.lm_head\.": "lm_head.",
    r"^(model\.)?(language_model|text_model)\.": "model.",
}
AUTO = (AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForMultimodalLM)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model is to be loaded, and what of it will be in memory.

    `choice` is the place of the class in `classes`, and `text_part` whether that is only the text
    part of a model for images or sound. `linear` counts the weights of
    the layers' matrices, which a quantization shrinks, `others` all other weights; `size` are the
    bytes of all weights in their files. `quantized` says by what they are quantized there, or "".
    """

    choice: int
    text_part: bool
    linear: int
    others: int
    size: int
    quantized: str

    def bytes_as(self, precision: Precision) -> int:
        """Return the memory of the weights in bytes; at least, where the files are quantized."""
        if self.quantized:
            return self.size
        linear, others = BYTES[precision]
        return round(self.linear * linear + self.others * others)


def plan_load(files: ModelFiles, view: Path, name: str) -> Plan:
    """Return how to load the model of a view (see `files`). Raises `ModelError` if it cannot be."""
    _check_kind(files, name)
    config = read_config(view, name)
    choices = list(classes(config, name))
    if not choices:
        raise ModelError(
            f"{name} is a {shown(config.model_type)}, which writes about an image or a sound "
            "only: it cannot be given text alone."
        )
    if files.quantized:
        # The names in the files are those of the method, and its tensors packed.
        return Plan(0, choices[0][0], 0, 0, files.size, files.quantized)
    problem: ModelError | None = None
    for choice, (text_part, own, kind) in enumerate(choices):
        try:
            model = _rehearse(files, own, kind, text_part, name)
            return Plan(choice, text_part, *_counts(model), files.size, "")
        except ModelError as error:
            problem = problem or error
    assert problem
    raise problem


def class_of(view: Path, plan: Plan, name: str) -> tuple[PreTrainedConfig, type[PreTrainedModel]]:
    """Return the config and the class that a plan chose. Raises `ModelError`."""
    _, config, kind = list(classes(read_config(view, name), name))[plan.choice]
    return config, kind


def read_config(view: Path, name: str) -> PreTrainedConfig:
    """Return the config of a view. Raises `ModelError`."""
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            view, trust_remote_code=False, local_files_only=True
        )
        return config
    except Exception as error:
        raise ModelError(f"{CONFIG} of {name} is broken: {first_line(error)}") from error


def _check_kind(files: ModelFiles, name: str) -> None:
    architectures = files.config.get("architectures")
    if architectures is not None and not (
        isinstance(architectures, list) and all(isinstance(each, str) for each in architectures)
    ):
        raise ModelError(f"{CONFIG} of {name} is broken: `architectures` is no list of names.")
    kind = files.config.get("model_type")
    if not isinstance(kind, str) or not kind:
        raise ModelError(f"{CONFIG} of {name} says no `model_type`, so nobody knows what it is.")
    if kind not in CONFIG_MAPPING:
        raise ModelError(
            f"{name} needs code of its own to run, which is never loaded."
            if files.own_code
            else f"{CONFIG} of {name} says `model_type` {shown(kind)}, which is unknown to the "
            f"installed transformers {transformers.__version__}."
        )


def classes(
    config: PreTrainedConfig, name: str
) -> Iterator[tuple[bool, PreTrainedConfig, type[PreTrainedModel]]]:
    """Yield how a model may be loaded, the best way first: whether as its text part alone, the
    config and the class for that.

    Raises `ModelError` for what does not write text token by token.
    """
    kinds = config.architectures or [type(config).__name__.removesuffix("Config")]
    architecture = shortened(kinds[0])
    if config.is_encoder_decoder:
        raise ModelError(
            f"{name} is a {architecture}, which translates one text into another (encoder and "
            "decoder): it does not continue a text."
        )
    known = {known for auto in AUTO for known in _names(auto)}
    if config.architectures and not known.intersection(config.architectures):
        raise ModelError(
            f"{name} is a {architecture}, not a causal language model: it does not write text "
            "token by token."
        )
    text = config.get_text_config(decoder=True)
    kind = _kind(AutoModelForCausalLM, config)
    if kind:
        # As transformers does: of some models for images it has the text part as a class.
        part = text is not config and kind.config_class is type(text)
        yield part, text if part else config, kind
        return
    whole = [own for own in (_kind(auto, config) for auto in AUTO[1:]) if own]
    kind = _kind(AutoModelForCausalLM, text) if text is not config else None
    # Those that ask which tokens are of an image attend to the prompt in a way of their own.
    special = any("token_type_ids" in signature(own.forward).parameters for own in whole)
    if kind and kind.config_class is type(text) and not special:
        yield True, text, kind
    for own in whole:
        if own.can_generate() and _takes_text_alone(own):
            yield False, config, own


def _takes_text_alone(kind: type[PreTrainedModel]) -> bool:
    """Whether a model can be given tokens and nothing else."""
    return all(
        parameter.default is not Parameter.empty
        or parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        for name, parameter in signature(kind.forward).parameters.items()
        if name not in ("self", "input_ids")
    )


def _names(auto: Any) -> Iterator[str]:
    """Yield the names of all classes that `auto` has, without importing them."""
    for names in auto._model_mapping._model_mapping.values():
        yield from names if isinstance(names, (tuple, list)) else (names,)


def _kind(auto: Any, config: PreTrainedConfig) -> type[PreTrainedModel] | None:
    """Return the class that `auto` has for a config, None where it has none."""
    if type(config) not in auto._model_mapping:
        return None
    kind: Any = auto._model_mapping[type(config)]
    return kind[0] if isinstance(kind, (tuple, list)) else kind  # type: ignore[no-any-return]


def _rehearse(
    files: ModelFiles, config: Any, kind: type[PreTrainedModel], text_part: bool, name: str
) -> PreTrainedModel:
    """Return the model on the device `meta`, with the heads of the files loaded into it."""
    heads = {key: _meta(head, name) for key, head in files.tensors.items()}
    try:
        with _quiet():
            both: Any = kind.from_pretrained(
                None,
                config=config,
                state_dict=heads,
                device_map={"": "meta"},
                dtype=torch.bfloat16,
                output_loading_info=True,
                ignore_mismatched_sizes=True,
                **part_options(text_part),
            )
        model, report = both
    except Exception as error:
        raise ModelError(
            f"{CONFIG} of {name} describes no model that can be built: {first_line(error)}"
        ) from error
    missing = sorted(report["missing_keys"])
    if missing:
        more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
        raise ModelError(
            f"The weights of {name} are incomplete: there is no {shortened(missing[0])}{more}."
        )
    mismatched = sorted(report["mismatched_keys"])
    if mismatched:
        key, own, wanted = mismatched[0]
        raise ModelError(
            f"The weights of {name} are of another model than {CONFIG} says: {shortened(key)} is "
            f"{list(own)}, and should be {list(wanted)}."
        )
    return model  # type: ignore[no-any-return]


def part_options(text_part: bool) -> dict[str, Any]:
    """Return what `from_pretrained` needs to load the text part alone."""
    return {"key_mapping": TEXT_PART} if text_part else {}


def _counts(model: PreTrainedModel) -> tuple[int, int]:
    """Return the weights of the layers' matrices, and all others with the buffers."""
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    linear = sum(
        module.weight.numel()
        for module in model.modules()
        if isinstance(module, torch.nn.Linear) and module is not head
    )
    # Masks of attention among them, whose size is the square of what a config says.
    buffers = sum(buffer.numel() for buffer in model.buffers())
    everything = sum(parameter.numel() for parameter in model.parameters()) + buffers
    return linear, everything - linear


@contextmanager
def _quiet() -> Iterator[None]:
    """Let transformers say nothing of what is refused in our own words, and draw no bar."""
    verbosity = logging.get_verbosity()
    logging.set_verbosity(CRITICAL)
    hook = logging.set_tqdm_hook(lambda make, args, options: args[0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_tqdm_hook(hook)
        logging.set_verbosity(verbosity)


def _meta(head: TensorHead, name: str) -> torch.Tensor:
    dtype = DTYPES.get(head.dtype)
    if dtype is None:
        raise ModelError(f"The weights of {name} are of type {head.dtype}, which cannot be read.")
    return torch.empty(head.shape, dtype=dtype, device="meta")


def first_line(error: BaseException) -> str:
    """Return the beginning of a library's words as one line."""
    if isinstance(error, KeyError):
        return f"there is no {error}."
    line = " ".join(str(error).split())
    return shortened(line, 200).rstrip(".:") + "." if line else f"{type(error).__name__}."
