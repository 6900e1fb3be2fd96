"""The operator on tensors: engines' public vectors, the paper's propositions, batches, draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from xtc_viz import XTCLogitsProcessor
from xtc_viz.errors import DistributionError
from xtc_viz.sampling.operator import _largest, apply_xtc
from xtc_viz.sampling.rule import Outcome
from xtc_viz.settings import Strategy, XTCSettings

INF = math.inf


def logits_of(*rows):
    return torch.tensor(rows, dtype=torch.float64).log().to(torch.float32)


def apply(logits, coin=0.0, **values):
    rule = XTCSettings(**{"rho": 1.0, "tau": 0.1} | values)
    return apply_xtc(logits, [coin] * len(logits), rule)


def probabilities(logits):
    return torch.softmax(logits.double(), dim=-1)


# --- the engines' public test vectors -------------------------------------------------------


@pytest.mark.parametrize(
    ("tau", "kept"),
    [(0.09, [3]), (0.19, [2, 3]), (0.29, [1, 2, 3]), (0.39, [0, 1, 2, 3])],
)
def test_llama_cpp_vectors(tau, kept):
    row = logits_of([0.4, 0.3, 0.2, 0.1])
    result, _ = apply(row, rho=0.99, tau=tau)
    assert torch.isfinite(result[0]).nonzero().flatten().tolist() == kept
    assert torch.equal(result[0, kept], row[0, kept])


@pytest.mark.parametrize(
    ("tau", "rho", "expected"),
    [(0.2, 1.0, [0, 0.5, 0.25, 0.25]), (0.1, 0.0, [0.4, 0.3, 0.15, 0.15])],
)
def test_mlx_lm_vectors(tau, rho, expected):
    result, _ = apply(logits_of([0.4, 0.3, 0.15, 0.15]), rho=rho, tau=tau)
    assert probabilities(result)[0].tolist() == pytest.approx(expected)


def test_mlx_lm_ties_differ_by_one_deterministic_winner():
    """mlx-lm keeps both tied underdogs; the paper's rule keeps one, here the lowest id."""
    result, [decision] = apply(logits_of([0.4, 0.3, 0.15, 0.15]))
    assert decision.underdog == 2
    assert probabilities(result)[0].tolist() == pytest.approx([0, 0, 1, 0])


def test_mlx_lm_rows_alone_and_together():
    rows = logits_of([0.6, 0.25, 0.1, 0.05], [0.9, 0.05, 0.03, 0.02])
    together, decisions = apply(rows, tau=0.2)
    assert torch.equal(together[:1], apply(rows[:1], tau=0.2)[0])
    assert torch.equal(together[1], rows[1])
    assert [d.outcome for d in decisions] == [Outcome.FIRED, Outcome.UNAMBIGUOUS]


@pytest.mark.parametrize(
    ("logits", "tau", "surviving"),
    [
        ([2, 1, 0, -1], 0.1, [0, 0.236883, 0.087144, 0.032059]),
        ([2, 1, 0, -1], 0.3, [0.643914, 0.236883, 0.087144, 0.032059]),
        ([2, 1, 0.5, -1], 0.1, [0, 0, 0.135989, 0.030343]),
    ],
)
def test_exllamav3_vectors(logits, tau, surviving):
    row = torch.tensor([logits], dtype=torch.float32)
    result, _ = apply(row, tau=tau)
    p = torch.softmax(row, -1).masked_fill(result.isinf(), 0.0)
    assert p[0].tolist() == pytest.approx(surviving, abs=2e-6)


def test_aphrodite_vector():
    result, _ = apply(torch.tensor([[4.0, 3.5, 3.0, 0.0]]))
    assert result.isinf().tolist() == [[True, True, False, False]]


# --- the paper's propositions ---------------------------------------------------------------

rows_of_logits = st.lists(
    # Few distinct values make ties common; -inf is a token masked by an earlier stage.
    st.one_of(st.floats(-8, 8, width=32), st.sampled_from([0.0, 2.0, 2.5, -INF])),
    min_size=1,
    max_size=24,
).filter(lambda row: any(math.isfinite(x) for x in row))
taus = st.floats(0.001, 0.999)
coins = st.floats(0, 1, exclude_max=True)
dtypes = st.sampled_from([torch.float64, torch.float32, torch.bfloat16, torch.float16])


