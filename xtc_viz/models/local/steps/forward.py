"""One forward of a model of transformers, whatever it calls its cache and its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch

CACHES = ("past_key_values", "cache_params", "state", "mems", "past_buckets_states")
"""What models call their cache, among their arguments and in their output (`generate` of
transformers knows the same)."""


class Arguments(NamedTuple):
    """The names of a forward's arguments; any others are taken too where it has `others`."""

    names: frozenset[str]
    others: bool

    def taken(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values that the forward takes."""
        if self.others:
            return values
        return {name: value for name, value in values.items() if name in self.names}


def arguments_of(model: Any) -> Arguments:
    """Return what the forward of this model takes."""
    # Of its class: what accelerate puts in its place says nothing.
    return _arguments(type(model).forward)


@cache
def _arguments(function: Callable[..., Any]) -> Arguments:
    parameters = inspect.signature(function).parameters.values()
    others = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    return Arguments(frozenset(parameter.name for parameter in parameters), others)


def forward(
    model: Any,
    ids: torch.Tensor,
    mask: torch.Tensor | None,
    positions: torch.Tensor,
    cache: Any,
) -> torch.Tensor:
    """Run `ids` (lanes, tokens) and return the logits (lanes, vocab) of the last of them."""
    arguments = arguments_of(model)
    name = "cache_params" if "cache_params" in arguments.names else "past_key_values"
    values = {
        "attention_mask": mask,
        "position_ids": positions,
        name: cache,
        "use_cache": True,
        "logits_to_keep": 1,
    }
    output = model(input_ids=ids, **arguments.taken(values))
    logits: torch.Tensor = output.logits[:, -1]
    return logits


def forward_alone(
    model: Any, ids: torch.Tensor, start: int, given: dict[str, Any], keep: bool
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Run `ids` (1, tokens), the first at position `start`, with a cache that the model makes.

    `given` is the cache that an earlier call returned, empty at first; with `keep` one is made.
    Returns the last logits (1, vocab) and the cache by its name: what was given where the model
    returns none, which may be nothing.
    """
    values = {"use_cache": keep, "logits_to_keep": 1, **given}
    if keep:
        # Not every cache knows how long it is.
        positions = torch.arange(start, start + ids.shape[1], device=ids.device)
        values["position_ids"] = positions.unsqueeze(0)
    output = model(input_ids=ids, **arguments_of(model).taken(values))
    names = [name for name in CACHES if output.get(name) is not None][:1] if keep else []
    return output.logits[:, -1], {name: output[name] for name in names} or given


def forward_whole(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """Run whole texts `ids` (rows, tokens) without a cache; logits (rows, tokens, vocab)."""
    values = {"use_cache": False}
    logits: torch.Tensor = model(input_ids=ids, **arguments_of(model).taken(values)).logits
    return logits
