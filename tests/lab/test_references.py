"""Our formulas against the libraries that define them."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import Tokenizer
from sacrebleu.metrics.bleu import BLEU

from tests.lab.samples import SENTENCES, samples
from xtc_viz.lab import bleu
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.words import words

SACREBLEU = BLEU(tokenize="none", effective_order=True, smooth_method="exp", force=True)
SEVERAL = st.lists(SENTENCES.filter(words), min_size=2, max_size=5)


def reference(text: str, *others: str) -> float:
    """Return sacrebleu's BLEU-4 over our words, in [0, 1]."""
    tokenized = [" ".join(words(other)) for other in others]
    return float(SACREBLEU.sentence_score(" ".join(words(text)), tokenized).score) / 100


@given(SEVERAL)
def test_bleu_against_others_is_sacrebleu(texts: list[str]) -> None:
    ours = bleu.against_others(samples(texts).counts)
    texts = sorted(texts)
    for i, text in enumerate(texts):
        others = texts[:i] + texts[i + 1 :]
        assert ours[i] == pytest.approx(reference(text, *others), abs=1e-9)


@given(SEVERAL)
def test_pairwise_bleu_is_sacrebleu(texts: list[str]) -> None:
    ours = bleu.pairwise(samples(texts).counts)
    texts = sorted(texts)
    for i, j in permutations(range(len(texts)), 2):
        assert ours[i, j] == pytest.approx(reference(texts[i], texts[j]), abs=1e-9)


@given(SEVERAL)
def test_self_bleu_and_homogenization_are_their_means(texts: list[str]) -> None:
    group = samples(texts)
    whole = [reference(t, *texts[:i], *texts[i + 1 :]) for i, t in enumerate(texts)]
    pairs = [reference(a, b) for a, b in permutations(texts, 2)]
    assert METRICS["self_bleu"].value(group) == pytest.approx(sum(whole) / len(whole))
    assert METRICS["homogenization_bleu"].value(group) == pytest.approx(sum(pairs) / len(pairs))


def test_bleu_is_that_of_nltk() -> None:
    texts = ["the cat sat on the mat", "a cat sat on a red mat", "the dog ran far away from here"]
    rows = [words(text) for text in sorted(texts)]
    method = SmoothingFunction().method3
    for row, score in zip(rows, bleu.against_others(samples(texts).counts), strict=True):
        others = [other for other in rows if other is not row]
        expected = sentence_bleu(others, row, smoothing_function=method)
        assert score == pytest.approx(expected, abs=1e-12)


class OurWords(Tokenizer):  # type: ignore[misc]
    def tokenize(self, text: str) -> list[str]:
        return words(text)


@given(SEVERAL)
def test_rouge_is_rouge_score(texts: list[str]) -> None:
    scorer = RougeScorer(["rougeL"], tokenizer=OurWords())
    pairs = [scorer.score(a, b)["rougeL"].fmeasure for a, b in combinations(texts, 2)]
    ours = METRICS["homogenization_rouge"].value(samples(texts))
    assert ours == pytest.approx(sum(pairs) / len(pairs))
