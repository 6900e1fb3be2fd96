"""`python app.py` as a process of its own, as a host starts it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from gradio_client import Client

from tests.process import served
from xtc_viz.records import tracefile

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.story_model
def test_the_process_answers_and_completes_a_run() -> None:
    """`python app.py`, nothing else: the embedded model loads by itself and writes."""
    with served([sys.executable, "app.py"], ROOT) as page:
        client = Client(page.url, verbose=False)
        *_, last = client.submit("Once upon a time", max_new_tokens=5, api_name="/generate")
        trace = tracefile.loads(last["trace"])
        assert [len(lane.steps) for lane in trace.lanes] == [5, 5]
        assert trace.model.name == "story-model"
