"""The entry: its flags, their environment variables, and the process as a host starts it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import torch
from gradio_client import Client

import app
from tests.process import served
from xtc_viz.models.local.model import leave_a_core
from xtc_viz.records import tracefile

ROOT = Path(app.__file__).parent


def test_defaults(monkeypatch):
    for name in list(os.environ):
        if name.startswith("XTC_VIZ_"):
            monkeypatch.delenv(name)
    options = app.parser().parse_args([])
    assert options.model == str(app.STORY_MODEL)
    assert (options.host, options.port, options.share) == (None, None, False)
    assert (options.device, options.dtype, options.quantization) == ("auto", "auto", "none")


def test_a_flag_goes_before_its_environment_variable(monkeypatch):
    monkeypatch.setenv("XTC_VIZ_PORT", "8001")
    monkeypatch.setenv("XTC_VIZ_IDLE_MINUTES", "2.5")
    assert app.parser().parse_args([]).port == 8001
    assert app.parser().parse_args(["--port", "8002"]).port == 8002
    assert app.parser().parse_args([]).idle_minutes == 2.5


def test_a_variable_of_the_wrong_kind_is_refused(monkeypatch, capsys):
    monkeypatch.setenv("XTC_VIZ_PORT", "many")
    with pytest.raises(SystemExit):
        app.parser().parse_args([])
    assert "argument --port: invalid int value: 'many'" in capsys.readouterr().err


def test_visitors_may_choose_on_a_page_of_ones_own_only(monkeypatch):
    """The flag as `main` reads it, up to the page that is built."""
    built = []

    class Page:
        def launch(self, **_):
            pass

    monkeypatch.setattr(app, "build", lambda host, may, limits: built.append(may) or Page())
    monkeypatch.setattr(app, "leave_a_core", lambda: None)
    public = ["--host", "0.0.0.0"]
    for flags in ([], public, [*public, "--models", "catalog"], ["--root-path", "/xtc"]):
        app.main(["--model", "fake", *flags])
    monkeypatch.setenv("XTC_VIZ_MODELS", "fixed")
    app.main(["--model", "fake"])
    assert [str(may) for may in built] == ["own", "fixed", "catalog", "fixed", "fixed"]


def test_a_word_that_is_no_choice_is_refused(monkeypatch, capsys):
    monkeypatch.setenv("XTC_VIZ_MODELS", "some")
    with pytest.raises(SystemExit):
        app.parser().parse_args([])
    assert "must be one of own, all, catalog, fixed, but is 'some'" in capsys.readouterr().err


def test_help_names_every_variable():
    text = app.parser().format_help()
    flags = set(re.findall(r"--([a-z-]+)", text)) - {"help", "share"}
    variables = set(re.findall(r"XTC_VIZ_\w+", text))
    assert {"XTC_VIZ_" + flag.upper().replace("-", "_") for flag in flags} == variables


def test_one_core_stays_free_unless_the_environment_decides(monkeypatch):
    before = torch.get_num_threads()
    try:
        monkeypatch.setattr(os, "cpu_count", lambda: 3)
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        torch.set_num_threads(1)
        leave_a_core()
        assert torch.get_num_threads() == 1
        monkeypatch.delenv("OMP_NUM_THREADS")
        leave_a_core()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.story_model
def test_the_process_answers_and_completes_a_run():
    """`python app.py`, nothing else: the embedded model loads by itself and writes."""
    with served(ROOT) as page:
        client = Client(page.url, verbose=False)
        *_, last = client.submit("Once upon a time", max_new_tokens=5, api_name="/generate")
        trace = tracefile.loads(last["trace"])
        assert [len(lane.steps) for lane in trace.lanes] == [5, 5]
        assert trace.model.name == "story-model"
