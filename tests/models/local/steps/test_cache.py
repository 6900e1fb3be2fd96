"""The growing cache against transformers' own, whatever is done to both."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    Gemma3TextConfig,
    JambaConfig,
    Llama4TextConfig,
    LlamaConfig,
    MambaConfig,
)
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from xtc_viz.models.local.steps.cache import (
    GrowingLayer,
    has_columns,
    has_states,
    is_columns,
    keep_rows,
    new_cache,
    replace_rows,
    takes_rows,
)


def states(rows: int, tokens: int) -> torch.Tensor:
    return torch.randn(rows, 2, tokens, 3)


actions = st.lists(
    st.one_of(
        st.tuples(st.just("update"), st.sampled_from([1, 1, 1, 2, 5, 300])),
        st.tuples(st.just("repeat"), st.integers(1, 3)),
        st.tuples(st.just("select"), st.just(0)),
        st.tuples(st.just("reorder"), st.just(0)),
        st.tuples(st.just("crop"), st.integers(1, 4)),
        st.tuples(st.just("reset"), st.just(0)),
    ),
    max_size=12,
)


@given(actions, st.integers(0, 10_000))
def test_equals_the_dynamic_layer(todo: list[tuple[str, int]], seed: int) -> None:
    torch.manual_seed(seed)
    ours, theirs = GrowingLayer(), DynamicLayer()
    rows = 1
    for action, number in [("update", 3), *todo]:
        if action == "update":
            keys, values = states(rows, number), states(rows, number)
            got, expected = ours.update(keys, values), theirs.update(keys, values)
            assert all(map(torch.equal, got, expected))
            continue
        if not theirs.get_seq_length():
            continue
        for layer in (ours, theirs):
            if action == "repeat":
                layer.batch_repeat_interleave(number)
            elif action == "select":
                layer.batch_select_indices(torch.tensor([rows - 1]))
            elif action == "reorder":
                layer.reorder_cache(torch.LongTensor(range(rows - 1, -1, -1)))
            elif action == "crop":
                layer.crop(-min(number, layer.get_seq_length()))
            else:
                layer.reset()
        rows = {"repeat": rows * number, "select": 1, "reset": 1}.get(action, rows)
        assert ours.get_seq_length() == theirs.get_seq_length()
        if theirs.get_seq_length():
            pairs: Any = [(ours.keys, theirs.keys), (ours.values, theirs.values)]
            assert all(torch.equal(*pair) for pair in pairs)


def test_it_writes_in_place_until_the_buffer_is_full() -> None:
    layer = GrowingLayer()
    layer.update(states(2, 10), states(2, 10))
    homes = []
    for _ in range(13):
        keys, _ = layer.update(states(2, 1), states(2, 1))
        homes.append(keys.untyped_storage().data_ptr())
    assert len(set(homes)) == 2
    assert len(set(homes[:10])) == 1


def test_the_lanes_do_not_share_their_memory_after_expansion() -> None:
    layer = GrowingLayer()
    layer.update(states(1, 4), states(1, 4))
    layer.batch_repeat_interleave(2)
    keys, _ = layer.update(states(2, 1), states(2, 1))
    assert torch.equal(keys[0, :, :4], keys[1, :, :4])
    assert not torch.equal(keys[0, :, 4], keys[1, :, 4])


def test_layers_of_other_kinds_stay_as_they_are() -> None:
    config = Gemma3TextConfig(
        num_hidden_layers=2, layer_types=["sliding_attention", "full_attention"]
    )
    kinds = [type(layer) for layer in new_cache(config).layers]
    assert kinds == [DynamicSlidingWindowLayer, GrowingLayer]
    assert {type(x) for x in new_cache(LlamaConfig(num_hidden_layers=3)).layers} == {GrowingLayer}


FULL, LINEAR = "full_attention", "linear_attention"
HYBRID = JambaConfig(num_hidden_layers=2, attn_layer_period=2, attn_layer_offset=1)


@pytest.mark.parametrize(
    ("config", "answers"),
    [(LlamaConfig(num_hidden_layers=2), (True, True, False, True)),
     (Gemma3TextConfig(num_hidden_layers=2), (True, True, False, True)),
     (MambaConfig(num_hidden_layers=2), (False, True, True, False)),
     (HYBRID, (False, True, True, True)),
     (Llama4TextConfig(num_hidden_layers=2), (False, False, False, True))],
    ids=["all tokens", "windows", "states", "both", "chunks"],
)  # fmt: skip
def test_what_a_cache_can_do(config: Any, answers: tuple[bool, ...]) -> None:
    tests = (is_columns, takes_rows, has_states, has_columns)
    assert tuple(test(config) for test in tests) == answers


def hybrid(rows: int, tokens: int, value: float) -> Any:
    """A cache of a state, which holds `value`, and of columns, which hold it too."""
    cache: Any = new_cache(HYBRID)
    cache.update_recurrent_state(torch.full((rows, 4), value), 0)
    keys = torch.full((rows, 2, tokens, 3), value)
    cache.update(keys, -keys, 1)
    return cache


@given(rows=st.integers(1, 5), columns=st.integers(1, 6), tokens=st.integers(1, 6), data=st.data())
def test_a_row_comes_with_its_state_and_its_columns(
    rows: int, columns: int, tokens: int, data: st.DataObject
) -> None:
    cache = hybrid(rows, columns, 1.0)
    places = data.draw(st.lists(st.integers(0, rows - 1), min_size=1, unique=True))
    length = max(columns, tokens) if len(places) < rows else tokens
    replace_rows(cache, places, hybrid(len(places), tokens, 2.0), length)
    for row in range(rows):
        value, own = (2.0, tokens) if row in places else (1.0, columns)
        assert cache.layers[0].recurrent_states[0][row].tolist() == [value] * 4
        keys = cache.layers[1].keys[row, 0, :, 0].tolist()
        assert len(keys) == length
        assert keys[length - own :] == [value] * own, "what is left of it is hidden"
    keep_rows(cache, places)
    assert cache.layers[0].recurrent_states[0].tolist() == [[2.0] * 4] * len(places)
    assert cache.layers[1].values.shape[0] == len(places)
