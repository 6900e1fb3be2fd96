"""What a metric is given: the generations of one group, and what was made of a whole run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xtc_viz.lab.embedding import Embedder, Floats, distances, fit
from xtc_viz.lab.generation import Generation
from xtc_viz.lab.ngrams import Counts, ngram_counts
from xtc_viz.lab.tagging import Tagger, tagger
from xtc_viz.lab.words import words

LONGEST = 4
"""The longest n-grams that are counted."""


@dataclass(frozen=True, slots=True)
class Context:
    """What metrics need beyond one group: an embedder, which may have to see all texts of a run
    first, and a tagger of parts of speech. Without one, the metrics that need it are None."""

    embedder: Embedder | None = None
    tagger: Tagger | None = None


NO_CONTEXT = Context()


def context(texts: Iterable[str], embedder: str = "lsa") -> Context:
    """Return the context of a run with these texts, to be made once for all its metrics.

    `embedder` is one of `embedding.FITTED`, or the name of a sentence-transformers model.

    Raises:
        SettingsError: there is no such embedder here.
    """
    return Context(fit(texts, embedder), tagger())


class Samples:
    """The generations of one (prompt, condition, seed), and what several metrics share of them.

    What is shared is made when it is first asked for. The order of the generations says nothing,
    so they stand in the order of their texts. A text without a word is left out of `texts` and of
    all that follows from it.
    """

    def __init__(self, generations: Iterable[Generation], context: Context = NO_CONTEXT) -> None:
        self.generations: Sequence[Generation] = sorted(generations, key=lambda one: one.text)
        self.context = context

    @cached_property
    def _worded(self) -> list[tuple[str, list[str]]]:
        split = ((one.text, words(one.text)) for one in self.generations)
        return [(text, row) for text, row in split if row]

    @property
    def words(self) -> list[list[str]]:
        """The words of each text, N rows."""
        return [row for _, row in self._worded]

    @property
    def texts(self) -> list[str]:
        """The N texts that have words."""
        return [text for text, _ in self._worded]

    @cached_property
    def numbers(self) -> list[list[int]]:
        """The words of each text as numbers from 0, one for each different word of the group."""
        known: dict[str, int] = {}
        return [[known.setdefault(word, len(known)) for word in row] for row in self.words]

    @cached_property
    def counts(self) -> list[Counts]:
        """The n-gram counts of the texts for n from 1 to 4, each (N, different n-grams)."""
        return ngram_counts(self.numbers, LONGEST)

    @cached_property
    def tags(self) -> list[list[int]] | None:
        """The parts of speech of each text as numbers; None without a tagger."""
        if self.context.tagger is None:
            return None
        known: dict[str, int] = {}
        tagged = (self.context.tagger(text) for text in self.texts)
        return [[known.setdefault(tag, len(known)) for tag in row] for row in tagged]

    @cached_property
    def distances(self) -> Floats | None:
        """The cosine distances between the texts' embeddings, (N, N) in [0, 2], 0 on the diagonal;
        None without an embedder, and for fewer than two texts."""
        embedder = self.context.embedder
        if embedder is None or len(self.texts) < 2:
            return None
        return distances(np.asarray(embedder.embed(self.texts), dtype=np.float64))
