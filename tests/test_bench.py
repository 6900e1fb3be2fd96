"""Benchmarks of a GPU and of rows, run through on the CPU with a tiny model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, Qwen3Config

from bench import __main__ as bench
from bench import gpu, lab, metrics, rows
from bench.models import as_local
from bench.timing import Result, cold
from tests.ui.factories import decode
from xtc_viz.lab.generation import Generation
from xtc_viz.models.fake import FakeModel

CPU = torch.device("cpu")
TINY = Qwen3Config(
    vocab_size=512, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, head_dim=8, max_position_embeddings=96,
    bos_token_id=None, eos_token_id=None,
)  # fmt: skip


def test_lanes_and_generate_on_a_tiny_model() -> None:
    batch, runs = gpu.decoding(CPU, "tiny", TINY, tokens=3, rounds=1)
    assert batch.what == (
        "CPU, tiny bfloat16, two lanes without graphs: as fast as generate with batch 2"
    )
    assert runs.what.endswith("faster than two runs of generate")
    assert (batch.at_least, runs.at_least) == (1.0, 1.9)
    assert batch.value > 0
    assert runs.value > 0


def test_rows_and_generate_on_a_tiny_model() -> None:
    config = copy.deepcopy(TINY)
    config.max_position_embeddings = 256
    plain = AutoModelForCausalLM.from_config(config).eval()
    model = as_local(plain, "tiny")
    few = [replace(row, max_new_tokens=3) for row in rows.story_rows(model)[:3]]
    speed, kept = rows.compare("tiny", model, plain, few, rounds=1)
    assert speed.what == "rows, tiny, 3 prompts, 16 at once: faster than generate one by one"
    assert (speed.at_least, kept.at_most) == (5, 10)
    assert speed.value > 0


def test_the_metrics_of_a_small_group() -> None:
    trace, _ = decode(length=20)
    group = [
        Generation("p", "xtc", 0, number, lane.text, steps=lane.steps)
        for number, lane in enumerate(trace.lanes)
    ]
    results = metrics.compare(group, rounds=1)
    assert results[0].what == "11 lexical metrics, 2 generations × 20 tokens"
    assert [result.at_most for result in results] == [10, None, None, None, None]
    assert all(result.value > 0 for result in results)


def test_the_rows_of_the_story_model_differ_in_prompt_seed_and_length() -> None:
    made = rows.story_rows(FakeModel())
    assert len(made) == 24
    assert len({row.prompt_ids for row in made}) == len({row.seed for row in made}) == 24
    lengths = [row.max_new_tokens for row in made]
    assert min(lengths) == rows.SHORTEST
    assert len(set(lengths)) == 24
    assert max(lengths) < rows.SHORTEST + rows.SPREAD


def test_the_operator_on_few_tokens() -> None:
    result = gpu.operator(CPU, 512, rounds=1)
    assert result.at_most == 3
    assert result.value > 0


def test_cold_takes_the_median_of_single_calls() -> None:
    now = 0.0

    def case(times: list[float]) -> Callable[[int], None]:
        def run(number: int) -> None:
            nonlocal now
            now += times[number]

        return run

    first_rounds = [90.0, 80.0]  # these warm up
    cases = {
        "steady": case([*first_rounds, 1.0, 2.0, 9.0]),
        "falling": case([*first_rounds, 5.0, 4.0, 3.0]),
    }
    assert cold(cases, rounds=3, clock=lambda: now) == {"steady": 2.0, "falling": 4.0}


def test_the_configs_are_of_the_sizes_that_they_are_called() -> None:
    sizes = {}
    for name, config in gpu.CONFIGS.items():
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
        embedding = model.get_input_embeddings().weight
        assert len(embedding) == gpu.VOCAB_SIZE
        sizes[name] = sum(p.numel() for p in model.parameters())
    # The first has three times the vocabulary of the model that it is called after.
    assert {name: round(size / 1e8) for name, size in sizes.items()} == {
        "135M": 2, "1.5B": 15, "8B": 82,
    }  # fmt: skip


@pytest.mark.skipif(torch.cuda.is_available(), reason="measures where it can")
def test_without_a_gpu_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.measure() == []
    assert "no CUDA device is at hand" in capsys.readouterr().err


def test_what_is_measured_anew_leaves_the_rest_and_its_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, readme = tmp_path / "results.json", tmp_path / "README.md"
    monkeypatch.setattr(bench, "RESULTS", results)
    monkeypatch.setattr(bench, "README", readme)
    readme.write_text("<!-- bench -->\n<!-- /bench -->\n", encoding="utf-8")
    on_cpu, on_gpu = Result("softmax", 1.0, "ms"), Result("A GPU, 8B", 2.0, "×")
    monkeypatch.setattr(bench, "machine", lambda: "a CPU")
    bench.keep({"operator": [on_cpu]})
    monkeypatch.setattr(bench, "machine", lambda: "another CPU, beside a GPU")
    bench.keep({"gpu": [on_gpu]})
    bench.keep({"gpu": []})
    assert bench.stored() == {
        "operator": ("a CPU", [on_cpu]),
        "gpu": ("another CPU, beside a GPU", [on_gpu]),
    }
    text = readme.read_text(encoding="utf-8")
    first, second = text.split("Measured on ")[1:]
    assert first.startswith("a CPU.\n\n|")
    assert "softmax" in first
    assert second.startswith("another CPU, beside a GPU.\n\n|")
    assert "A GPU, 8B" in second
    bench.keep({"operator": [on_cpu]})
    assert readme.read_text(encoding="utf-8").count("Measured on ") == 1


def test_a_run_and_generate_on_a_tiny_model() -> None:
    config = copy.deepcopy(TINY)
    config.max_position_embeddings = 256
    plain = AutoModelForCausalLM.from_config(config).eval()
    few = replace(lab.ONE, prompts=3, length=3)
    speed = lab.generation(as_local(plain, "tiny"), plain, few, rounds=1)
    assert speed.what.startswith("lab, story model, 3 cells, 16 rows")
    assert speed.at_least == 5
    assert speed.value > 0


def test_storing_a_few_cells() -> None:
    stored, opened = lab.storing(100)
    assert (stored.at_least, stored.unit, opened.at_most, opened.unit) == (2000, "/s", 1, "s")
    assert stored.value > 0
    assert opened.value > 0
