"""What ends DRY's matches on a model."""

from __future__ import annotations

from dataclasses import replace

from xtc_viz.models.fake import FakeModel
from xtc_viz.runs.breakers import BREAKERS, breaker_ids
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings

MODEL = FakeModel()


def test_all_tokens_that_hold_one_are_breakers() -> None:
    ids = breaker_ids(MODEL)
    assert {MODEL.token_text(i) for i in ids} >= {"\n", "\n\n", '"', ":", "*"}
    for token in range(MODEL.info.vocab_size):
        assert (token in ids) == any(mark in MODEL.token_text(token) for mark in BREAKERS)


def test_a_request_gets_them_where_dry_is_on_and_names_none() -> None:
    on = SamplerSettings(dry_multiplier=0.8)
    own = replace(on, dry_breakers=frozenset({5}))
    lanes = tuple(LaneSettings(str(i), s) for i, s in enumerate((SamplerSettings(), on, own)))
    settings = Request("Once", RunSettings(lanes=lanes)).guarded(MODEL)
    off, default, chosen = (lane.sampler.dry_breakers for lane in settings.lanes)
    assert off == frozenset()
    assert default == breaker_ids(MODEL)
    assert chosen == {5}
