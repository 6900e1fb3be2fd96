"""Template rate: how much of the texts is a pattern that several of them follow."""

from __future__ import annotations

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.ngrams import Counts, ngram_counts
from xtc_viz.lab.samples import Samples

WORDS, SHARED_WORDS = 4, 3
TAGS, SHARED_TAGS = 6, 2
"""How long a template is, and in how many texts it occurs at least."""


def share_of_templates(counts: Counts, texts: int) -> float | None:
    """Return the share of all n-grams, counted as (N, different n-grams), that are a template:
    one that occurs in at least so many texts. None for fewer texts with an n-gram."""
    if (counts.sum(axis=1) > 0).sum() < texts:
        return None
    template = (counts > 0).sum(axis=0) >= texts
    return float(counts[:, template].sum() / counts.sum())


def lexical(samples: Samples) -> float | None:
    """Return the share of phrases of four words that occur in at least three texts, in [0, 1]."""
    return share_of_templates(samples.counts[WORDS - 1], SHARED_WORDS)


def of_speech(samples: Samples) -> float | None:
    """Return the share of six parts of speech in a row that occur in at least two texts, in [0, 1].

    None without a tagger.
    """
    if samples.tags is None:
        return None
    return share_of_templates(ngram_counts(samples.tags, TAGS)[-1], SHARED_TAGS)


_DOUBT = "the paper defines none; Shaib et al. count texts that hold one of their corpus's 100 "
_DOUBT += "most frequent templates, which is all of them for a few samples"

METRICS = (
    Metric(
        name="template_rate_words",
        label="Template rate (words)",
        place=80,
        family=Family.WORDS,
        direction=Direction.ALIKE,
        meaning="The share of phrases of four words that three or more of the samples have.",
        source=f"ours, after Shaib et al. 2024, of words and not of parts of speech: {_DOUBT}",
        value=lexical,
    ),
    Metric(
        name="template_rate_pos",
        label="Template rate (parts of speech)",
        place=81,
        family=Family.TEMPLATES,
        direction=Direction.ALIKE,
        meaning="The share of six parts of speech in a row, such as determiner, adjective, noun, "
        "that two or more of the samples have.",
        source=f"ours, after Shaib et al. 2024, by textblob's tagger for English: {_DOUBT}",
        value=of_speech,
    ),
)
