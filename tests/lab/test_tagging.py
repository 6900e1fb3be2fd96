"""The tagger, where it is installed."""

from __future__ import annotations

import pytest

from xtc_viz.lab.tagging import tagger


def test_the_tagger_knows_parts_of_speech() -> None:
    pytest.importorskip("textblob")
    tags = tagger()
    assert tags is not None
    assert tags("The red cat slept.") == ["DT", "JJ", "NN", "VBD"]
    assert tags("") == []


def test_no_tagger_without_textblob(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xtc_viz.lab.tagging.find_spec", lambda name: None)
    assert tagger() is None
