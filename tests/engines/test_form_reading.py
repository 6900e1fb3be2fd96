"""Settings as programs write them, and texts that nobody should have written."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.engines.forms import FORMS
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.reader import MOST_NAMED
from xtc_viz.engines.reading import read
from xtc_viz.engines.syntax import BRACKETS, LONGEST, LONGEST_YAML
from xtc_viz.errors import FormError, SettingsError, XTCVizError
from xtc_viz.sampling.dialect import PAPER
from xtc_viz.settings import ORDER, TEMPERATURE, XTC, LaneSettings, SamplerSettings, in_order

# What SillyTavern saves, in its shape: every field, whatever its value, and four orders.
SILLYTAVERN: dict[str, Any] = {
    "temp": 1.15, "temperature_last": True, "top_p": 1, "top_k": 0, "top_a": 0, "tfs": 1,
    "epsilon_cutoff": 0, "eta_cutoff": 3, "typical_p": 1, "min_p": 0.02, "rep_pen": 1.05,
    "rep_pen_range": 2048, "rep_pen_decay": 0, "rep_pen_slope": 1, "no_repeat_ngram_size": 0,
    "penalty_alpha": 0, "num_beams": 1, "length_penalty": 1, "min_length": 0, "encoder_rep_pen": 1,
    "freq_pen": 0, "presence_pen": 0.1, "skew": 0, "do_sample": True, "early_stopping": False,
    "dynatemp": False, "min_temp": 0, "max_temp": 2, "dynatemp_exponent": 1, "smoothing_factor": 0,
    "smoothing_curve": 1, "dry_allowed_length": 3, "dry_multiplier": 0.8, "dry_base": 1.75,
    "dry_sequence_breakers": '["\\n", ":", "\\"", "*"]', "dry_penalty_last_n": 0,
    "add_bos_token": True, "ban_eos_token": False, "skip_special_tokens": True, "mirostat_mode": 0,
    "mirostat_tau": 5, "mirostat_eta": 0.1, "guidance_scale": 1, "negative_prompt": "",
    "grammar_string": "", "json_schema": None, "banned_tokens": "", "ignore_eos_token": False,
    "spaces_between_special_tokens": True, "speculative_ngram": False,
    "sampler_priority": [
        "repetition_penalty", "presence_penalty", "frequency_penalty", "dry", "temperature",
        "dynamic_temperature", "quadratic_sampling", "top_n_sigma", "top_k", "top_p", "typical_p",
        "epsilon_cutoff", "eta_cutoff", "tfs", "top_a", "min_p", "mirostat", "xtc",
        "encoder_repetition_penalty", "no_repeat_ngram",
    ],
    "samplers": ["penalties", "dry", "top_n_sigma", "top_k", "typ_p", "tfs_z", "xtc", "min_p",
                 "temperature"],
    "sampler_order": [6, 0, 1, 3, 4, 2, 5], "logit_bias": [], "xtc_threshold": 0.1,
    "xtc_probability": 0.5, "nsigma": 0, "min_keep": 0, "rep_pen_size": 0,
    "adaptive_target": -0.01, "adaptive_decay": 0.9, "genamt": 350, "max_length": 8192,
}  # fmt: skip
# A preset of text-generation-webui as PyYAML writes it: only what is not at its default.
TEXTGEN = """\
temperature: 1.3
dynatemp_low: 0.5
dynatemp_high: 1.5
xtc_probability: 0.5
min_p: 0.02
epsilon_cutoff: 3
dry_multiplier: 0.8
repetition_penalty: 1.05
dynamic_temperature: true
temperature_last: true
sampler_priority: 'repetition_penalty

  dry

  top_k

  xtc

  min_p

  temperature

  dynamic_temperature'
"""
KOBOLD = {
    "n": 1, "max_context_length": 8192, "max_length": 240, "rep_pen": 1.07, "temperature": 0.8,
    "top_p": 1, "top_k": 0, "top_a": 0, "typical": 1, "tfs": 1, "rep_pen_range": 360,
    "rep_pen_slope": 0.7, "sampler_order": [6, 5, 0, 1, 3, 4, 2], "memory": "", "trim_stop": True,
    "genkey": "KCPP1234", "min_p": 0.1, "dynatemp_range": 0.3, "dynatemp_exponent": 1,
    "smoothing_factor": 0, "nsigma": 1.5, "banned_tokens": [], "render_special": False,
    "presence_penalty": 0, "logit_bias": {}, "prompt": "Once", "quiet": True,
    "stop_sequence": ["User:"], "use_default_badwordsids": False, "bypass_eos": False,
    "xtc_threshold": 0.15, "xtc_probability": 0.4,
}  # fmt: skip
TABBY = """\
# Sampler overrides
max_tokens:
  override: 300
  force: false
