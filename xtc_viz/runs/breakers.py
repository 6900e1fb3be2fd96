"""The tokens at which DRY's matches end, by model."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from xtc_viz.models.base import LanguageModel
from xtc_viz.settings import SamplerSettings

BREAKERS = ("\n", ":", '"', "*")
"""Texts that end a match: the defaults of llama.cpp and text-generation-webui."""

_known: WeakKeyDictionary[LanguageModel, frozenset[int]] = WeakKeyDictionary()


def breaker_ids(model: LanguageModel) -> frozenset[int]:
    """Return every token whose text holds one of `BREAKERS`, as llama.cpp counts them.

    The vocabulary is looked through once for each model.
    """
    if model not in _known:
        tokens = range(model.info.vocab_size)
        _known[model] = frozenset(
            token for token in tokens if any(mark in model.token_text(token) for mark in BREAKERS)
        )
    return _known[model]


def needs_breakers(sampler: SamplerSettings) -> bool:
    """Whether DRY is on and nobody has said what ends its matches."""
    return sampler.dry_multiplier > 0.0 and not sampler.dry_breakers
