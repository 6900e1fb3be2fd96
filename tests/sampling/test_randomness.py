"""The shared random numbers against another program's Philox, and their distribution."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.sampling.randomness import SharedRandomness, gumbel, noise_above

MASK = 2**64 - 1


def philox4x64(counter, key):
    """Philox4x64-10 as the paper of Salmon et al. states it, in plain integers."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        a, b = 0xD2E7470EE14C6C93 * c0, 0xCA5A826395121157 * c2
        c0, c1, c2, c3 = b >> 64 ^ c1 ^ k0, b & MASK, a >> 64 ^ c3 ^ k1, a & MASK
        k0, k1 = k0 + 0x9E3779B97F4A7C15 & MASK, k1 + 0xBB67AE8584CAA73B & MASK
    return [c0, c1, c2, c3]


def test_the_reference_itself():
    """Random123's known answer for counter and key 0."""
    assert philox4x64((0, 0, 0, 0), (0, 0)) == [
        0x16554D9ECA36314C,
        0xDB20FE9D672D0FDC,
        0xD7E772CEE186176B,
        0x7E68B68AEC7BA23B,
    ]


@given(
    seed=st.integers(0, 2**63 - 1),
    source=st.integers(0, 4),
    step=st.integers(0, 10**6),
    vocab_size=st.integers(1, 40),
)
def test_another_program_can_reproduce_a_step(seed, source, step, vocab_size):
    """The recipe in the module's docstring, followed to the letter."""
    shared = SharedRandomness(seed, source)
    coin = philox4x64((1, 0, step, source), (seed, 0))[0]
    assert shared.coin(step) == (coin >> 11) * 2.0**-53
    words = [w for j in range(10) for w in philox4x64((j + 1, 0, step, source), (seed, 1))]
    halves = [half for w in words for half in (w & 0xFFFFFFFF, w >> 32)]
    assert shared.noise(step, vocab_size).tolist() == halves[:vocab_size]


def test_steps_seeds_and_sources_differ_and_repeat():
    def numbers(seed=7, source=0, step=3):
        shared = SharedRandomness(seed, source)
        return (shared.coin(step), *shared.noise(step, 4).tolist())

    assert numbers() == numbers()
    assert len({numbers(), numbers(seed=8), numbers(source=1), numbers(step=4)}) == 4


def test_a_larger_vocabulary_keeps_the_noise_of_the_smaller():
    shared = SharedRandomness(1)
    assert (shared.noise(0, 1000)[:37] == shared.noise(0, 37)).all()


def test_coins_and_noise_are_uniform_and_unrelated():
    n = 20_000
    coins = np.array([SharedRandomness(5).coin(t) for t in range(n)])
    noise = np.array([SharedRandomness(5).noise(t, 1)[0] for t in range(n)]) / 2**32
    for values in (coins, noise):
        assert abs(values.mean() - 0.5) < 4 * math.sqrt(1 / 12 / n)
        assert np.abs(np.histogram(values, 20, (0, 1))[0] - n / 20).max() < 5 * math.sqrt(n / 20)
    assert abs(np.corrcoef(coins, noise)[0, 1]) < 4 / math.sqrt(n)


def test_gumbel_noise_is_finite_at_both_ends():
    ends = gumbel(np.array([0, 2**32 - 1], dtype=np.uint32))
    assert np.isfinite(ends).all()
    assert ends[0] < -3 < 20 < ends[1]


@given(integer=st.integers(0, 2**32 - 1))
def test_noise_above_misses_nothing(integer):
    g = float(gumbel(np.array([integer], dtype=np.uint32))[0])
    assert noise_above(np.nextafter(g, -math.inf)) <= integer


@given(score=st.floats(-3, 20))
def test_noise_above_admits_little_else(score):
    lowest = noise_above(score)
    just_below = gumbel(np.array([max(0, lowest - 1)], dtype=np.uint32))[0]
    assert lowest == 0 or just_below < score


@given(
    seed=st.integers(0, 2**64 - 1),
    step=st.integers(0, 2**40),
    ids=st.lists(st.integers(0, 4999), max_size=30),
)
def test_the_noise_of_a_few_tokens_is_theirs_among_all(seed, step, ids):
    shared = SharedRandomness(seed, 3)
    assert shared.noise_of(step, ids).tolist() == shared.noise(step, 5000)[ids].tolist()