temperature:
  override: 1.4
  force: true
temperature_last:
  override: true
  force: false
penalty_range:
  override: -1
  force: false
repetition_penalty:
  override: 1.1
  force: false
xtc_probability:
  override: 0.5
  force: false
stop:
  override: []
  force: false
  additive: true
"""


def sampler(text: object, form: str | None = None) -> SamplerSettings:
    return read(text if isinstance(text, str) else json.dumps(text), form).lane.sampler


def test_a_preset_of_sillytavern() -> None:
    reading = read(json.dumps(SILLYTAVERN, indent=4))
    assert reading.form == FORMS["SillyTavern preset"]
    assert (reading.problems, reading.others, reading.assumed) == ((), (), ())
    lane = reading.lane.sampler
    assert (lane.temperature, lane.min_p, lane.eta_cutoff) == (1.15, 0.02, 0.0003)
    assert (lane.repetition_penalty, lane.penalty_window, lane.presence_penalty) == (
        1.05,
        2048,
        0.1,
    )
    assert (lane.dry_multiplier, lane.dry_allowed_length, lane.dynatemp_range) == (0.8, 3, 0.0)
    assert (lane.xtc.rho, lane.xtc.tau, lane.xtc.dialect) == (0.5, 0.1, PAPER)
    assert lane.order[-2:] == (XTC, TEMPERATURE)
    assert "genamt" in reading.left


def test_a_preset_of_text_generation_webui() -> None:
    reading = read(TEXTGEN)
    assert reading.form == FORMS["text-generation-webui preset"]
    lane = reading.lane.sampler
    # Its dynamic temperature stands in place of the temperature.
    assert (lane.temperature, lane.dynatemp_range) == (1.0, 0.5)
    assert lane.epsilon_cutoff == 0.0003
    # DRY looks as far back as the repetition penalty does.
    assert (lane.penalty_window, lane.dry_window) == (1024, 1024)
    assert lane.order.index(XTC) < lane.order.index("min_p") < lane.order.index(TEMPERATURE)
    assert lane.xtc.dialect == ENGINES["text-generation-webui"].dialect
    assert [one.name for one in reading.assumed] == ["repetition_penalty_range"]
    assert reading.problems == ()


def test_a_request_to_koboldcpp() -> None:
    reading = read(json.dumps(KOBOLD))
    assert reading.form == FORMS["koboldcpp request"]
    lane = reading.lane.sampler
    assert (lane.temperature, lane.dynatemp_range, lane.top_n_sigma) == (0.8, 0.3, 1.5)
    assert (lane.repetition_penalty, lane.penalty_window, lane.min_p) == (1.07, 360, 0.1)
    assert (lane.xtc.rho, lane.xtc.tau) == (0.4, 0.15)
    assert lane.order.index(TEMPERATURE) < lane.order.index("top_k")
    assert lane.order.index("min_p") < lane.order.index("top_n_sigma") < lane.order.index(XTC)
    assert reading.problems == ("`rep_pen_slope` is 0.7 there, and nothing here does that.",)
    assert {"prompt", "stop_sequence", "memory"} <= set(reading.left)


def test_overrides_of_tabbyapi() -> None:
    reading = read(TABBY)
    assert reading.form == FORMS["TabbyAPI overrides"]
    lane = reading.lane.sampler
    assert (lane.temperature, lane.repetition_penalty, lane.penalty_window) == (1.4, 1.1, 0)
    # Even the last temperature acts before XTC there.
    assert lane.order.index("min_p") < lane.order.index(TEMPERATURE) < lane.order.index(XTC)
    assert reading.problems == ()


def test_flags_of_llama_cpp() -> None:
    text = 'llama-server -m m.gguf \\\n  --temp 1.1 --xtc-probability=0.5 --samplers "xtc;top-k"'
    reading = read(text)
    lane = reading.lane.sampler
    assert reading.form == FORMS["llama.cpp flags"]
    assert (lane.top_k, lane.xtc.rho, lane.temperature) == (40, 0.5, 1.0)
    assert lane.order.index(XTC) < lane.order.index("top_k")
    # A sampler that the list leaves out never acts, whatever its number is.
    out = [one for one in reading.problems if one.endswith("out, so that it never acts.")]
    assert len(out) == len(reading.problems) == 3
    assert (lane.top_p, lane.min_p) == (1.0, 0.0)
    assert [one.name for one in reading.assumed] == ["--top-k"]
    assert reading.left == ("-m",)


def test_a_window_of_0_is_off_in_llama_cpp_and_one_of_minus_1_is_all() -> None:
    penalty = "--repeat-penalty 1.2 --repeat-last-n"
    assert sampler(f"{penalty} 0").repetition_penalty == 1.0
    assert read(f"{penalty} 0").problems == (
        "`--repeat-last-n` of 0 switches Repetition penalty off there.",
    )
    assert sampler(f"{penalty} -1").penalty_window == 0
    assert sampler(f"{penalty} 32").penalty_window == 32


def test_calls_in_python_are_read_and_never_run() -> None:
    text = (
        "import os\n"
        "s = sample_utils.make_sampler(0.7, min_p=0.1, xtc_probability=0.5,\n"
        "    xtc_threshold=0.2, xtc_special_tokens=[2, *others], top_k=os.abort())\n"
        "p = make_logits_processors(repetition_penalty=1.1, repetition_context_size=30)\n"
    )
    reading = read(text)
    lane = reading.lane.sampler
    assert (lane.temperature, lane.min_p, lane.xtc.tau) == (0.7, 0.1, 0.2)
    assert (lane.repetition_penalty, lane.penalty_window) == (1.1, 30)
    assert lane.xtc.dialect == ENGINES["mlx-lm"].dialect
    assert any("`top_k`" in words and "an expression" in words for words in reading.problems)
    assert any("`xtc_special_tokens`" in words for words in reading.problems)


def test_a_request_to_vllm_by_curl() -> None:
    body = {
        "model": "m", "prompt": "Once", "temperature": 0.9, "top_k": 40, "xtc_probability": 1,
        "vllm_xargs": {"xtc_probability": 0.5, "xtc_min_p": 0.05, "xtc_seed": 7},
    }  # fmt: skip
    reading = read(f"curl http://127.0.0.1:8000/v1/completions -d '{json.dumps(body)}'")
    lane = reading.lane.sampler
    assert reading.form == FORMS["vLLM request"]
    assert (lane.temperature, lane.min_p, lane.xtc.rho, lane.xtc.tau) == (0.9, 0.05, 0.5, 0.1)
    assert any("`top_k`" in words for words in reading.problems)
    assert any("outside vllm_xargs" in words for words in reading.problems)


def test_a_call_of_transformers() -> None:
    text = 'model.generate(**inputs, custom_generate="x", xtc_probability=1.0, top_k=0, min_p=.1)'
    reading = read(text)
    assert reading.form == FORMS["transformers call"]
    assert (reading.lane.sampler.xtc.rho, reading.lane.sampler.min_p) == (1.0, 0.1)


def test_names_that_several_programs_share_say_nothing_of_the_rule() -> None:
    reading = read('{"temperature": 0.9, "xtc_probability": 0.5, "xtc_threshold": 0.2}')
    lane = reading.lane.sampler
    assert {"koboldcpp request", "TabbyAPI request"} <= set(reading.others)
    assert "vLLM request" not in reading.others
    assert (lane.xtc.dialect, lane.order, lane.top_k, reading.assumed) == (PAPER, ORDER, 0, ())
    told = read('{"temperature": 0.9, "xtc_probability": 0.5}', "koboldcpp request")
    assert told.lane.sampler.xtc.dialect == ENGINES["koboldcpp"].dialect
    assert [one.name for one in told.assumed] == ["top_k", "top_p", "xtc_threshold"]


def test_a_lane_of_our_own_is_read_too() -> None:
    lane = LaneSettings("mine", SamplerSettings(min_p=0.1, order=in_order(TEMPERATURE)))
    assert read(json.dumps(lane.to_dict())).lane == lane
    with pytest.raises(SettingsError, match="`min_p` must be in"):
        read('{"name": "a", "sampler": {"min_p": 7}}')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"temp": 500, "rep_pen": 1}', "`temp` must be in [0, 100], but is 500. Temperature is 1"),
        ('{"temp": 1e-5, "rep_pen": 1}', "`temp` must be 0 or at least 0.01"),
        ('{"temp": 1, "eta_cutoff": 20000}', "`eta_cutoff` must be in [0, 10000), but is 20000"),
        ('{"temp": 1, "xtc_probability": 0.5, "xtc_threshold": 0}', "must be in (0, 1), but is 0"),
        ('{"temp": true, "rep_pen": 1}', "`temp` must be in [0, 100], but is true"),
        ('{"temp": 1, "mirostat_mode": 2}', "`mirostat_mode` is 2 there, and nothing here"),
        ('{"temp": 1, "warmth": 2}', "`warmth` is not known as a setting there"),
        ("--temp x --top-k 1", "`--temp` must be in [0, 100], but is 'x'"),
        ('{"rep_pen": 1, "sampler_order": [9, {}]}', "`sampler_order` names 9, which is not known"),
        ('{"temperature": 1, "typical": 0.9, "penalty_range": 5}', "Typical-p does nothing there"),
        ("make_sampler(temp=1, xtc_special_tokens=[-1])", "each an integer >= 0, but is -1"),
    ],
)
def test_what_is_not_understood_is_named(text: str, words: str) -> None:
    problems = read(text).problems
    assert any(words in problem for problem in problems), problems


def test_a_threshold_does_not_matter_where_xtc_is_off() -> None:
    assert read('{"temp": 1, "xtc_threshold": 0, "xtc_probability": 0}').problems == ()


def test_many_unknown_names_are_counted() -> None:
    names = {f"x{i}": i for i in range(500)} | {"temp": 1}
    problems = read(json.dumps(names)).problems
    assert len(problems) == MOST_NAMED + 1
    assert problems[-1] == "And 480 more."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing in this text"),
        ("hello there", "no named values"),
        ("[1, 2]", "no named values"),
        ('{"a": 1}', "No name in this text"),
        ('{"temp": ', "no JSON: Expecting value (line 1, column 9)"),
        ('{"top_k": ' + "9" * 5000 + "}", "a number is too long"),
        ("[" * 50_000, "too deep"),
        ('{"a":' * 15_000, "too deep"),
        ("make_sampler(temp=" + "-" * 50_000 + "1)", "too deep"),
        ("make_sampler(temp=" + "1+" * 40_000 + "1)", "too deep"),
        ("make_sampler(temp=b" + ".c" * 40_000 + ")", "too deep"),
        ("make_sampler(" + "(" * 5000, "no Python"),
        ("make_sampler(temp=1", "no Python (line 1)"),
        ("make_sampler(\0)", "no Python"),
        ("--temp '1", "no command line"),
        ("curl http://x --data", "no -d"),
        ("a: &a [x, x]\nb: &b [*a, *a]\ntemperature: 1", "without aliases"),
        ("a: " + "[" * (BRACKETS + 1), "brackets"),
        ("a: 1\n" * LONGEST_YAML, "YAML is read up to"),
        ("a: !!python/object/apply:os.system ['id']", "no YAML"),
        ("temperature: 2001-99-99", "no YAML"),
        ("? [a]\n: 1", "no YAML"),
        ("a: b: c", "no YAML: mapping values are not allowed here (line 1)"),
        (" " * (LONGEST + 1), f"at most {LONGEST:,} characters"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(FormError) as caught:
        read(text)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_form_must_fit_its_text() -> None:
    with pytest.raises(FormError, match="This text is FLAGS, and mlx-lm: Python is PYTHON"):
        read("--temp 1", "mlx-lm call")
    with pytest.raises(SettingsError, match=r"`form` must be one of llama\.cpp flags"):
        read("--temp 1", "llama")
    with pytest.raises(FormError):
        read(5)


names = st.sampled_from(sorted({name for form in FORMS.values() for name in form.names}))
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(names, junk, max_size=8), st.sampled_from([None, *FORMS]))
def test_whatever_stands_in_a_request_comes_to_a_lane_or_to_an_error(
    raw: dict[str, Any], form: str | None
) -> None:
    try:
        reading = read(json.dumps(raw), form)
    except XTCVizError:
        return
    assert LaneSettings.from_dict(reading.lane.to_dict()) == reading.lane


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200) | st.builds("--temp {} --x{}".format, st.text(), st.text()))
def test_any_text_comes_to_a_lane_or_to_an_error(text: str) -> None:
    with suppress(XTCVizError):
        assert read(text).form is not None
