"""A whole run without a page: the page's own trace, and nothing of the page is loaded."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.ui.driven import messages, reports
from xtc_viz.errors import PromptError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.records import tracefile
from xtc_viz.runs import presets
from xtc_viz.runs.jobs import fresh
from xtc_viz.runs.protection import NOTHING, Newlines, Protection
from xtc_viz.runs.record import record, write
from xtc_viz.runs.recorder import Recorder
from xtc_viz.runs.request import Request
from xtc_viz.settings import RunSettings
from xtc_viz.ui.service import Service

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = RunSettings(lanes=(*presets.DEFAULT_LANES, *presets.COMPARATORS[:2]), max_new_tokens=25)


@pytest.mark.parametrize(
    "request_",
    [
        Request("Once upon a time", SETTINGS),
        Request("Once", replace(SETTINGS, seed=3, shared_randomness=False, stop=(" the",))),
        Request("Hi", SETTINGS, Protection(False, Newlines.TOKEN, (" dragons", "zz")), "Be", True),
        Request("Hi", SETTINGS, NOTHING, chat=True, thinking=False),
    ],
    ids=["plain", "own dice", "chat", "nothing protected"],
)
def test_it_is_the_pages_run_of_the_same_request(request_: Request) -> None:
    """And that of a program, to the last byte of the file but for the seconds."""
    data = {
        "prompt": request_.prompt,
        "settings": request_.settings.to_dict(),
        "protect": request_.protection.to_dict(),
        "system": request_.system,
        "chat": request_.chat,
        "thinking": request_.thinking,
    }
    service = Service(ModelHost(FakeModel()))
    *_, last = messages(service, data)
    *_, report = reports(service, Request.parse(data))
    runs = [
        record(FakeModel(), request_),
        service.store.get(last["run"]).trace(),
        tracefile.loads(report["trace"]),
    ]
    alone, shown, returned = (tracefile.dumps(replace(trace, seconds=0.0)) for trace in runs)
    assert alone == shown == returned
    assert all(lane.finish for lane in runs[0].lanes)


def test_a_decode_that_fails_is_closed() -> None:
    model = FakeModel(context_length=40)
    with pytest.raises(PromptError, match="40"):
        record(model, Request("Once upon a time " * 30, SETTINGS))
    assert model.open_generations == 0


def test_closing_it_ends_the_decode_and_keeps_what_was_written() -> None:
    model = FakeModel()
    job = fresh(Request("Once", SETTINGS), model)
    recorder = Recorder(job.begin, job.lanes)
    steps = write(job, recorder, model)
    next(steps), next(steps)
    assert model.open_generations == 1
    steps.close()
    assert model.open_generations == 0
    assert [len(lane.steps) for lane in recorder.trace().lanes] == [2] * 4


def test_neither_gradio_nor_plotly_is_loaded() -> None:
    code = """
import sys
from xtc_viz.models.fake import FakeModel
from xtc_viz.runs import branching, jobs, presets, stats
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
data = {"prompt": "Once", "settings": {"lanes": [{}], "max_new_tokens": 3}}
trace = record(FakeModel(), Request.parse(data))
loaded = {name for name in sys.modules if name.split(".")[0] in ("gradio", "plotly")}
print(len(trace.lanes[0].steps), *loaded, *(n for n in sys.modules if n.startswith("xtc_viz.ui")))
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "3"), run.stderr