@given(row=rows_of_logits, tau=taus, rho=st.floats(0, 1), coin=coins, dtype=dtypes)
def test_the_definition(row, tau, rho, coin, dtype):
    """Algorithm 1, restated over the whole vocabulary; with Propositions 1, 2, 3 and 5."""
    logits = torch.tensor([row]).to(dtype)
    before = logits.clone()
    result, [decision] = apply_xtc(logits, [coin], XTCSettings(rho=rho, tau=tau))
    assert torch.equal(logits, before), "the input is never written to"
    assert (result.dtype, result.shape) == (dtype, logits.shape)

    exact = torch.float64 if dtype is torch.float64 else torch.float32
    p = torch.softmax(logits, -1, dtype=exact).float()[0].numpy()
    eligible = [v for v in range(len(p)) if p[v] >= np.float32(tau)]
    assert sorted(decision.eligible) == eligible
    assert [p[v] for v in decision.eligible] == sorted((p[v] for v in eligible), reverse=True)
    assert len(eligible) <= 1 / tau * (1 + 1e-5)

    if len(eligible) < 2 or coin >= rho:  # Proposition 1
        assert torch.equal(result, logits)
        expected = Outcome.UNAMBIGUOUS if len(eligible) < 2 else Outcome.SKIPPED
        assert decision.outcome is expected
        assert decision.removed_mass == 0.0
        return
    underdog = min(eligible, key=lambda v: (p[v], v))
    removed = set(eligible) - {underdog}
    assert decision.outcome is Outcome.FIRED
    assert decision.underdog == underdog
    assert set(decision.removed) == removed
    mass = float(p[list(removed)].astype("f8").sum())
    assert decision.removed_mass == pytest.approx(mass)
    assert decision.removable_mass == pytest.approx(  # Proposition 3's M
        float(p[eligible].astype("f8").sum()) - float(p[eligible].min())
    )
    left = [v for v in range(len(p)) if v not in removed]
    assert torch.equal(result[0, left], logits[0, left])  # Proposition 2: odds are untouched
    q = probabilities(result)[0].numpy()
    exact = probabilities(logits)[0].numpy()
    assert all(q[v] == 0 for v in removed)
    kept_mass = exact[left].sum()
    np.testing.assert_allclose(q[left], exact[left] / kept_mass, rtol=1e-6)
    # Proposition 5: the projection's divergence is -log of the mass that is left.
    live = [v for v in left if q[v] > 0]
    divergence = float((q[live] * np.log(q[live] / exact[live])).sum())
    assert divergence == pytest.approx(-math.log(kept_mass), abs=1e-6)


@given(row=rows_of_logits, taus=st.tuples(taus, taus))
def test_threshold_monotonicity(row, taus):
    """Proposition 4."""
    logits = torch.tensor([row])
    _, [low] = apply(logits, tau=min(taus))
    _, [high] = apply(logits, tau=max(taus))
    assert set(high.eligible) <= set(low.eligible)
    assert high.removable_mass <= low.removable_mass + 1e-7


@given(row=rows_of_logits, tau=st.floats(0.501, 0.999))
def test_above_one_half_it_can_never_fire(row, tau):
    _, [decision] = apply(torch.tensor([row]), tau=tau)
    assert decision.outcome is Outcome.UNAMBIGUOUS


@given(
    rows=st.integers(1, 6).flatmap(
        lambda v: st.lists(
            st.lists(st.floats(-4, 4, width=32), min_size=v, max_size=v), min_size=1, max_size=5
        )
    ),
    tau=taus,
    draws=st.lists(coins, min_size=5, max_size=5),
    protected=st.frozensets(st.integers(0, 5), max_size=2),
    strategy=st.sampled_from(Strategy),
)
def test_a_row_in_a_batch_equals_the_row_alone(rows, tau, draws, protected, strategy):
    rule = XTCSettings(rho=0.5, tau=tau, protected=protected, strategy=strategy)
    logits = torch.tensor(rows)
    result, decisions = apply_xtc(logits, draws[: len(rows)], rule)
    for i in range(len(rows)):
        alone, [decision] = apply_xtc(logits[i : i + 1], draws[i : i + 1], rule)
        assert torch.equal(result[i], alone[0])
        assert decisions[i] == decision


