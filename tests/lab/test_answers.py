"""Answers of a fixed form as metrics."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.lab.checks import Verdict, judge, judge_name
from xtc_viz.lab.generation import Generation
from xtc_viz.lab.metrics import METRICS, fitting
from xtc_viz.lab.metrics.answers import kept, parses, passed
from xtc_viz.lab.metrics.base import Family
from xtc_viz.lab.samples import Samples

JSON = {"fields": {"name": "string"}, "values": {"name": "Ada"}}


def samples(*texts: str, kind: str = "json", check: Any = JSON) -> Samples:
    return Samples(
        Generation("p", "c", 7, number, text, kind=kind, check=check)
        for number, text in enumerate(texts)
    )


def test_by_hand() -> None:
    # One that is right, one with another value, one with another field, one that is no JSON.
    own = samples('{"name": "Ada"}', '{"name": "Bo"}', '{"age": 3}', "Ada")
    assert passed(own) == 1 / 4
    assert kept(own) == (1 + 1 / 2 + 0 + 0) / 4
    assert parses(own) == 3 / 4


def test_a_rewriting_has_rules_and_may_be_any_text() -> None:
    rules = {"rules": {"max_words": 3, "ends_with": "?", "avoids": ["no"]}}
    own = samples("Is it so?", "No", kind="rewrite", check=rules)
    assert (passed(own), parses(own)) == (1 / 2, None)
    assert kept(own) == pytest.approx((1 + 1 / 3) / 2)


@pytest.mark.parametrize("kind", ["continue", "write", "code", ""])
def test_what_nobody_judged_has_no_value(kind: str) -> None:
    own = samples("a", "b", kind=kind, check={})
    assert (passed(own), kept(own), parses(own)) == (None, None, None)
    assert passed(Samples([])) is None


def test_stored_verdicts_count_where_there_are_some() -> None:
    judged = (Verdict("parses", True), Verdict("test 1", True), Verdict("test 2", False))
    one = Generation("p", "c", 7, 0, "x", kind="code", judged=judged)
    assert kept(Samples([one])) == 1 / 2
    # One of a group that is not judged yet: nothing is known of the group.
    assert kept(Samples([one, Generation("p", "c", 7, 1, "y", kind="code")])) is None


TEXTS = st.sampled_from(['{"name": "Ada"}', '{"name": "ada "}', '{"name": 3}', "[]", "", "Ada?"])


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_who_passes_keeps_all_and_parses(texts: list[str]) -> None:
    own = samples(*texts)
    values = passed(own), kept(own), parses(own)
    assert all(value is not None and 0 <= value <= 1 for value in values)
    assert (values[0] or 0) <= min(values[1] or 0, values[2] or 0) + 1e-12


def test_they_are_left_out_where_nothing_is_judged() -> None:
    own = {name for name, one in METRICS.items() if one.family is Family.ANSWERS}
    assert own == {"passed", "rules_kept", "parses"}
    assert set(fitting(judged=True)) - set(fitting(judged=False)) == own


def test_a_verdict_is_of_one_check_and_one_judge() -> None:
    names = {judge_name(check, version) for check in (JSON, {}) for version in (1, 2)}
    assert len(names) == 4
    assert judge_name({"a": 1, "b": 2}, 1) == judge_name({"b": 2, "a": 1}, 1)
    assert judge("continue", "text", {}) == ()
