"""What differs in another program is said, each thing once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from xtc_viz.engines.forms import FORMS
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.writing import write
from xtc_viz.settings import LaneSettings, SamplerSettings, Strategy, XTCSettings

XTC = XTCSettings(0.5, 0.1)
LANE = LaneSettings("XTC", SamplerSettings(min_p=0.05, xtc=XTC))


def remarks(form: str, values: dict[str, Any]) -> str:
    own = {name: value for name, value in values.items() if name in XTC.to_dict()}
    stack = {name: value for name, value in values.items() if name not in own}
    lane = LaneSettings("a", SamplerSettings(**stack, xtc=replace(XTC, **own)))
    return "\n".join(write(lane, FORMS[form]).remarks)


def test_flags_of_llama_cpp() -> None:
    assert write(LANE, FORMS["llama.cpp flags"]).text == (
        "--temp 1.0 --top-k 0 --top-p 1.0 --min-p 0.05 --xtc-probability 0.5 --xtc-threshold 0.1\n"
    )


def test_a_request_to_vllm_has_the_plug_in_within() -> None:
    assert write(LANE, FORMS["vLLM request"]).text == (
        '{\n  "temperature": 1.0,\n  "vllm_xargs": {\n    "xtc_probability": 0.5,\n'
        '    "xtc_threshold": 0.1,\n    "xtc_min_p": 0.05\n  }\n}\n'
    )


def test_a_preset_holds_what_is_not_at_its_default_as_the_program_saves_it() -> None:
    lane = LaneSettings("a", SamplerSettings(eta_cutoff=3e-4, dynatemp_range=0.5, xtc=XTC))
    text = write(lane, FORMS["text-generation-webui preset"]).text
    assert yaml.safe_load(text) == {
        "temperature": 1.0, "dynatemp_exponent": 1.0, "xtc_threshold": 0.1,
        "xtc_probability": 0.5, "eta_cutoff": 3.0, "dynatemp_low": 0.5, "dynatemp_high": 1.5,
        "dynamic_temperature": True,
    }  # fmt: skip


def test_python_can_be_run_as_it_is() -> None:
    lane = LaneSettings("a", SamplerSettings(repetition_penalty=1.1, xtc=XTC))
    text = write(lane, FORMS["mlx-lm call"]).text
    heard: dict[str, dict[str, object]] = {}
    calls = {name: lambda name=name, **values: heard.setdefault(name, values)
             for name in ("make_sampler", "make_logits_processors")}  # fmt: skip
    exec(text.partition("\n\n")[2], calls)
    assert heard["make_sampler"] == {"temp": 1.0, "xtc_probability": 0.5, "xtc_threshold": 0.1}
    assert heard["make_logits_processors"]["repetition_context_size"] == 0


@pytest.mark.parametrize(
    ("form", "values", "words"),
    [
        ("llama.cpp flags", {"eta_cutoff": 3e-4}, "Eta cutoff (0.0003) does not exist there"),
        ("koboldcpp request", {"frequency_penalty": 0.2}, "Frequency penalty (0.2) does not"),
        ("TabbyAPI request", {"typical_p": 0.9}, "Typical-p (0.9) does not exist there"),
        ("TabbyAPI request", {"temperature": 20.0}, "It takes no `temperature` above 10"),
        ("aphrodite request", {"repetition_penalty": 0.9}, "`repetition_penalty` below 1"),
        ("mlx-lm call", {"tau": 0.6}, "It takes no `xtc_threshold` above 0.5, and this is 0.6."),
        ("llama.cpp flags", {"tau": 0.6}, "Above a τ of 0.5 XTC does nothing there."),
        ("llama.cpp flags", {}, "It protects no tokens"),
        ("mlx-lm call", {}, "exactly τ is not eligible there"),
        ("mlx-lm call", {}, "Equally probable least tokens are all kept there."),
        ("mlx-lm call", {"temperature": 1.2}, "The stages act in another order there: XTC, Temp"),
        ("mlx-lm call", {"protected": [2]}, "ids are those of this model's vocabulary"),
        ("mlx-lm request", {"temperature": 0.0}, "At temperature 0 XTC does not act there."),
        ("TabbyAPI request", {}, "No coin is tossed there"),
        ("text-generation-webui preset", {}, "Protected there: the last token of an encoded"),
        ("SillyTavern preset", {"protected": [2]}, "Protected tokens cannot be said there"),
        ("vLLM request", {"protected": list(range(300))}, "It takes at most 256 protected tokens"),
        ("koboldcpp request", {"strategy": Strategy.DROP_TOP}, "XTC always keeps the least"),
        ("text-generation-webui request",
         {"repetition_penalty": 1.1, "penalty_window": 64, "dry_multiplier": 0.8, "dry_window": 99},
         "DRY window is 99 here and 64 there."),
    ],
)  # fmt: skip
def test_what_differs_is_said(form: str, values: dict[str, Any], words: str) -> None:
    said = remarks(form, values)
    assert said.count(words) == 1, said


def test_a_lane_in_the_rule_of_the_program_has_nothing_to_be_said() -> None:
    xtc = replace(XTC, dialect=ENGINES["llama.cpp"].dialect)
    lane = LaneSettings("a", SamplerSettings(min_p=0.05, xtc=xtc))
    assert write(lane, FORMS["llama.cpp request"]).remarks == ()
    off = LaneSettings("a", SamplerSettings(min_p=0.05))
    assert write(off, FORMS["llama.cpp request"]).remarks == ()
