"""Average length of the generations, in words and in the model's tokens."""

from __future__ import annotations

import math

import numpy as np

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples
from xtc_viz.lab.words import words


def in_words(samples: Samples) -> float | None:
    """Return the mean number of words, empty texts included; None without a generation."""
    if not samples.generations:
        return None
    return float(np.mean([len(words(one.text)) for one in samples.generations]))


def in_tokens(samples: Samples) -> float | None:
    """Return the mean number of token ids; None where a text's are not known."""
    generations = samples.generations
    if not generations or any(one.text and not one.tokens for one in generations):
        return None
    return float(np.mean([len(one.tokens) for one in generations]))


METRICS = (
    Metric(
        name="words",
        label="Words",
        place=110,
        family=Family.LENGTH,
        direction=Direction.NEITHER,
        meaning="How many words and marks a generation has, on average.",
        source="a count",
        value=in_words,
        high=math.inf,
        unit="words",
    ),
    Metric(
        name="tokens",
        label="Tokens",
        place=111,
        family=Family.LENGTH,
        direction=Direction.NEITHER,
        meaning="How many of the model's tokens a generation has, on average.",
        source="a count",
        value=in_tokens,
        high=math.inf,
        unit="tokens",
    ),
)
