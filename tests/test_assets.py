"""The assets are found from a checkout; from a wheel, see `test_package`."""

from __future__ import annotations

from xtc_viz.assets import STORY_MODEL, asset


def test_what_the_app_reads_is_there() -> None:
    assert (STORY_MODEL / "config.json").is_file()
    for name in ("web", "prompts.json", "case.json", "traces/first-sight.json.gz"):
        assert asset(name).exists(), name
    assert asset("story-model") == STORY_MODEL
    assert asset("web").is_absolute()
