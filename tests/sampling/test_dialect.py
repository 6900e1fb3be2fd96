"""Other engines' rules as data, on the test vectors that they publish."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from xtc_viz.engines.known import ENGINES
from xtc_viz.sampling.dialect import PAPER, Dialect, Ties
from xtc_viz.sampling.rule import Outcome, decide, expected, mixed
from xtc_viz.settings import XTCSettings

MLX, EXLLAMA, LLAMA, EXLLAMA2, APHRODITE = (
    ENGINES[name].dialect for name in ("mlx-lm", "exllamav3", "llama.cpp", "exllamav2", "aphrodite")
)


def left(dialect: Dialect, probs: list[float], tau: float, protected: tuple[int, ...] = ()):
    """Return which tokens, numbered in falling order, ρ = 1 leaves."""
    xtc = XTCSettings(rho=1.0, tau=tau, protected=frozenset(protected), dialect=dialect)
    decision = decide(range(len(probs)), array("f", probs), 0.5, xtc)
    return [v for v in range(len(probs)) if v not in decision.removed]


@pytest.mark.parametrize(
    ("tau", "survivors"), [(0.09, [3]), (0.19, [2, 3]), (0.29, [1, 2, 3]), (0.39, [0, 1, 2, 3])]
)
def test_llama_cpp(tau, survivors):
    assert left(LLAMA, [0.4, 0.3, 0.2, 0.1], tau) == survivors


def test_llama_cpp_does_nothing_above_one_half():
    xtc = XTCSettings(rho=1.0, tau=0.51)
    assert decide([0, 1], [0.6, 0.4], 0.0, xtc).eligible == (0,)
    assert decide([0, 1], [0.6, 0.4], 0.0, replace(xtc, dialect=LLAMA)).eligible == ()


@pytest.mark.parametrize(
    ("tau", "protected", "survivors"),
    [(0.2, (), [1, 2, 3]), (0.1, (), [2, 3]), (0.1, (0,), [0, 2, 3])],
)
def test_mlx(tau, protected, survivors):
    """Both of two tied underdogs stay, and a protected token alone is spared."""
    assert left(MLX, [0.4, 0.3, 0.15, 0.15], tau, protected) == survivors


def test_mlx_compares_with_more_than():
    assert left(MLX, [0.5, 0.25, 0.25], 0.25) == [0, 1, 2]
    assert left(PAPER, [0.5, 0.25, 0.25], 0.25) == [1]


@pytest.mark.parametrize(
    ("probs", "tau", "protected", "survivors"),
    [
        ([0.643914, 0.236883, 0.087144, 0.032059], 0.1, (), [1, 2, 3]),
        ([0.643914, 0.236883, 0.087144, 0.032059], 0.3, (), [0, 1, 2, 3]),
        ([0.609460, 0.224208, 0.135989, 0.030343], 0.1, (), [2, 3]),
        ([0.609460, 0.224208, 0.135989, 0.030343], 0.1, (2,), [1, 2, 3]),
    ],
)
def test_exllama(probs, tau, protected, survivors):
    """A protected token is outside of E: another one becomes the underdog."""
    assert left(EXLLAMA, probs, tau, protected) == survivors


def test_the_paper_leaves_a_step_alone_that_would_silence_a_protected_token():
    assert left(PAPER, [0.4, 0.3, 0.2, 0.1], 0.15, (1,)) == [0, 1, 2, 3]


def test_where_all_are_tied_there_is_nothing_to_remove():
    xtc = XTCSettings(rho=1.0, tau=0.1, dialect=Dialect("ties", ties=Ties.ALL))
    assert decide([0, 1], [0.5, 0.5], 0.0, xtc).outcome is Outcome.UNAMBIGUOUS
    assert expected([0, 1], [0.5, 0.5], xtc) == (0.0, 0.0)


def test_the_highest_id_may_be_the_one_that_stays():
    assert left(Dialect("highest", ties=Ties.HIGHEST_ID), [0.4, 0.3, 0.3], 0.1) == [2]


def test_aphrodite():
    probs = [0.506, 0.307, 0.176, 0.009]
    assert left(APHRODITE, probs, 0.1) == [2, 3]


def test_exllamav2_removes_what_stands_in_front_of_an_eligible_token():
    """By id 0, 1, 2: τ is cleared by 1 and 2, so 0 and 1 go, though 0 is not eligible."""
    xtc = XTCSettings(rho=1.0, tau=0.25, dialect=EXLLAMA2)
    decision = decide([1, 2, 0], [0.5, 0.3, 0.2], 0.0, xtc)
    assert decision.eligible == (1, 2)
    assert (decision.removed, decision.beside, decision.gone) == ((1,), (0,), (1, 0))
    # 0 and 2 are no neighbours: only 1, which is not eligible, stands in front of one.
    apart = decide([0, 2, 1], [0.5, 0.3, 0.2], 0.0, xtc)
    assert (apart.outcome, apart.removed, apart.beside) == (Outcome.UNAMBIGUOUS, (), (1,))
    assert decide([1, 2, 0], [0.5, 0.3, 0.2], 0.0, replace(xtc, rho=0.0)).gone == ()


@pytest.mark.parametrize(
    ("rho", "tau", "protected", "published"),
    [
        (1.0, 0.1, (), [0, 0.236883, 0.087144, 0.032059]),
        (1.0, 0.3, (), [0.643914, 0.236883, 0.087144, 0.032059]),
        (0.5, 0.1, (), [0.169081, 0.236883, 0.087144, 0.032059]),
        (1.0, 0.1, (0,), [0.643914, 0.236883, 0.087144, 0.032059]),
    ],
)
def test_a_mixture_has_the_weights_that_exllamav3_publishes(rho, tau, protected, published):
    """They publish weights that do not add up to 1."""
    probs = [0.643914, 0.236883, 0.087144, 0.032059]
    xtc = XTCSettings(rho=rho, tau=tau, protected=frozenset(protected), dialect=EXLLAMA)
    weights = mixed(probs, xtc)
    assert sum(weights) == pytest.approx(1.0)
    assert weights == pytest.approx([w / sum(published) for w in published], abs=2e-6)
