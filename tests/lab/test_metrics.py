"""Every metric: by hand, what holds for any texts, and what people are told of it."""

from __future__ import annotations

import gzip
import lzma
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.samples import SENTENCES, TEXTS, samples
from xtc_viz.errors import SettingsError
from xtc_viz.lab.embedding import Embedder
from xtc_viz.lab.generation import Generation
from xtc_viz.lab.metrics import METRICS, chosen, measure
from xtc_viz.lab.metrics.base import Direction, Family
from xtc_viz.lab.samples import Context, Samples, context
from xtc_viz.lab.words import words
from xtc_viz.records.trace import FinishReason


def value(name: str, *texts: str) -> float | None:
    return METRICS[name].value(samples(texts))


def letters(text: str) -> list[str]:
    """A tagger whose tag is the first letter."""
    return [word[0] for word in words(text)]


# Where texts lie on a circle, in degrees.
ANGLES = {"north": 90.0, "north too": 90.0, "east": 0.0, "west": 180.0}
COMPASS = Embedder("compass", "a compass", 0.5, lambda texts: np.array(
    [[math.cos(math.radians(ANGLES[t])), math.sin(math.radians(ANGLES[t]))] for t in texts]
))  # fmt: skip


def on_compass(name: str, *texts: str) -> float | None:
    return METRICS[name].value(samples(texts, Context(embedder=COMPASS)))


def test_distinct_by_hand() -> None:
    # a b a b: 2 of 4 words, ab and ba of 3 pairs, aba and bab of 2 triples; c: 1 of 1 word.
    assert value("distinct_1", "a b a b", "c") == pytest.approx((2 / 4 + 1) / 2)
    assert value("distinct_2", "a b a b", "c") == pytest.approx(2 / 3)
    assert value("distinct_3", "a b a b", "c") == 1.0
    assert value("distinct_3", "a b") is None


def test_repeated_trigrams_by_hand() -> None:
    # a b c a b c: abc twice, bca and cab once.
    assert value("repeated_trigrams", "a b c a b c") == pytest.approx(2 / 4)
    assert value("repeated_trigrams", "a b c a b c", "x y z", "short one") == pytest.approx(1 / 4)


