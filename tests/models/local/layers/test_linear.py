"""The few-rows linear layer against torch's own, and rows that do not see each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM

from tests.models import tiny
from xtc_viz.models.local.layers import linear
from xtc_viz.models.local.layers.activation import use_row_activations
from xtc_viz.models.local.layers.linear import FewRowsLinear, use_few_rows_linear
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.steps.generation import LocalGeneration
from xtc_viz.records.modelinfo import ModelInfo


@pytest.fixture
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=[True, False], ids=["intel", "amd"])
def intel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways are right on every machine, to the last bit on their own."""
    monkeypatch.setattr(linear, "on_intel", lambda: request.param)


ON_INTEL = linear.on_intel()


@pytest.fixture(params=[True, False], ids=["intel", "amd"])
def own_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ways that are the same to the last bit here: Intel's is so on Intel alone."""
    if request.param and not ON_INTEL:
        pytest.skip("on this processor Intel's way is never taken")
    monkeypatch.setattr(linear, "on_intel", lambda: request.param)


@pytest.mark.usefixtures("intel")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(0, 6), tokens=st.integers(1, 2), width=st.integers(1, 40), bias=st.booleans()
)
def test_equals_torch(rows: int, tokens: int, width: int, bias: bool) -> None:
    torch.manual_seed(rows * 1000 + width)
    plain = nn.Linear(width, 7, bias=bias)
    ours = FewRowsLinear(width, 7, bias)
    ours.load_state_dict(plain.state_dict())
    x = torch.randn(rows, tokens, width)
    before = x.clone()
    with torch.inference_mode():
        got = ours(x)
        assert got.is_contiguous()
        torch.testing.assert_close(got, plain(x), rtol=1e-5, atol=1e-5)
    assert torch.equal(x, before)