def test_one_rows_veto_leaves_its_neighbours_alone():
    rows = logits_of([0.5, 0.3, 0.2], [0.2, 0.5, 0.3])
    _, decisions = apply(rows, protected={0})
    assert [d.outcome for d in decisions] == [Outcome.PROTECTED, Outcome.FIRED]


@given(row=rows_of_logits, tau=taus, protected=st.frozensets(st.integers(0, 23), max_size=3))
def test_protected_tokens_are_never_removed(row, tau, protected):
    _, [free] = apply(torch.tensor([row]), tau=tau)
    result, [decision] = apply(torch.tensor([row]), tau=tau, protected=protected)
    if protected & set(free.removed):
        assert decision.outcome is Outcome.PROTECTED
        assert torch.equal(result, torch.tensor([row]))
    else:
        assert decision == free


def test_a_vocabulary_of_one():
    result, [decision] = apply(torch.tensor([[3.0]]))
    assert decision.outcome is Outcome.UNAMBIGUOUS
    assert result.tolist() == [[3.0]]


def test_all_masked_but_one():
    row = torch.tensor([[-INF, 2.0, -INF]])
    result, [decision] = apply(row, tau=0.001)
    assert decision.eligible == (1,)
    assert torch.equal(result, row)


@pytest.mark.parametrize("bad", [[math.nan, 0.0], [INF, 0.0], [-INF, -INF], [0.0, math.nan]])
def test_no_distribution_raises_and_names_the_row(bad):
    with pytest.raises(DistributionError, match="in every row, but row 1 is not"):
        apply(torch.tensor([[0.0, 1.0], bad]))


def test_of_several_bad_rows_the_first_is_named():
    rows = torch.tensor([[0.0, 0.0], [math.nan, 0.0], [-INF, -INF], [0.0, 1.0]])
    with pytest.raises(DistributionError, match="but row 1 is not"):
        apply(rows)
    with pytest.raises(DistributionError, match="but row 1 is not"):
        apply(rows, tau=0.9)  # that no token of row 0 is eligible is no mistake


@pytest.mark.parametrize(
    ("logits", "coins", "message"),
    [
        (torch.zeros(3), 1, r"\(B, V\) with one coin a row, but are \(3,\)"),
        (torch.zeros(1, 3), 2, "2 coins"),
        (torch.zeros(1, 3, dtype=torch.int64), 1, r"`logits` must be floats.* are torch.int64"),
        (torch.zeros(2, 0), 2, "at least one token, but are torch.float32 over 0"),
    ],
)
def test_shapes_and_dtypes_are_checked(logits, coins, message):
    with pytest.raises(ValueError, match=message):
        apply_xtc(logits, [0.0] * coins, XTCSettings())


def test_float64_is_not_rounded_before_the_softmax():
    """In float32 the two logits would be equal, and both tokens eligible."""
    _, [decision] = apply(torch.tensor([[1e8, 1e8 + 3.0]], dtype=torch.float64))
    assert decision.eligible == (1,)
    _, [decision] = apply(torch.tensor([[1e8, 1e8 + 3.0]]))
    assert decision.eligible == (0, 1)


@pytest.mark.parametrize("tau", [5e-324, 7e-46, 1e-45])
def test_a_floor_under_the_least_float32_leaves_out_what_cannot_be(tau):
    """A probability of 0 clears no τ, however small: the two that are left are not masked."""
    result, [decision] = apply(logits_of([0.75, 0.25, 0.0, 0.0]), tau=tau)
    assert (decision.eligible, decision.removed) == ((0, 1), (0,))
    assert result[0].softmax(-1).tolist() == [0.0, 1.0, 0.0, 0.0]


