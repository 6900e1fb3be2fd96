"""What a lane becomes in the server's own chain of samplers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xtc_viz.engines.known.llamacpp import ENGINE
from xtc_viz.errors import LaneError, SettingsError
from xtc_viz.runs.chain import MOST_SEED, TOP_K, Chain, as_served, chains_of
from xtc_viz.runs.presets import DEFAULT_LANES
from xtc_viz.sampling.plan import plan_of
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, Strategy, XTCSettings

LLAMA_CPP = ENGINE.dialect
ON = XTCSettings(0.5, 0.1, protected=frozenset({3}))


def test_a_lane_as_the_server_has_it() -> None:
    """XTC comes before temperature, all that it draws from is shown, and nothing is protected."""
    chain = Chain.of(SamplerSettings(min_p=0.05, temperature=0.8, xtc=ON), 9)
    assert chain == Chain(XTCSettings(0.5, 0.1, dialect=LLAMA_CPP), TOP_K, 0.05, 0.8, 9)
    plan = plan_of(chain.sampler)
    assert plan.stages == ("top_k", "min_p", "xtc", "temperature")
    assert Chain.of(chain.sampler, 9) == chain
    assert chain.request()["samplers"] == list(plan.stages)


def test_a_run_keeps_its_lanes_and_their_seeds() -> None:
    settings = RunSettings(DEFAULT_LANES, seed=5, server_draws=True)
    assert [chain.seed for chain in chains_of(settings)] == [5, 5]
    apart = replace(settings, shared_randomness=False)
    assert [chain.seed for chain in chains_of(apart)] == [6, 7]
    served = as_served(settings)
    assert [lane.name for lane in served.lanes] == ["Baseline", "XTC"]
    assert as_served(served) == served
    assert RunSettings.from_dict(served.to_dict()) == served


def test_who_knows_nothing_of_it_reads_all_other_settings() -> None:
    assert "server_draws" not in RunSettings().to_dict()
    with pytest.raises(SettingsError, match="`server_draws` must be true or false"):
        RunSettings(server_draws="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sampler", "words"),
    [
        (SamplerSettings(top_p=0.9), "`top_p` must be 1 where the server draws"),
        (SamplerSettings(repetition_penalty=1.2), "`repetition_penalty` must be 1 where"),
        (SamplerSettings(dynatemp_range=0.5), "`dynatemp_range` must be 0 where"),
        (SamplerSettings(temperature=0.0), "`temperature` must be above 0"),
        (SamplerSettings(top_k=1001), r"`top_k` must be in \[1, 1000\]"),
        (SamplerSettings(xtc=XTCSettings(strategy=Strategy.DROP_TOP)), "`strategy` must be keep_"),
    ],
)
def test_what_it_does_not_have_is_named(sampler: SamplerSettings, words: str) -> None:
    settings = RunSettings((LaneSettings(), LaneSettings("x", sampler)))
    with pytest.raises(LaneError, match=words) as refusal:
        chains_of(settings)
    assert refusal.value.lane == 1


def test_a_seed_that_it_cannot_hold_is_refused() -> None:
    with pytest.raises(SettingsError, match="`seed` must be in") as refusal:
        chains_of(RunSettings(seed=MOST_SEED + 1))
    assert not isinstance(refusal.value, LaneError)
