"""docs/engines.md is what the engines' data say."""

from __future__ import annotations

import pytest

from tests.engines import page
from tests.engines.agreement import KINDS, by_data, table
from tests.engines.differences import consequences
from xtc_viz.engines.known import ENGINES
from xtc_viz.sampling.stages import STAGES


@pytest.mark.slow
def test_the_page_is_written_from_the_data():
    """Otherwise: python -m tests.engines.agreement --write"""
    assert page.PAGE.read_text(encoding="utf-8") == page.text(table())


def test_every_engine_names_stages_that_there_are_and_none_twice():
    known = {stage.name for stage in STAGES} | {"xtc"}
    for engine in ENGINES.values():
        assert known.issuperset(engine.order)
        assert len(set(engine.order)) == len(engine.order)
        assert {"xtc", "temperature"}.issubset(engine.order)


def test_only_the_paper_differs_in_nothing():
    assert [name for name, engine in ENGINES.items() if not consequences(engine)] == ["paper"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_papers_data_agree_with_the_paper(kind):
    assert by_data("paper", kind) == 1.0


def test_what_protects_nothing_differs_where_something_is_protected():
    assert by_data("llama.cpp", "nothing protected") == 1.0
    assert 0.5 < by_data("llama.cpp", "one token protected") < 1.0
