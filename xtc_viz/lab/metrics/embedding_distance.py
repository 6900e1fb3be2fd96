"""How far apart the samples' embeddings lie: pairs, nearest neighbours, all of them together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xtc_viz.lab.embedding import Floats
from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples


def pairwise(distances: Floats) -> float:
    """Return the mean cosine distance over all pairs of two."""
    n = len(distances)
    return float(distances.sum() / (n * (n - 1)))


def chamfer(distances: Floats) -> float:
    """Return the mean distance of each text to its nearest one."""
    return float((distances + np.diag(np.full(len(distances), np.inf))).min(axis=1).mean())


def remote_clique(distances: Floats) -> float:
    """Return Σd/N², a text's distance to itself included: (N − 1)/N of the mean over pairs."""
    return float(distances.mean())


def _value(formula: Callable[[Floats], float]) -> Callable[[Samples], float | None]:
    def value(samples: Samples) -> float | None:
        """None without an embedder, and for fewer than two texts."""
        distances = samples.distances
        return None if distances is None else formula(distances)

    return value


def _metric(
    name: str, label: str, place: int, formula: Callable[[Floats], float], meaning: str, source: str
) -> Metric:
    return Metric(
        name=name,
        label=label,
        place=place,
        family=Family.MEANING,
        direction=Direction.VARIED,
        meaning=meaning,
        source=f"{source}; the paper does not name its embedder",
        value=_value(formula),
        high=2.0,
    )


METRICS = (
    _metric(
        "embedding_distance", "Embedding distance", 90, pairwise,
        "How far apart two samples are in what they speak of, on average over pairs.",
        "the paper's words: the average pairwise cosine distance",
    ),
    _metric(
        "chamfer", "Chamfer distance", 91, chamfer,
        "How far each sample is from the one most like it.",
        "Cox et al. 2021, by cosine distance; the paper gives no formula",
    ),
    _metric(
        "remote_clique", "Remote clique", 92, remote_clique,
        "The mean distance of each sample to all, itself included.",
        "Cox et al. 2021, by cosine distance; the paper gives no formula",
    ),
)  # fmt: skip
