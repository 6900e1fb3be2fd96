"""From a model's folder to a model in memory, and everything that can go wrong on the way."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils.logging import set_tqdm_hook

from xtc_viz.errors import ModelError
from xtc_viz.models.load import LoadStoppedError, Progress, no_progress
from xtc_viz.models.local.placement import options, resolve_device, resolve_dtype, spread_of
from xtc_viz.models.local.spec import LocalSpec


def read(spec: LocalSpec, folder: Path, progress: Progress = no_progress) -> tuple[Any, Any]:
    """Return the model, in evaluation mode on its device, and its tokenizer, from a folder."""
    device = resolve_device(spec.device)
    dtype = resolve_dtype(spec.dtype, device)
    arguments = options(spec, device, dtype)
    name = spec.short_name
    progress(f"reading {name}", None)
    try:
        _check_config(folder, name)
        _check_weights(folder, name)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        # Typed as one value, but `output_loading_info` makes it two.
        with _counted(f"reading {name}", progress):
            both: Any = AutoModelForCausalLM.from_pretrained(
                folder,
                **arguments,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        model, report = both
        if report["missing_keys"]:
            # transformers would go on with random numbers in their place.
            missing = ", ".join(sorted(report["missing_keys"])[:3])
            raise ModelError(f"The weights of {name} are incomplete: there is no {missing}.")
        if "disk" in spread_of(model):
            # It would run, at minutes a token.
            raise ModelError(f"{name} does not fit into the memory that `max_memory` admits.")
        return model.eval(), tokenizer
    except (ModelError, LoadStoppedError):
        raise
    except Exception as error:
        raise _read_error(error, name, device) from error


@contextmanager
def _counted(words: str, progress: Progress) -> Iterator[None]:
    """Tell `progress` how many of the weights are read, which transformers counts on a bar."""
    thread = threading.get_ident()

    def counting(weights: Iterable[Any], count: int) -> Iterator[Any]:
        for done, weight in enumerate(weights):
            progress(words, done / count)
            yield weight

    def bar(make: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        mine = threading.get_ident() == thread and options.get("desc") == "Loading weights"
        return counting(args[0], len(args[0])) if mine else make(*args, **options)

    former = set_tqdm_hook(bar)
    try:
        yield
    finally:
        set_tqdm_hook(former)


def _check_config(folder: Path, name: str) -> None:
    if not (folder / "config.json").is_file():
        raise ModelError(f"{name} is no model folder: it has no config.json.")
    config: Any = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    known = set(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
    architectures = list(config.architectures or [])
    if architectures and not known.intersection(architectures):
        raise ModelError(
            f"{name} is a {architectures[0]}, not a causal language model: it does not write text "
            "token by token."
        )


def _check_weights(folder: Path, name: str) -> None:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        missing = sorted(shard for shard in shards if not (folder / shard).is_file())
        if missing:
            raise ModelError(
                f"The weights of {name} are incomplete: {missing[0]} is missing "
                f"({len(missing)} of {len(shards)} files)."
            )
    elif not any(folder.glob("*.safetensors")):
        pickles = [*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")]
        raise ModelError(
            f"{name} has pickled weights only ({pickles[0].name}), which can run code when they "
            "are read. Only safetensors files are loaded."
            if pickles
            else f"{name} has no weights: there is no safetensors file."
        )


def _read_error(error: Exception, name: str, device: torch.device) -> ModelError:
    """Return what to tell of an error of transformers, safetensors or torch."""
    if is_out_of_memory(error):
        return ModelError(
            f"{name} does not fit into the memory of {device}: choose a smaller model, a narrower "
            "dtype, or quantization."
        )
    if isinstance(error, SafetensorError):
        return ModelError(f"The weights of {name} are broken: {error}")
    if isinstance(error, json.JSONDecodeError):
        return ModelError(f"A file of {name} is broken: {error}")
    first = str(error).strip().partition("\n")[0]
    if "trust_remote_code" in str(error) or "does not recognize this architecture" in str(error):
        return ModelError(f"{name} needs code of its own to run, which is never loaded.")
    return ModelError(f"{name} could not be loaded: {first or type(error).__name__}")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on a GPU or not."""
    # torch's CPU allocator has no exception of its own.
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )
