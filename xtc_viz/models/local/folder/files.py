"""What a model's folder may hold, checked before any library reads it.

A folder is a stranger's. Libraries look for many things in one: pickled weights, adapters that name
other models, checkpoints of several machines, code. So none of them sees it. What is known here to
be data is put into an empty folder of our own, a *view*, and libraries read that one: configs
without what would run or fetch code, the tokenizer's files, and the weights that a safetensors
index names, with an index written anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xtc_viz.errors import ModelError, shortened, shown
from xtc_viz.models.local.folder.headers import TensorHead, tensor_heads
from xtc_viz.models.local.folder.jsonfile import parsed, read_bounded, read_object

MB = 10**6
CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
GENERATION = "generation_config.json"
MAX_CONFIG, MAX_INDEX, MAX_TENSORS = 1 * MB, 64 * MB, 500_000

# Read as objects and written anew, without what is `_unsafe`.
OBJECTS = {
    GENERATION: 1 * MB,
    "tokenizer_config.json": 32 * MB,
    "special_tokens_map.json": 8 * MB,
    "added_tokens.json": 32 * MB,
}
# Taken as they are. None of their readers runs anything of them but patterns and the template.
TEXTS = {
    "tokenizer.json": 256 * MB,
    "vocab.json": 64 * MB,
    "vocab.txt": 64 * MB,
    "merges.txt": 64 * MB,
    "tokenizer.model": 64 * MB,
    "spiece.model": 64 * MB,
    "sentencepiece.bpe.model": 64 * MB,
    "chat_template.jinja": 1 * MB,
}
VOCABULARIES = tuple(name for name in TEXTS if name != "chat_template.jinja")
OLD_TEMPLATE = "chat_template.json"  # where models of images used to have it

# Code, where weights, kernels and other files come from, and what only transformers sets.
_UNSAFE = re.compile(
    r"auto_map|_auto_class|_?(attn|experts)_implementation.*|.*kernel_config|use_kernels?|"
    r"fusion_config|custom_.*|transformers_weights|configuration_files|.*_files?|gguf.*|"
    r"distributed_config|_?name_or_path|_commit_hash|(base_model_)?[tpe]p_plan|"
    r"use_pretrained_backbone"
)
# Quantized as in the file: the code for it comes with transformers or a package that somebody
# installed here. Those that are widened instead would fetch their kernels from the hub.
QUANTIZED = ("bitsandbytes", "gptq", "awq", "compressed-tensors")
WIDENED = ("fp8", "mxfp4")
FEW_LAYERS = 512  # too few to be of harm, though a tiny model's files have fewer tensors
_LAYERS = re.compile(r"(.*_)?(layers?|blocks|depth)")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What a folder holds: its config, its weights' files and what their heads say, by tensor.

    `own_code`: it comes with code, which is never run; transformers may know the model without it.
    """

    config: Mapping[str, Any]
    own_code: bool
    weights: tuple[Path, ...]
    tensors: Mapping[str, TensorHead]

    @property
    def size(self) -> int:
        """All weights, in bytes."""
        return sum(tensor.size for tensor in self.tensors.values())

    @property
    def quantized(self) -> str:
        """How the weights are quantized in their files, or ""."""
        return _method(self.config)


def make_view(folder: Path, view: Path, name: str) -> ModelFiles:
    """Check a model's folder and put what may be read of it into the empty folder `view`.

    `name` is the model's in messages. Raises `ModelError` with the file and what is wrong with it.
    """
    folder = folder.resolve()
    if not (folder / CONFIG).exists():
        raise ModelError(f"{name} is no model folder: it has no {CONFIG}.")
    stated = read_object(_within(folder, CONFIG, name), MAX_CONFIG, f"{CONFIG} of {name}")
    config = _safe(stated)
    _check_quantization(config, name)
    weights = _weight_files(folder, name)
    tensors: dict[str, TensorHead] = {}
    owners: dict[str, str] = {}
    for file, wanted in weights.items():
        heads = tensor_heads(_within(folder, file, name), name)
        missing = sorted(wanted - heads.keys())
        if missing:
            raise ModelError(
                f"The weights of {name} are incomplete: {file} has no {_some(missing)}, which "
                f"{INDEX} says it has."
            )
        tensors |= heads
        owners |= dict.fromkeys(heads, file)
        if len(tensors) > MAX_TENSORS:
            raise ModelError(f"{name} has more than {MAX_TENSORS:,} tensors.")
    _check_sizes(config, len(tensors), name)
    _check_ids(config, f"{CONFIG} of {name}")
    _write(view / CONFIG, config)
    _take_texts(folder, view, name)
    for file in weights:
        _link(folder / file, view / file)
    if list(weights) != [WEIGHTS]:
        _write(view / INDEX, {"metadata": {}, "weight_map": owners})
    return ModelFiles(config, "auto_map" in stated, tuple(view / file for file in weights), tensors)


def make_tokenizer_view(folder: Path, view: Path, name: str) -> None:
    """Do the same with a folder of which the tokenizer alone is wanted, with weights or without.

    Raises `ModelError` as `make_view` does.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise ModelError(f"{name} is no folder: the tokenizer's files are looked for in one.")
    if (folder / CONFIG).exists():  # it may say of which kind the tokenizer is
        what = f"{CONFIG} of {name}"
        config = read_object(_within(folder, CONFIG, name), MAX_CONFIG, what)
        _check_ids(config, what)
        _write(view / CONFIG, _safe(config))
    _take_texts(folder, view, name)


def has_tokenizer(view: Path) -> bool:
    """Whether there is any file that a tokenizer could be made of."""
    return any((view / name).exists() for name in VOCABULARIES)


def index_files(index: Path, name: str) -> dict[str, set[str]]:
    """Return the weights' files that an index names, each with the tensors that it should have.

    Raises `ModelError` for anything but plain names of safetensors files.
    """
    values = read_object(index, MAX_INDEX, f"{INDEX} of {name}")
    places = values.get("weight_map")
    if not isinstance(places, dict) or not places:
        raise ModelError(f"{INDEX} of {name} is broken: it has no `weight_map`.")
    files: dict[str, set[str]] = {}
    for tensor, file in places.items():
        if not isinstance(file, str) or not re.fullmatch(r"[\w][\w.+-]{0,200}\.safetensors", file):
            raise ModelError(
                f"{INDEX} of {name} names {shown(file)} as a file of weights. Only safetensors "
                "files of the same folder are read, as others can run code or lie elsewhere."
            )
        files.setdefault(file, set()).add(tensor)
    return files


def _take_texts(folder: Path, view: Path, name: str) -> None:
    """Put the files of a tokenizer into a view, and what says how texts end."""
    for file, most in OBJECTS.items():
        if (folder / file).exists():
            values = read_object(_within(folder, file, name), most, f"{file} of {name}")
            _check_ids(values, f"{file} of {name}")
            _write(view / file, _safe(values))
    for file, most in TEXTS.items():
        if (folder / file).exists():
            _check_text(_within(folder, file, name), most, f"{file} of {name}")
            _link(folder / file, view / file)
    _take_old_template(folder, view, name)


def _weight_files(folder: Path, name: str) -> dict[str, set[str]]:
    """Return the weights' files, each with the tensors that it must have, in their order."""
    if (folder / WEIGHTS).exists():
        return {WEIGHTS: set()}
    if (folder / INDEX).exists():
        files = index_files(_within(folder, INDEX, name), name)
        missing = sorted(file for file in files if not (folder / file).exists())
        if missing:
            raise ModelError(
                f"The weights of {name} are incomplete: {missing[0]} is missing "
                f"({len(missing)} of {len(files)} files)."
            )
        return dict(sorted(files.items()))
    pickles = [*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")]
    if pickles:
        raise ModelError(
            f"{name} has pickled weights only ({pickles[0].name}), which can run code when they "
            "are read. Only safetensors files are loaded."
        )
    if any(folder.glob("*.safetensors")):
        raise ModelError(
            f"{name} has no weights by a known name: there is neither {WEIGHTS} nor {INDEX}."
        )
    raise ModelError(f"{name} has no weights: there is no safetensors file.")


def _within(folder: Path, file: str, name: str) -> Path:
    """Return a file of a folder, which must be a plain one that does not lie elsewhere.

    The hub's cache has a folder of links, `snapshots/<commit>`, to its folder `blobs`.
    """
    try:
        path = (folder / file).resolve(strict=True)
        plain = stat.S_ISREG(path.stat().st_mode)
    except (OSError, RuntimeError):  # a link to nowhere, or to itself
        raise ModelError(f"{file} of {name} is a link to nowhere.") from None
    blobs = folder.parent.parent / "blobs"
    if path.parent != folder and not (folder.parent.name == "snapshots" and path.parent == blobs):
        raise ModelError(f"{file} of {name} is a link out of its folder, and is not followed.")
    if not plain:
        raise ModelError(f"{file} of {name} is no plain file.")
    return path


def _check_text(file: Path, most: int, what: str) -> None:
    size = file.stat().st_size
    if size > most:
        raise ModelError(f"{what} has {size:,} bytes (at most {most:,}), and is not read.")
    if file.suffix == ".json":
        parsed(read_bounded(file, most, what), what)


def _check_quantization(config: Mapping[str, Any], name: str) -> None:
    method = _method(config)
    if method and method not in (*QUANTIZED, *WIDENED):
        raise ModelError(
            f"{CONFIG} of {name} says that its weights are quantized by {shown(method)}. What "
            f"can be read is {', '.join((*QUANTIZED, *WIDENED))}: others run code of their own."
        )
    if method in WIDENED:
        config["quantization_config"]["dequantize"] = True


def _method(config: Mapping[str, Any]) -> str:
    """Return by what the weights are quantized, or ""."""
    values = config.get("quantization_config")
    if not isinstance(values, dict):
        return ""
    if values.get("load_in_8bit") or values.get("load_in_4bit"):
        return "bitsandbytes"
    return str(values.get("quant_method", "an unnamed method"))


def _check_sizes(config: Mapping[str, Any], tensors: int, name: str) -> None:
    """Refuse more layers than there are tensors: they would be made before anyone missed them."""
    for key, value in _numbers(config):
        if abs(value) >= 1 << 63:
            raise ModelError(
                f"{CONFIG} of {name} says {shortened(key)}: a number of too many digits."
            )
        if _LAYERS.fullmatch(key) and value > max(tensors, FEW_LAYERS):
            raise ModelError(
                f"{CONFIG} of {name} says {shortened(key)}: {value:,}, but its weights have "
                f"{tensors:,} tensors in all."
            )


def _check_ids(values: Mapping[str, Any], what: str) -> None:
    """Refuse what is no token where a token is named."""
    for key, value in values.items():
        ids = value if isinstance(value, list) else [value]
        if key.endswith("_token_id") and not all(i is None or type(i) is int for i in ids):
            raise ModelError(
                f"{what} is broken: `{shortened(key)}` must be a token id, but is {shown(value)}."
            )


def _numbers(value: Any, key: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, key if isinstance(inner, (list, dict)) else "")
    elif isinstance(value, int):
        yield key, value


def _safe(value: Any) -> Any:
    """Return a config without what would run or fetch something, at any depth."""
    if isinstance(value, dict):
        return {k: _safe(inner) for k, inner in value.items() if not _UNSAFE.fullmatch(k)}
    return [_safe(inner) for inner in value] if isinstance(value, list) else value


def _take_old_template(folder: Path, view: Path, name: str) -> None:
    """Put a template from where it used to be to where it is looked for now."""
    if not (folder / OLD_TEMPLATE).exists() or (view / "chat_template.jinja").exists():
        return
    values = read_object(_within(folder, OLD_TEMPLATE, name), 1 * MB, f"{OLD_TEMPLATE} of {name}")
    template = values.get("chat_template")
    if isinstance(template, str):
        (view / "chat_template.jinja").write_text(template, encoding="utf-8")


def _some(names: list[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" (and {len(names) - 1:,} more)" if len(names) > 1 else ""
    return shortened(names[0]) + more


def _write(file: Path, values: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(values), encoding="utf-8")


def _link(source: Path, target: Path) -> None:
    """Let `target` be the file `source`, by whatever kind of link the system allows."""
    real = source.resolve()
    for link in (os.symlink, os.link, shutil.copyfile):
        try:
            link(real, target)
            return
        except (OSError, NotImplementedError):
            continue
    raise ModelError(f"{source.name} cannot be read: there is no room for a link to it.")
