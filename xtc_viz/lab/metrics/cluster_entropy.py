"""Semantic cluster entropy: into how many groups of like meaning the samples fall."""

from __future__ import annotations

import math

import numpy as np

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples


def cluster_entropy(samples: Samples) -> float | None:
    """Return −Σ s·ln s over the clusters' shares s of the texts, from 0 to ln N, in nats.

    Clusters are those of average linkage, cut at the embedder's own distance. None without an
    embedder, and for fewer than two texts.
    """
    embedder, distances = samples.context.embedder, samples.distances
    if embedder is None or distances is None:
        return None
    from scipy.cluster.hierarchy import fcluster, linkage

    above = distances[np.triu_indices(len(distances), 1)]
    clusters = fcluster(linkage(above, "average"), embedder.cut, "distance")
    shares = np.bincount(clusters)[1:] / len(clusters)
    return max(0.0, -float((shares * np.log(shares)).sum()))


METRICS = (
    Metric(
        name="cluster_entropy",
        label="Cluster entropy",
        place=100,
        family=Family.MEANING,
        direction=Direction.VARIED,
        meaning="0 where all samples speak of one thing, higher the more things they speak of, "
        "up to the logarithm of their number.",
        source="ours: the entropy of average-linkage clusters; neither the embedder nor the cut "
        "is named in the paper, and each embedder has a cut of its own here",
        value=cluster_entropy,
        high=math.inf,
        unit="nats",
    ),
)
