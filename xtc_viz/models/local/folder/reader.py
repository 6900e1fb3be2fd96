"""From a view of a model's folder to a model in memory, and everything that can go wrong there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers.utils.logging import set_tqdm_hook

from xtc_viz.errors import ModelError
from xtc_viz.models.catalog import Precision
from xtc_viz.models.load import LoadStoppedError, Progress
from xtc_viz.models.local.folder.memory import check_room
from xtc_viz.models.local.folder.rehearsal import Plan, class_of, first_line, part_options
from xtc_viz.models.local.placement import options, resolve_device, resolve_dtype, spread_of
from xtc_viz.models.local.spec import LocalSpec


def check_fit(plan: Plan, spec: LocalSpec, *, now: bool) -> None:
    """Raise `ModelError` for weights that have no room on the device that `spec` wants.

    `now` asks for the memory that is free, otherwise for all that there is.
    """
    device = resolve_device(spec.device)
    if spec.quantization != "none":
        precision = Precision(spec.quantization)
    elif resolve_dtype(spec.dtype, device) is torch.float32:
        precision = Precision.FLOAT32
    else:
        precision = Precision.BFLOAT16
    if spec.max_memory is None:  # else accelerate decides, and "disk" is refused
        check_room(plan.bytes_as(precision), spec.device, spec.short_name, now=now)


def read_model(spec: LocalSpec, view: Path, plan: Plan, progress: Progress) -> Any:
    """Return the model of a view (see `files`), in evaluation mode on its device."""
    device = resolve_device(spec.device)
    dtype = resolve_dtype(spec.dtype, device)
    arguments = options(spec, device, dtype)
    name = spec.short_name
    try:
        check_fit(plan, spec, now=True)
        config, kind = class_of(view, plan, name)
        # Typed as one value, but `output_loading_info` makes it two.
        with _counted(f"reading {name}", progress):
            both: Any = kind.from_pretrained(
                view,
                config=config,
                **arguments,
                **part_options(plan.text_part),
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
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
        return model.eval()
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


def _read_error(error: Exception, name: str, device: torch.device) -> ModelError:
    """Return what to tell of an error of transformers, safetensors or torch."""
    if is_out_of_memory(error):
        return ModelError(
            f"{name} does not fit into the memory of {device}: choose a smaller model, a narrower "
            "dtype, or quantization."
        )
    if isinstance(error, SafetensorError):
        return ModelError(f"The weights of {name} are broken: {error}")
    return ModelError(f"{name} could not be loaded: {first_line(error)}")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on a GPU or not."""
    # torch's CPU allocator has no exception of its own.
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )
