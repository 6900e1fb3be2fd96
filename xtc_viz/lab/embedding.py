"""Texts as vectors: LSA and tf-idf fitted on a run, or a sentence-transformers model by its name.

Fitted vectors can be compared within the run that they were fitted on, and not beyond; every
figure that rests on them says so (`Embedder.label`). A small model's own hidden states do not see
a higher temperature, and so are none of these.

Distances within LSA's components alone would be wrong here: they are blind to what the components
leave out, which is most where texts are most varied. Fitted on baseline texts, they had texts of
temperature 1.4 for less varied (t = −11 over 24 prompts of the story model), fitted on all of them
for hardly more (t = 1). So the words stay beside the components (t = 10 to 12 either way), which
tell one prompt's texts from another's as well as the components alone do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xtc_viz.errors import SettingsError
from xtc_viz.lab.words import words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]
COMPONENTS = 32
"""Of LSA: more of them told the texts of one prompt from those of others less well."""
_WEIGHT = 3.0
"""Of the components, against 1 for the words beside them."""
_DENSE = 256
"""Texts up to which all components are computed at once."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """A way from texts to vectors.

    `label` names it under figures. `embed` takes N texts and gives an array (N, D) whose rows'
    directions count. Texts that are nearer than `cut`, a cosine distance, count as one cluster;
    it belongs to the embedder, as each spreads its vectors differently: here it is where eight
    stories from one beginning make neither one cluster nor eight (for sentence-transformers, as
    measured with all-MiniLM-L6-v2).
    """

    name: str
    label: str
    cut: float
    embed: Callable[[Sequence[str]], npt.ArrayLike]


def distances(vectors: Floats) -> Floats:
    """Return the cosine distances between vectors (N, D) as (N, N) in [0, 2].

    A vector of zeros is at distance 1 from all but its like.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1.0)
    result = np.clip(1.0 - unit @ unit.T, 0.0, 2.0)
    zero = norms[:, 0] == 0
    result[np.ix_(zero, zero)] = 0.0
    np.fill_diagonal(result, 0.0)
    return result


def _counts(text: str) -> Counter[str]:
    """Count the words of a text, punctuation left out."""
    return Counter(word for word in words(text) if word[0].isalnum())


@dataclass(frozen=True, slots=True)
class _TfIdf:
    """Words weighted by 1 + ln(count), and by ln((1 + texts)/texts with the word); no marks."""

    columns: dict[str, int]
    weights: Floats  # (words,)

    @classmethod
    def fitted(cls, texts: Sequence[str]) -> _TfIdf:
        frequency = Counter(word for text in texts for word in _counts(text))
        columns = {word: i for i, word in enumerate(sorted(frequency))}
        inverse = [math.log((1 + len(texts)) / frequency[word]) for word in columns]
        return cls(columns, np.array(inverse))

    def embed(self, texts: Sequence[str]) -> csr_array:
        """Return (texts, words), rows of length 1; words that the fit did not see are left out."""
        from scipy.sparse import csr_array

        values, columns, ends = [], [], [0]
        for text in texts:
            counts = _counts(text)
            known = sorted(
                (self.columns[word], n) for word, n in counts.items() if word in self.columns
            )
            row = np.array([(1 + math.log(n)) * self.weights[column] for column, n in known])
            values.append(row / (np.linalg.norm(row) or 1.0))
            columns += [column for column, _ in known]
            ends.append(len(columns))
        data = np.concatenate([*values, np.empty(0)])
        shape = (len(texts), len(self.columns))
        return csr_array((data, np.array(columns, dtype=np.int64), ends), shape=shape)


def _tfidf(texts: Sequence[str]) -> Embedder:
    fitted = _TfIdf.fitted(texts)
    label = "tf-idf, comparable within this run"
    return Embedder("tfidf", label, 0.9, lambda some: _dense(fitted.embed(some)))


def _lsa(texts: Sequence[str]) -> Embedder:
    fitted = _TfIdf.fitted(texts)
    axes = _axes(fitted.embed(texts))

    def embed(some: Sequence[str]) -> Floats:
        table = fitted.embed(some)
        return np.hstack([_dense(table), _WEIGHT * (table @ axes)])

    return Embedder("lsa", "LSA beside tf-idf, comparable within this run", 0.65, embed)


def _dense(table: csr_array) -> Floats:
    """Return the columns of a table that are not 0 in all of its rows."""
    dense: Floats = table[:, np.unique(table.indices)].toarray()
    return dense


def _axes(table: csr_array) -> Floats:
    """Return the first right singular vectors of a table (texts, words) as (words, components)."""
    if min(table.shape) <= _DENSE:
        _, sizes, axes = np.linalg.svd(table.toarray(), full_matrices=False)
        kept = min(COMPONENTS, int((sizes > 1e-9).sum()))
        dense: Floats = axes[:kept].T
        return dense
    from scipy.sparse.linalg import svds

    _, _, axes = svds(table, k=COMPONENTS, v0=np.ones(min(table.shape)))
    found: Floats = axes.T
    return found


FITTED: dict[str, Callable[[Sequence[str]], Embedder]] = {"lsa": _lsa, "tfidf": _tfidf}
"""The embedders that are fitted on the texts of a run."""


def fit(texts: Iterable[str], name: str = "lsa") -> Embedder:
    """Return the embedder of this name: one of `FITTED`, or a sentence-transformers model.

    Fitting takes each different text once, in their own order, so that neither repetition nor
    order of the cells changes it.

    Raises:
        SettingsError: it is neither, or sentence-transformers is not installed or cannot load it.
    """
    if name in FITTED:
        return FITTED[name](sorted({*texts}))
    return sentence_embedder(name)


def sentence_embedder(name: str) -> Embedder:
    """Return a sentence-transformers model, by its name on the hub or its folder."""
    bounds = f"one of {', '.join(FITTED)}, or a sentence-transformers model"
    if find_spec("sentence_transformers") is None:
        needed = " (which needs `pip install sentence-transformers`)"
        raise SettingsError("embedder", bounds + needed, name)
    from sentence_transformers import SentenceTransformer

    try:
        model: Any = SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise SettingsError("embedder", bounds, name) from error
    encode = partial(model.encode, show_progress_bar=False, convert_to_numpy=True)
    return Embedder(name, f"sentence-transformers, {name}", 0.35, lambda some: encode([*some]))
