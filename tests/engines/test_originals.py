"""The dialects against the engines' own code: the same tokens left, in every case."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.engines import originals
from tests.engines.agreement import left, same
from tests.engines.cases import Case, cases
from tests.engines.originals import ORIGINALS, missing
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.vectors.make import vectors
from xtc_viz.sampling.operator import apply_xtc
from xtc_viz.settings import XTCSettings

pytestmark = [pytest.mark.engines, pytest.mark.slow]
COUNT = 1000


@pytest.fixture(params=ORIGINALS)
def name(request) -> str:
    reason = missing(request.param)
    if reason:
        pytest.skip(f"{reason}: make test-engines")
    torch.set_num_threads(1)
    return str(request.param)


@pytest.mark.parametrize("protect", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_a_dialect_leaves_what_the_engine_leaves(name, protect, ties):
    """Both see the probabilities that the engine computed, so that rounding decides nothing."""
    dialect = ENGINES[name].dialect
    for case in cases(COUNT, 11, protect=protect, ties=ties):
        theirs = ORIGINALS[name](case)
        ours = left(dialect, theirs.probs, case)
        assert same(ours, theirs, dialect), (case, ours, theirs.survivors)


def test_from_the_same_logits_only_rounding_tells_them_apart(name, record_property):
    """Where they differ some p is τ but for the last digits of a float32."""
    dialect, rounded = ENGINES[name].dialect, 0
    for case in cases(COUNT, 12, protect=True):
        theirs = ORIGINALS[name](case)
        xtc = XTCSettings(rho=1.0, tau=case.tau, protected=case.protected, dialect=dialect)
        result, _ = apply_xtc(torch.from_numpy(case.logits)[None], [0.0], xtc)
        ours = frozenset(np.flatnonzero(np.isfinite(result[0].numpy())).tolist())
        if not same(ours, theirs, dialect):
            assert np.isclose(theirs.probs, case.tau, rtol=1e-5, atol=0.0).any(), case
            rounded += 1
    record_property("decided by rounding", f"{rounded} of {COUNT}")
    assert rounded <= COUNT / 100


def test_llama_cpp_does_nothing_where_fewer_than_min_keep_would_be_left():
    """In every edge of the published vectors, and in cases by chance at every `min_keep`."""
    reason = missing("llama.cpp")
    if reason:
        pytest.skip(f"{reason}: make test-engines")
    edges = [v for v in vectors(ENGINES["llama.cpp"], 0, 0) if v.asked.min_keep]
    assert edges
    for vector in edges:
        asked = vector.asked
        case = Case(np.array(asked.logits, np.float32), asked.threshold, frozenset())
        left = tuple(sorted(originals.llama_cpp(case, asked.min_keep).survivors))
        assert left in (vector.survivors, *vector.or_else), asked
    for case in cases(200, 13):
        size = len(case.logits)
        survivors = originals.llama_cpp(case).survivors
        for min_keep in range(1, size + 1):
            kept = survivors if len(survivors) >= min_keep else frozenset(range(size))
            assert originals.llama_cpp(case, min_keep).survivors == kept, (case, min_keep)


def test_the_vectors_that_the_engines_publish(name):
    case = Case(np.log(np.array([0.4, 0.3, 0.2, 0.1], np.float32)), 0.19, frozenset())
    assert 3 in ORIGINALS[name](case).survivors
    assert ORIGINALS[name](case._replace(tau=0.45)).survivors == frozenset(range(4))