@given(
    rows=st.integers(1, 3), size=st.sampled_from([1, 5, 4099]), tau=st.floats(0.001, 0.6),
    spread=st.floats(0, 12), seed=st.integers(0, 10**6),
    layout=st.sampled_from(["plain", "transposed", "every second", "expanded"]),
)  # fmt: skip
def test_eligible_is_decided_by_the_softmax_to_the_last_bit(rows, size, tau, spread, seed, layout):
    """τ is drawn near a probability as often as not; the layout in memory changes nothing."""
    generator = torch.Generator().manual_seed(seed)
    logits = {
        "plain": lambda: torch.randn(rows, size, generator=generator),
        "transposed": lambda: torch.randn(size, rows, generator=generator).t(),
        "every second": lambda: torch.randn(rows, 2 * size, generator=generator)[:, ::2],
        "expanded": lambda: torch.randn(1, size, generator=generator).expand(rows, -1),
    }[layout]()
    logits = logits * spread if layout != "expanded" else logits
    p = torch.softmax(logits, -1).numpy()
    if seed % 2 and 0.001 <= p[0].max() < 1:
        tau = float(p[0].max())
    before = logits.clone()
    result, decisions = apply(logits, tau=tau)
    assert torch.equal(logits, before)
    for row, left, decision in zip(p, result, decisions, strict=True):
        assert set(decision.eligible) == set(np.flatnonzero(row >= np.float32(tau)).tolist())
        assert set(torch.isinf(left).nonzero().flatten().tolist()) == set(decision.removed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_result_has_memory_of_its_own(dtype):
    logits = logits_of([0.5, 0.3, 0.2], [1.0, 0.0, 0.0]).to(dtype)
    before = logits.clone()
    for values in ({}, {"rho": 0.0}, {"tau": 0.9}):
        result, _ = apply(logits, coin=0.5, **values)
        result.fill_(7.0)
        assert torch.equal(logits, before)


def test_gradients_flow_to_what_is_left():
    logits = logits_of([0.5, 0.3, 0.2]).requires_grad_()
    result, [decision] = apply(logits)
    assert decision.removed == (0, 1)
    result[0, 2].backward()
    assert logits.grad.tolist() == [[0.0, 0.0, 1.0]]
    assert result.isinf().tolist() == [[True, True, False]]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (Strategy.KEEP_LEAST, [0, 0, 2 / 3, 1 / 3]),
        (Strategy.KEEP_SECOND, [0, 3 / 4, 0, 1 / 4]),
        (Strategy.DROP_TOP, [0, 1 / 2, 1 / 3, 1 / 6]),
    ],
)
def test_strategies_by_hand(strategy, expected):
    result, _ = apply(logits_of([0.4, 0.3, 0.2, 0.1]), tau=0.15, strategy=strategy)
    assert probabilities(result)[0].tolist() == pytest.approx(expected, abs=1e-6)


# --- what is drawn --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("rho", [0.3, 1.0])
def test_marginals_match_the_closed_form(strategy, rho):
    """3·10⁴ seeded draws against (1 - ρ)·p + ρ·q, within 4 standard errors."""
    p = np.array([0.35, 0.25, 0.2, 0.12, 0.05, 0.03])
    eligible, n = 4, 30_000
    kept = {
        Strategy.KEEP_LEAST: [[3]],
        Strategy.KEEP_SECOND: [[1]],
        Strategy.KEEP_RANDOM: [[0], [1], [2], [3]],
        Strategy.DROP_TOP: [[1, 2, 3]],
    }[strategy]
    q = np.zeros(6)
    for choice in kept:
        left = p * [v >= eligible or v in choice for v in range(6)]
        q += left / left.sum() / len(kept)
    expected = (1 - rho) * p + rho * q

    generator = torch.Generator().manual_seed(20261121)
    logits = torch.tensor(p).log().float().expand(n, -1)
    rule = XTCSettings(rho=rho, tau=0.1, strategy=strategy)
    result, _ = apply_xtc(logits, torch.rand(n, generator=generator, dtype=torch.float64), rule)
    tokens = torch.multinomial(result.softmax(-1), 1, generator=generator)
    observed = np.bincount(tokens.flatten().numpy(), minlength=6) / n
    error = np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(observed - expected) <= 4 * error + 1e-12).all()


