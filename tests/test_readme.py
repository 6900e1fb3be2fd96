"""What the README promises: its snippet runs, its links and files exist."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from transformers import LlamaConfig, LlamaForCausalLM

from bench.__main__ import shown, stored

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    """A random model with a vocabulary so small that all of it clears τ = 0.1 now and then."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=8, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, bos_token_id=None, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    model: LlamaForCausalLM = LlamaForCausalLM(config).eval()
    return model


def run_snippet(model: LlamaForCausalLM, inputs: dict[str, torch.Tensor]) -> dict[str, Any]:
    snippet, _ = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {"model": model, "inputs": inputs}
    torch.manual_seed(3)
    exec(compile(snippet, "README.md", "exec"), names)
    return names


def test_the_library_use(model: Any) -> None:
    ids = torch.tensor([[1, 2], [3, 4]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    output = run_snippet(model, inputs)["output"]
    assert output.shape == (2, 42)
    assert output[:, :2].equal(ids)
    assert output.equal(run_snippet(model, inputs)["output"])  # the generator's seed decides
    torch.manual_seed(3)
    plain = model.generate(**inputs, do_sample=True, max_new_tokens=40)
    assert not output.equal(plain)


def test_the_case_is_what_was_measured() -> None:
    case = json.loads((ROOT / "assets" / "case.json").read_text(encoding="utf-8"))
    text = README.partition("<!-- case -->")[2].partition("<!-- /case -->")[0]
    numbers = [[float(n) for n in re.findall(r"[\d.]+", row)] for row in text.split("\n")[3:-1]]
    for row, sampler in zip(numbers, case["samplers"], strict=True):
        parts = [
            (sampler["distinct2"], 1),
            (sampler["repeated3"], 100),
            (sampler["improbable"], 100),
        ]
        expected = [scale * part[end] for part, scale in parts for end in ("value", "low", "high")]
        named = len(re.findall(r"[\d.]+", sampler["name"]))
        assert row[named:] == pytest.approx(expected, abs=0.051)


@pytest.mark.story_model
def test_a_run_without_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, snippet = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    exec(snippet, names)
    baseline, xtc = names["trace"].lanes
    assert 0 < len(baseline.steps) <= 160
    assert any(step.changed for step in xtc.steps)


# https://huggingface.co/docs/hub/spaces-config-reference
SPACE_KEYS = {
    *("title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "python_version"),
    *("app_file", "app_port", "base_path", "fullWidth", "header", "short_description", "license"),
    *("models", "datasets", "tags", "thumbnail", "pinned", "preload_from_hub", "disable_embedding"),
    *("suggested_hardware", "suggested_storage", "startup_duration_timeout", "custom_headers"),
    *("hf_oauth", "hf_oauth_scopes", "hf_oauth_expiration_minutes"),
}
SPACE_COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def head() -> dict[str, Any]:
    """What the README's head tells a Space."""
    found: dict[str, Any] = yaml.safe_load(README.split("---\n")[1])
    return found


def test_the_head_holds_what_a_space_knows() -> None:
    assert README.startswith("---\n")
    assert set(head()) <= SPACE_KEYS
    assert {"title", "emoji", "colorFrom", "colorTo", "sdk", "license"} <= set(head())
    assert {head()["colorFrom"], head()["colorTo"]} <= SPACE_COLOURS
    assert head()["title"] == "xtc_viz"
    assert len(head()["emoji"]) == 1
    assert unicodedata.category(head()["emoji"]) == "So"
    assert 0 < len(head()["short_description"]) <= 60  # the hub's own limit
    assert re.fullmatch(r"[1-9]\d*[mh]", head()["startup_duration_timeout"])


def test_the_head_names_versions_that_the_app_is_made_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert head()["license"] == project["license"].lower()
    assert (ROOT / head()["app_file"]).exists()
    assert head()["sdk"] == "gradio"
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    ranges = {r.name: r.specifier for r in map(Requirement, filter(_is_requirement, lines))}
    assert head()["sdk_version"] in ranges["gradio"]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert f"gradio=={head()['sdk_version']}" in pins
    # ZeroGPU has 3.10.13 and 3.12.12 only, other Spaces any; unquoted, 3.10 would be 3.1.
    assert isinstance(head()["python_version"], str)
    assert head()["python_version"] in SpecifierSet(project["requires-python"])
    assert head()["python_version"] == "3.12.12"
    # The platform brings its own package, and asks for no other build of torch.
    assert "spaces" not in ranges
    assert not any(line.startswith("--") for line in lines)


def _is_requirement(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def test_the_figures_are_those_that_were_measured() -> None:
    assert f"<!-- bench -->\n{shown(stored())}<!-- /bench -->" in README


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert "LICENSE" in targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_annotated_files_exist() -> None:
    (listing,) = re.findall(r"## The files\n\n```\n(.*?)```", README, re.DOTALL)
    folders: list[tuple[int, str]] = []
    missing = []
    for line in listing.splitlines():
        indent = len(line) - len(line.lstrip())
        name = line.split()[0]
        folders = [(depth, folder) for depth, folder in folders if depth < indent]
        path = ROOT.joinpath(*(folder for _, folder in folders), name)
        if not path.exists():
            missing.append(str(path.relative_to(ROOT)))
        if name.endswith("/"):
            folders.append((indent, name))
    assert missing == []
