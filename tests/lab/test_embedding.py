"""Embedders: tf-idf by hand, LSA against all of its components, a run of many texts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from xtc_viz.errors import SettingsError
from xtc_viz.lab.embedding import COMPONENTS, distances, fit

TEXTS = ["the cat sat", "the cat ran", "a dog ran far far", "nothing of the kind"]


def test_tfidf_by_hand() -> None:
    found = distances(np.asarray(fit(["a a b!", "a c"], "tfidf").embed(["a, a b", "A c"])))
    common, rare = math.log(3 / 2), math.log(3)  # a stands in both texts, b and c in one
    twice = (1 + math.log(2)) * common
    cosine = twice * common / (math.hypot(twice, rare) * math.hypot(common, rare))
    assert found == pytest.approx(np.array([[0, 1 - cosine], [1 - cosine, 0]]))


def test_words_that_the_fit_did_not_see_are_left_out() -> None:
    embedder = fit(TEXTS, "tfidf")
    found = distances(np.asarray(embedder.embed(["the cat sat", "the new cat sat", "new", "old"])))
    assert found[0, 1] == pytest.approx(0)
    assert found[0, 2] == 1
    assert found[2, 3] == 0


def test_lsa_of_few_texts_is_tfidf() -> None:
    lsa, whole = (distances(np.asarray(fit(TEXTS, name).embed(TEXTS))) for name in ("lsa", "tfidf"))
    assert lsa == pytest.approx(whole)


def test_lsa_of_many_texts_keeps_the_largest_components() -> None:
    rng = np.random.default_rng(0)
    vocabulary = [f"w{n}" for n in range(400)]
    weights = 1 / np.arange(1, 401)
    texts = [" ".join(rng.choice(vocabulary, 40, p=weights / weights.sum())) for _ in range(600)]
    fitted = fit(texts)
    some = texts[:20]
    embedded = np.asarray(fitted.embed(some))
    assert fitted.label.endswith("comparable within this run")
    vectors = np.asarray(fit(sorted({*texts}), "tfidf").embed(sorted({*texts})))
    _, _, axes = np.linalg.svd(vectors, full_matrices=False)
    places = [sorted({*texts}).index(text) for text in some]
    components = vectors[places] @ axes[:COMPONENTS].T
    expected = np.hstack([vectors[places], 3 * components])
    assert distances(embedded) == pytest.approx(distances(expected), abs=1e-6)


def test_a_fit_does_not_depend_on_order_or_repetition() -> None:
    one = np.asarray(fit(TEXTS).embed(TEXTS))
    assert np.array_equal(one, np.asarray(fit([*reversed(TEXTS), *TEXTS]).embed(TEXTS)))


@pytest.mark.parametrize("name", ["lsa", "tfidf"])
def test_nothing_to_fit_on(name: str) -> None:
    for texts in ([], [""], ["...", ""]):
        embedder = fit(texts, name)
        assert distances(np.asarray(embedder.embed(["a", "b"]))).tolist() == [[0, 0], [0, 0]]
        assert np.asarray(embedder.embed([])).shape[0] == 0


def test_an_embedder_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xtc_viz.lab.embedding.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"`embedder` must be one of lsa, tfidf, .*'MiniLM'"):
        fit(TEXTS, "MiniLM")