def test_the_processor_draws_its_coins_from_its_generator():
    rows = logits_of([0.5, 0.3, 0.2]).expand(64, -1)

    def run(seed):
        generator = torch.Generator().manual_seed(seed)
        return XTCLogitsProcessor(XTCSettings(rho=0.5), generator)(torch.empty(0), rows)

    first = run(1)
    assert torch.equal(first, run(1))
    assert not torch.equal(first, run(2))
    fired = int(first.isinf().any(-1).sum())
    assert 16 < fired < 48


def test_without_a_generator_the_coins_are_torchs_own():
    rows = logits_of([0.5, 0.3, 0.2]).expand(64, -1)

    def run(seed):
        torch.manual_seed(seed)
        return XTCLogitsProcessor(XTCSettings(rho=0.5))(torch.empty(0), rows)

    state = torch.get_rng_state()
    first = run(1)
    assert torch.equal(first, run(1))
    assert not torch.equal(first, run(2))
    assert 16 < int(first.isinf().any(-1).sum()) < 48
    torch.set_rng_state(state)


def test_the_processor_returns_the_scores_themselves_where_no_coin_is_under_rho():
    rows, ids = logits_of([0.5, 0.3, 0.2]), torch.zeros(1, 1, dtype=torch.int64)
    state = torch.get_rng_state()
    assert XTCLogitsProcessor(XTCSettings(rho=0.0))(ids, rows) is rows
    assert torch.equal(torch.get_rng_state(), state), "without XTC no number is used up"
    processor = XTCLogitsProcessor(XTCSettings(rho=0.5), torch.Generator().manual_seed(0))
    results = [processor(ids, rows) for _ in range(64)]
    assert {result is rows for result in results} == {True, False}
    assert all(result is rows or result.isinf().any() for result in results)


@given(
    size=st.integers(1, 300), rows=st.integers(1, 3), most=st.integers(1, 40),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_what_comes_over_from_a_gpu_is_the_head(size, rows, most, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randint(0, 9, (rows, size), generator=generator)  # with ties
    p = torch.softmax(logits.float(), dim=-1)
    probs, places = _largest(p, most)
    for row, head, ids in zip(p.numpy(), probs, places, strict=True):
        assert (row[ids] == head).all()
        assert len(set(ids.tolist())) == len(ids) == min(most, size)
        assert sorted(head) == sorted(row)[-len(ids) :]


@pytest.mark.gpu
@given(row=rows_of_logits, tau=st.floats(0.02, 0.9))
@settings(deadline=None)
def test_cuda_decides_as_the_cpu_does(row, tau):
    logits = torch.tensor([row])
    p = torch.softmax(logits, -1)
    assume(((p - tau).abs() > 1e-6).all() and len(p.unique()) == p.numel())
    result, decisions = apply(logits.cuda(), tau=tau)
    expected, on_cpu = apply(logits, tau=tau)
    assert torch.equal(result.cpu(), expected)
    assert decisions[0].removed == on_cpu[0].removed


def test_a_processor_keeps_nothing_of_a_step_that_another_mode_forbids():
    """`generate` may run in inference mode, whose tensors nobody may write to outside."""
    processor = XTCLogitsProcessor(XTCSettings(rho=0.5), torch.Generator().manual_seed(0))
    twin = XTCLogitsProcessor(XTCSettings(rho=0.5), torch.Generator().manual_seed(0))
    ids, scores = torch.zeros(2, 1, dtype=torch.long), torch.zeros(2, 5)
    with torch.inference_mode():
        inside = [processor(ids, scores).tolist() for _ in range(8)]
    outside = [processor(ids, scores).tolist() for _ in range(8)]
    assert inside + outside == [twin(ids, scores).tolist() for _ in range(16)]