def test_self_bleu_by_hand() -> None:
    # One text is the other and a word more: all of its n-grams match, and it is shorter by one.
    short, long = "a b c d e", "a b c d e f"
    longer = (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert value("self_bleu", short, long) == pytest.approx((math.exp(1 - 6 / 5) + longer) / 2)
    # With a text of the same length beside it there is no penalty for being short.
    third = "v w x y z"
    with_third = [math.exp(0), longer, 0.0]
    assert value("self_bleu", short, long, third) == pytest.approx(sum(with_third) / 3)


def test_homogenization_by_hand() -> None:
    # The longest common subsequence of the first two is a c d: 2·3/(4 + 4).
    assert value("homogenization_rouge", "a b c d", "a c x d") == pytest.approx(3 / 4)
    assert value("homogenization_rouge", "a b c d", "a c x d", "y") == pytest.approx(1 / 4)
    assert value("homogenization_bleu", "a b c d", "a b c d", "w x y z") == pytest.approx(2 / 6)


def test_compression_by_hand() -> None:
    raw = b"one\ntwo"
    packed = gzip.compress(raw, 9, mtime=0)
    assert value("gzip", "two", "one") == 8 * len(packed) / len(raw)
    for texts in ("one\ntwo", "two\none" * 30_000):
        raw = texts.encode()
        assert value("xz", texts) == 8 * len(lzma.compress(raw)) / len(raw)
    same, other = ["the cat sat on the mat"] * 8, [f"{n} words {n * n} x" for n in range(8)]
    for name in ("gzip", "xz"):
        assert (value(name, *same) or math.nan) < (value(name, *other) or math.nan)


def test_self_repetition_by_hand() -> None:
    # abcd is shared; the first has bcde beside it. The third text is too short to say anything.
    assert value("self_repetition", "a b c d e", "a b c d", "a b c") == pytest.approx(3 / 4)
    assert value("self_repetition", "a b c d e", "a b c") is None
    # Within one text nothing is shared.
    assert value("self_repetition", "a b c d a b c d", "p q r s") == 0.0


def test_template_rate_by_hand() -> None:
    # abcd in three texts, five windows in all, abcd twice in the last.
    texts = ("a b c d", "a b c d x", "a b c d a b c d")
    assert value("template_rate_words", *texts) == pytest.approx(4 / 8)
    assert value("template_rate_words", *texts[:2]) is None
    # By first letters: the first two share their only window of six, the third has two others.
    tagged = ("ab bc cd de ef fg", "ax bx cx dx ex fx", "z z z z z z y")
    group = samples(tagged, Context(tagger=letters))
    assert METRICS["template_rate_pos"].value(group) == pytest.approx(2 / 4)
    assert value("template_rate_pos", *tagged) is None


def test_distances_by_hand() -> None:
    # north–east 1, north–west 1, east–west 2.
    three = ("north", "east", "west")
    assert on_compass("embedding_distance", *three) == pytest.approx(4 / 3)
    assert on_compass("chamfer", *three) == pytest.approx(1)
    assert on_compass("remote_clique", *three) == pytest.approx(8 / 9)
    assert on_compass("embedding_distance", "north", "north too") == pytest.approx(0)
    assert value("embedding_distance", *three) is None


def test_fewer_than_two_texts_are_not_embedded() -> None:
    def embed(texts: Sequence[str]) -> npt.ArrayLike:
        raise AssertionError(texts)

    run = Context(embedder=Embedder("strict", "strict", 0.5, embed))
    for texts in ([], ["one"], ["one", "", " "]):
        values = measure(samples(texts, run))
        assert values["chamfer"] is values["cluster_entropy"] is None


def test_cluster_entropy_by_hand() -> None:
    # Nothing is nearer than 0.5 but the two in the north.
    assert on_compass("cluster_entropy", "north", "east", "west") == pytest.approx(math.log(3))
    shares = (2 / 4, 1 / 4, 1 / 4)
    expected = -sum(share * math.log(share) for share in shares)
    found = on_compass("cluster_entropy", "north", "north too", "east", "west")
    assert found == pytest.approx(expected)
    assert on_compass("cluster_entropy", "north", "north too") == 0


def test_lengths_and_ends_by_hand() -> None:
    one = Generation("p", "c", 1, 0, "A cat.", tokens=(1, 2, 3, 4), finish=FinishReason.EOS)
    empty = replace(one, sample=1, text="", tokens=(5,))
    cut = replace(one, sample=2, finish=FinishReason.LENGTH, text="A", tokens=(1,))
    group = Samples([one, empty, cut])
    values = measure(group, chosen(["words", "tokens", "ended"]))
    assert values == {"words": 4 / 3, "tokens": 2.0, "ended": pytest.approx(2 / 3)}
    unknown = Samples([one, replace(cut, finish=None, tokens=())])
    values = measure(unknown, chosen(["words", "tokens", "ended"]))
    assert values == {"words": 2.0, "tokens": None, "ended": None}


@given(TEXTS)
def test_any_texts_give_a_value_in_range_or_none(texts: list[str]) -> None:
    values = measure(samples(texts, context(texts)))
    for name, number in values.items():
        metric = METRICS[name]
        assert number is None or metric.low <= number <= metric.high, name
    full = [text for text in texts if words(text)]
    if len(full) < 2:
        alone = {name for name, metric in METRICS.items() if metric.family is Family.MEANING}
        alone |= {"self_bleu", "homogenization_bleu", "homogenization_rouge", "self_repetition"}
        assert all(values[name] is None for name in alone)
    else:
        assert values["self_bleu"] is not None
        assert values["embedding_distance"] is not None


@pytest.mark.parametrize(
    "texts",
    [
        ["a\ud800b c", "\ud800", "x\x00y"],
        ["\u202eabc def ghi jkl", "🙂🙂 🙂", "ﷺ" * 50],
        ["İİ ß", "ǅ a", "a" * 5_000],
        ["a " * 5_000, "b " * 5_000],
        ["'" * 300, "' ' '", "<think>"],
    ],
    ids=["surrogates", "signs", "cases", "repetition", "marks"],
)
def test_odd_texts_have_values_as_others_do(texts: list[str]) -> None:
    values = measure(samples(texts, context(["a b c", "d e f"])))
    for name in ("distinct_1", "self_bleu", "homogenization_rouge", "gzip", "xz", "chamfer"):
        number = values[name]
        assert number is not None
        assert METRICS[name].low <= number <= METRICS[name].high


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_samples_says_nothing(texts: list[str], random) -> None:
    run = context(texts)
    before = measure(samples(texts, run))
    random.shuffle(texts)
    assert measure(samples(texts, run)) == before


@given(SENTENCES.filter(lambda text: len(words(text)) > 5), st.integers(3, 5))
def test_identical_texts_are_as_alike_as_can_be(text: str, n: int) -> None:
    values = measure(samples([text] * n, context([text, "something else"])))
    alike = ("self_bleu", "homogenization_bleu", "homogenization_rouge", "self_repetition")
    for name in (*alike, "template_rate_words"):
        assert values[name] == pytest.approx(1), name
    for name in ("embedding_distance", "chamfer", "remote_clique", "cluster_entropy"):
        assert values[name] == pytest.approx(0, abs=1e-9), name
    one = measure(samples([text]))
    for name in ("distinct_1", "distinct_2", "distinct_3", "repeated_trigrams", "words"):
        assert values[name] == pytest.approx(one[name]), name


@given(TEXTS)
def test_empty_texts_change_lengths_alone(texts: list[str]) -> None:
    metrics = [metric for metric in METRICS.values() if metric.family is not Family.LENGTH]
    run = context(texts)
    padded = [*texts, "", " \n"]
    assert measure(samples(padded, run), metrics) == measure(samples(texts, run), metrics)


def test_every_metric_says_what_it_is() -> None:
    places = [metric.place for metric in METRICS.values()]
    assert places == sorted(set(places))
    for name, metric in METRICS.items():
        assert name == metric.name
        assert metric.label
        assert metric.source
        assert metric.meaning.endswith(".")
        assert metric.low < metric.high
    assert METRICS["gzip"].range == "[0, ∞)"
    assert METRICS["embedding_distance"].range == "[0, 2]"


def test_directions() -> None:
    assert [(d.sign, d.arrow) for d in Direction] == [
        (1, "↑"), (-1, "↓"), (-1, "↓"), (1, "↑"), (0, ""),
    ]  # fmt: skip
    # As the paper's arrows have it (its table of ten metrics).
    up = {"distinct_2", "embedding_distance", "gzip", "xz", "chamfer"}
    down = {"self_bleu", "repeated_trigrams", "homogenization_bleu", "self_repetition"}
    assert {METRICS[name].direction.sign for name in up} == {1}
    assert {METRICS[name].direction.sign for name in down} == {-1}


def test_an_unknown_metric_is_named() -> None:
    assert [metric.name for metric in chosen(["ended", "xz"])] == ["xz", "ended"]
    with pytest.raises(SettingsError, match=r"`metric` must be one of passed, .*'bleurt'"):
        chosen(["xz", "bleurt"])
