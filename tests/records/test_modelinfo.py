"""What a trace file says of a model: flat in version 1, nested since."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import TraceError
from xtc_viz.records.modelinfo import ModelInfo, Placement, Served

STORY = ModelInfo(
    name="story-model",
    revision="0123abcd",
    vocab_size=8192,
    context_length=512,
    eos_ids=(0,),
    newline_ids=(1, 2),
    has_chat_template=False,
    parameters=5_800_000,
    placement=Placement("float32", "cpu"),
)
SERVED = replace(STORY, name="served", revision="", parameters=None, placement=None)
# As a file of the first program holds it.
OLD = {
    "name": "story-model",
    "revision": "0123abcd",
    "dtype": "float32",
    "device": "cpu",
    "parameters": 5_800_000,
    "vocab_size": 8192,
    "context_length": 512,
    "eos_ids": [0],
    "newline_ids": [1, 2],
    "has_chat_template": False,
}

texts, numbers, ids = st.text(), st.integers(1, 2**31), st.lists(st.integers(0, 99)).map(tuple)
infos = st.builds(
    ModelInfo,
    name=texts,
    revision=texts,
    vocab_size=numbers,
    context_length=numbers,
    eos_ids=ids,
    newline_ids=ids,
    has_chat_template=st.booleans(),
    has_thinking_switch=st.booleans(),
    parameters=st.none() | numbers,
    placement=st.none() | st.builds(Placement, dtype=texts, device=texts, decoding=texts),
    served=st.none() | st.builds(Served, kind=texts, version=texts, candidates=st.none() | numbers),
)


def test_version_1_by_hand() -> None:
    assert ModelInfo.from_dict(OLD, 1) == STORY
    thinker = OLD | {"has_thinking_switch": True}
    assert ModelInfo.from_dict(thinker, 1) == replace(STORY, has_thinking_switch=True)


def test_version_2_by_hand() -> None:
    data = json.loads(json.dumps(STORY.to_dict()))
    assert data["placement"] == {"dtype": "float32", "device": "cpu"}
    assert not {"dtype", "device"} & data.keys()
    slow = replace(STORY, placement=Placement("float32", "cpu", "without a cache"))
    slow_data = json.loads(json.dumps(slow.to_dict()))
    assert slow_data["placement"] == data["placement"] | {"decoding": "without a cache"}
    assert ModelInfo.from_dict(slow_data, 2) == slow
    assert data["has_thinking_switch"] is False
    served = SERVED.to_dict()
    assert (served["parameters"], served["placement"]) == (None, None)


def test_a_server_stands_in_it_where_there_is_one() -> None:
    assert "served" not in STORY.to_dict()
    info = replace(SERVED, served=Served("llama.cpp", "b7", 20))
    data = json.loads(json.dumps(info.to_dict()))
    assert data["served"] == {"kind": "llama.cpp", "version": "b7", "candidates": 20}
    assert ModelInfo.from_dict(data, 2) == info
    for wrong in (3, {}, {**data["served"], "kind": 5}, {**data["served"], "candidates": "x"}):
        with pytest.raises(TraceError, match="model `"):
            ModelInfo.from_dict(data | {"served": wrong}, 2)
    with pytest.raises(TraceError, match="unknown"):
        ModelInfo.from_dict(OLD | {"served": None}, 1)


def test_what_version_1_could_not_say_is_empty_there() -> None:
    unknown = OLD | {"parameters": 0, "dtype": "", "device": ""}
    assert ModelInfo.from_dict(unknown, 1) == replace(STORY, parameters=None, placement=None)


@given(infos)
def test_nothing_is_lost(info: ModelInfo) -> None:
    assert ModelInfo.from_dict(json.loads(json.dumps(info.to_dict())), 2) == info


NEW = STORY.to_dict()


@pytest.mark.parametrize(
    ("version", "data", "words"),
    [
        (1, [], "`model` must be an object"),
        (1, {**OLD, "device": 0}, "model `device` must be a text, but is 0"),
        (1, {**OLD, "parameters": None}, "model `parameters` must be an integer"),
        (1, {**OLD, "parameters": False}, "model `parameters` must be an integer"),
        (1, {**OLD, "has_thinking_switch": 1}, "`has_thinking_switch` must be true or false"),
        (1, {n: v for n, v in OLD.items() if n != "dtype"}, "`model` lacks `dtype`"),
        (1, {**OLD, "placement": None}, "`model` has an unknown 'placement'"),
        (2, OLD, "`model` lacks `has_thinking_switch`"),
        (2, {**NEW, "dtype": "float32"}, "`model` has an unknown 'dtype'"),
        (2, {**NEW, "eos_ids": [0.5]}, "model `eos_ids`, entry 1 must be an integer"),
        (2, {**NEW, "parameters": "6 M"}, "model `parameters` must be an integer"),
        (2, {**NEW, "placement": "cpu"}, "model `placement` must be an object"),
        (2, {**NEW, "placement": {"dtype": "float32"}}, "model `placement` lacks `device`"),
        (2, {**NEW, "placement": {"dtype": 4, "device": "cpu"}}, "model `dtype` must be a text"),
    ],
)
def test_what_is_wrong_is_named(version: int, data: Any, words: str) -> None:
    data = json.loads(json.dumps(data))
    with pytest.raises(TraceError) as caught:
        ModelInfo.from_dict(data, version)
    assert words in str(caught.value)