@pytest.mark.parametrize("rows", range(1, 7))
def test_bfloat16_equals_torch(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Intel, where its layers are replaced too."""
    monkeypatch.setattr(linear, "on_intel", lambda: True)
    torch.manual_seed(rows)
    plain = nn.ModuleList([nn.Linear(96, 40).bfloat16()])
    x = torch.randn(rows, 1, 96).bfloat16()
    with torch.inference_mode():
        expected = plain[0](x)
        use_few_rows_linear(plain)
        assert type(plain[0]) is FewRowsLinear
        torch.testing.assert_close(plain[0](x), expected, rtol=0.02, atol=0.02)


def test_who_made_the_processor(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    assert not linear.on_intel(info)
    info.write_text("vendor_id\t: GenuineIntel\n", encoding="utf-8")
    linear.on_intel.cache_clear()
    assert linear.on_intel(info)


def test_only_plain_float32_layers_are_replaced_and_tied_weights_stay_tied() -> None:
    class Special(nn.Linear):
        pass

    model = nn.ModuleDict(
        {"a": nn.Linear(4, 4), "narrow": nn.Linear(4, 4).half(), "special": Special(4, 4)}
    )
    model["embed"] = nn.Embedding(4, 4)
    model["a"].weight = model["embed"].weight
    use_few_rows_linear(model.eval())
    assert {name: type(layer) for name, layer in model.items()} == {
        "a": FewRowsLinear,
        "narrow": nn.Linear,
        "special": Special,
        "embed": nn.Embedding,
    }
    assert model["a"].weight is model["embed"].weight
    assert not model["a"].training


@pytest.mark.usefixtures("one_thread", "intel")
def test_a_small_model_s_weights_lie_with_the_inputs_first_on_intel() -> None:
    """The numbers are the same, and those of an embedding lie as they did."""
    model = nn.Module()
    model.embed, model.head, model.layer = nn.Embedding(9, 6), nn.Linear(6, 9), nn.Linear(6, 5)
    model.head.weight = model.embed.weight
    plain = deepcopy(model.layer)
    use_few_rows_linear(model)
    assert torch.equal(model.layer.weight, plain.weight)
    assert model.layer.weight.is_contiguous() != linear.on_intel()
    assert model.head.weight.is_contiguous()
    x = torch.randn(7, 6)
    torch.testing.assert_close(model.layer(x), plain(x), rtol=1e-5, atol=1e-6)


def test_a_large_model_s_weights_lie_as_they_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "on_intel", lambda: True)
    for size, first in ((4 * 6 * 5, True), (4 * 6 * 5 - 1, False)):
        monkeypatch.setattr(linear, "SMALL", size)
        model = nn.Sequential(nn.Linear(6, 5, bias=False))
        use_few_rows_linear(model)
        assert next(model.parameters()).is_contiguous() != first


@pytest.mark.usefixtures("one_thread")
@pytest.mark.skipif(not linear.on_intel(), reason="it is Intel's kernels that do that")
@given(rows=st.integers(2, 16), inputs=st.integers(1, 300), outputs=st.integers(2, 300))
def test_with_the_inputs_first_a_row_is_the_same_beside_any_others(
    rows: int, inputs: int, outputs: int
) -> None:
    torch.manual_seed(rows + inputs)
    model = nn.Sequential(nn.Linear(inputs, outputs))
    use_few_rows_linear(model)
    x = torch.randn(16, inputs)
    with torch.inference_mode():
        alone = torch.cat([model(row) for row in x.split(1)])
        assert torch.equal(model(x[:rows]), alone[:rows])
        assert torch.equal(model(x[16 - rows :]), alone[16 - rows :])


@pytest.mark.usefixtures("one_thread", "own_way")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    hidden=st.integers(2, 150),
    inner=st.integers(1, 400),
    vocabulary=st.integers(20, 200),
    heads=st.integers(1, 4),
    width=st.sampled_from([2, 6, 8, 10, 32]),
    small=st.booleans(),
    kind=st.sampled_from(["llama", "qwen3", "gemma3_text", "olmo2"]),
    activation=st.sampled_from(["silu", "gelu_pytorch_tanh", "gelu"]),
)
def test_a_lane_is_the_same_to_the_last_bit_whatever_the_sizes(
    hidden: int, inner: int, vocabulary: int, heads: int, width: int, small: bool, kind: str,
    activation: str,
) -> None:  # fmt: skip
    """Sizes that are no multiple of what a processor computes at once, too."""
    assume(ON_INTEL or heads * width % 4 == 0)
    name = "hidden_activation" if kind == "gemma3_text" else "hidden_act"
    values = {name: activation}
    config = AutoConfig.for_model(
        kind, vocab_size=vocabulary, hidden_size=hidden - hidden % heads + heads,
        intermediate_size=inner, num_hidden_layers=1, num_attention_heads=heads,
        num_key_value_heads=heads, head_dim=width, max_position_embeddings=32, pad_token_id=None,
        bos_token_id=None, eos_token_id=None, initializer_range=0.3, **values,
    )  # fmt: skip
    torch.manual_seed(hidden + inner)
    model = AutoModelForCausalLM.from_config(config).eval()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "SMALL", linear.SMALL if small else -1)
        use_few_rows_linear(model)
    use_row_activations(model)
    info = ModelInfo("odd", "", vocabulary, 32, (), (), False)
    runs = [LocalGeneration(model, info, [[3, 1, 4]] * lanes) for lanes in (1, 2, 3, 4)]
    for lanes, run in enumerate(runs, 1):
        run.advance([5] * lanes)
        others = [7 + lane for lane in range(1, lanes)]
        place = lanes // 2
        logits = run.advance([*others[:place], 6, *others[place:]])
        assert torch.equal(logits[place], runs[0].logits[0])


@pytest.mark.usefixtures("one_thread", "own_way")
@pytest.mark.parametrize("architecture", [a for a in tiny.CONFIGS if a != "gpt2"])
def test_a_lane_is_the_same_to_the_last_bit_beside_any_others(
    architecture: str, load: Callable[[str], LocalModel]
) -> None:
    """In whatever place it stands."""
    model = load(architecture)
    ids = model.encode("Once upon a time")
    runs = [model.start([ids] * lanes) for lanes in (1, 2, 3, 4)]
    for step in range(12):
        for lanes, run in enumerate(runs, 1):
            others = [30 + step * lane for lane in range(1, lanes)]
            place = step % lanes
            # The lane changes places with another one, which was the same until now.
            tokens = [*others[:place], 20 + step, *others[place:]]
            row = run.advance(tokens if step == 11 else [20 + step] * lanes)[place]
            assert torch.equal(row, runs[0].logits[0])
