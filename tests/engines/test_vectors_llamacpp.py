"""The vectors against llama.cpp's own sampler, whose logits a bias of each token makes those of a
case. Needs `xllamacpp` and `gguf`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("xllamacpp", reason="needs xllamacpp and gguf")
pytest.importorskip("gguf", reason="needs xllamacpp and gguf")

from tests.engines.test_llamacpp import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.vectors.case import GRID, Safety
from xtc_viz.engines.vectors.make import vectors

pytestmark = [pytest.mark.engines, pytest.mark.slow]

HIGH = 2.0**17
"""Here neighbours in float32 are 1/64 apart, the grid of the vectors: a sum with the model's own
logit lands on it, so that equal logits are equal to the last bit."""
MOST = 12


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(tmp_path_factory.mktemp("gguf"))
    yield engine
    del engine.server


def test_llama_cpp_passes_its_vectors(engine: Engine) -> None:
    context = engine.story[:8]
    own = engine.logits(context).astype("f8") * GRID
    nearest = np.round(own)
    places = np.flatnonzero(np.abs(own - nearest) < 0.25)[:MOST].tolist()
    assert len(places) == MOST
    others: list[list[object]] = [[v, False] for v in range(len(own)) if v not in places]
    # A bias masks a token without taking it away, so that `min_keep` counts the whole vocabulary:
    # those cases are asked of the sampler itself (test_originals.py).
    asked = [
        v
        for v in vectors(ENGINES["llama.cpp"], 100, 7)
        if v.asked.safety is not Safety.PROBS and not v.asked.min_keep
    ]
    for vector in asked:
        case = vector.asked
        bias: list[list[object]] = [*others]
        for place, logit in zip(places, [*case.logits, *[-np.inf] * MOST], strict=False):
            shifted = HIGH + logit - nearest[place] / GRID
            bias.append([place, float(shifted) if np.isfinite(logit) else False])
        probs = engine.probs(
            context, samplers=["xtc", "temperature"], logit_bias=bias,
            temperature=case.temperature, xtc_probability=case.probability,
            xtc_threshold=case.threshold,
        )[places][: len(case.logits)]  # fmt: skip
        left = tuple(np.flatnonzero(probs).tolist())
        assert left in (vector.survivors, *vector.or_else), case
        if left == vector.survivors:
            np.testing.assert_allclose(probs, vector.weights, atol=1e-5, err_msg=case.name)
