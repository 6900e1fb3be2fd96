"""Samples for the tests of metrics."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from xtc_viz.lab.generation import Generation
from xtc_viz.lab.samples import NO_CONTEXT, Context, Samples

# Few words, so that n-grams meet; and whatever else a model may write.
WORDS = st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ".", "it's", "Ωmega", "日本"])
SENTENCES = st.lists(WORDS, max_size=30).map(" ".join)
ANYTHING = st.text(st.characters(), max_size=40)
TEXTS = st.lists(SENTENCES | ANYTHING, max_size=6)


def samples(texts: Iterable[str], context: Context = NO_CONTEXT) -> Samples:
    """Return one group with these texts."""
    return Samples(
        [Generation("p", "c", 1, number, text) for number, text in enumerate(texts)], context
    )
