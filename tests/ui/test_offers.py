"""The list of models: what each needs, and what is said of its fit."""

from __future__ import annotations

import pytest

from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import SettingsError
from xtc_viz.models.catalog import Machine, Precision, catalog
from xtc_viz.models.local.folder.memory import readable
from xtc_viz.models.local.model import LocalModel
from xtc_viz.ui import offers
from xtc_viz.ui.offers import devices, embedded, entries


def test_the_list_begins_with_the_embedded_model_and_grows() -> None:
    found = entries()
    first, *rest = found["models"]
    assert first["id"] == "story-model"
    assert first["here"] == "part of xtc_viz"
    assert first["fit"] == "fits"
    assert [entry["id"] for entry in rest] == [model.id for model in catalog()]
    assert [entry["parameters"] for entry in rest] == sorted(e["parameters"] for e in rest)
    assert next(e for e in rest if "Nemo-Base" in e["id"])["gated"] is None
    assert found["machine"]["memory"].endswith("B")


def test_the_embedded_model_is_counted_right() -> None:
    assert embedded().parameters == LocalModel.load(str(STORY_MODEL)).info.parameters


def test_the_list_follows_precision() -> None:
    for precision in Precision:
        needs = {entry["id"]: entry["need"] for entry in entries(str(precision))["models"]}
        for model in catalog():
            assert needs[model.id] == readable(model.memory_bytes(precision))
    with pytest.raises(SettingsError, match="precision"):
        entries("2bit")
    with pytest.raises(SettingsError, match="device"):
        entries("auto", "cuda:99")
    assert devices()[:2] == ["auto", "cpu"]


def test_what_does_not_fit_is_offered_in_fewer_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 GB: what needs more in 32 bits is offered in 16, what needs more there is not."""
    machine = Machine((), 40 * 10**9, 20 * 10**9)
    monkeypatch.setattr(offers, "this_machine", lambda device: machine)
    found = {entry["id"]: entry for entry in entries()["models"]}
    seen = {
        name: tuple(found[name][key] for key in ("fit", "precision", "need"))
        for name in ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-8B", "Qwen/Qwen3-14B", "Qwen/Qwen3-32B")
    }
    assert seen == {
        "Qwen/Qwen3-0.6B": ("fits", None, "3.7 GB"),
        "Qwen/Qwen3-8B": ("tight", None, "37.4 GB"),
        "Qwen/Qwen3-14B": ("tight", "bfloat16", "33.2 GB"),
        "Qwen/Qwen3-32B": ("no", None, "146.5 GB"),
    }
    forced = {entry["id"]: entry for entry in entries("float32")["models"]}
    assert forced["Qwen/Qwen3-14B"]["fit"] == "no"
    gpu = Machine(("one",), 40 * 10**9, 40 * 10**9)
    monkeypatch.setattr(offers, "this_machine", lambda device: gpu)
    for have, precision in ((True, "8bit"), (False, None)):
        monkeypatch.setattr(offers, "can_quantize", lambda have=have: have)
        found = {entry["id"]: entry for entry in entries()["models"]}
        assert found["Qwen/Qwen3-32B"]["precision"] == precision
        assert (["8bit", "8 bits"] in offers.choices()["precision"]) is have
