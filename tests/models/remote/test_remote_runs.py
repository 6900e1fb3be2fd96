"""Whole runs on a real server, against those of the model of this process."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.models.remote.agreement import LENGTH, PLAIN, XTC, agree, grown, settings
from xtc_viz.lab.cell import cells
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.reading import trace as trace_of
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.records import tracefile
from xtc_viz.records.step import Bound
from xtc_viz.runs import presets
from xtc_viz.runs.jobs import fork, resume, rewrite
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.sampling.whatif import evaluate
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings

pytestmark = [pytest.mark.engines, pytest.mark.slow]


@pytest.mark.parametrize(
    "lanes",
    [
        tuple(lane.sampler for lane in presets.DEFAULT_LANES),
        (PLAIN, XTC),
        (SamplerSettings(top_p=0.95), SamplerSettings(top_k=40, xtc=XTCSettings(1.0, 0.05))),
        (SamplerSettings(temperature=1.3, order=("xtc", "temperature")), XTC),
        (SamplerSettings(temperature=0.0), SamplerSettings(temperature=0.0, xtc=XTC.xtc)),
        (SamplerSettings(min_p=0.05, repetition_penalty=1.0, xtc=XTCSettings(1.0, 0.02)), PLAIN),
    ],
    ids=["the page's", "no cutoff", "cutoffs", "late temperature", "greedy", "low τ"],
)
def test_a_run_is_that_of_this_process(
    remote: RemoteModel, local: LocalModel, lanes: tuple[SamplerSettings, ...]
) -> None:
    total = 0
    for seed in range(2):
        request = Request("Once upon a time", settings(*lanes, seed=seed, length=LENGTH // 2))
        ours, theirs = (record(model, request) for model in (local, remote))
        assert ours.prompt_ids == theirs.prompt_ids
        # Every draw is exact: what was shown was enough, or was asked for again.
        bounds = [step.bound for lane in theirs.lanes for step in lane.steps]
        assert not any(b & (Bound.DRAW | Bound.ELIGIBLE | Bound.TRUNCATION) for b in bounds)
        total += agree(ours, theirs)
    assert total > LENGTH


def test_lanes_alike_stay_alike_until_xtc_parts_them(remote: RemoteModel) -> None:
    trace = record(remote, Request("Once upon a time", settings(XTC, XTC, PLAIN)))
    one, two, plain = (lane.steps for lane in trace.lanes)
    assert list(one) == list(two)
    parted = next((i for i, step in enumerate(one) if step.token != plain[i].token), None)
    assert parted is not None
    assert one[parted].changed


def test_a_lane_is_the_same_whoever_is_beside_it(remote: RemoteModel) -> None:
    alone = record(remote, Request("Once upon a time", settings(XTC)))
    beside = record(remote, Request("Once upon a time", settings(XTC, PLAIN, seed=7)))
    together = agree(alone, replace(beside, lanes=beside.lanes[:1]))
    assert together > 10


def test_runs_go_on_branch_and_are_edited(remote: RemoteModel, local: LocalModel) -> None:
    request = Request("Once upon a time", settings(PLAIN, XTC, length=12))
    traces = []
    for model in (local, remote):
        begun = record(model, request)
        longer = grown(resume(begun, 8), model)
        branched = grown(fork(longer, 1, 5, " dog", model), model)
        text = "".join(step.text for step in branched.lanes[0].steps[:6])
        traces.append(grown(rewrite(branched, 0, f"{text} cat", 5, model), model))
    assert agree(*traces) > 20
    assert traces[1].lanes[2].steps[5].forced


def test_a_trace_is_written_and_read_and_what_if_answers(
    remote: RemoteModel, tmp_path: Path
) -> None:
    trace = record(remote, Request("Once upon a time", settings(XTC)))
    path = tmp_path / "run.json.gz"
    tracefile.save(trace, path)
    read = tracefile.load(path)
    assert tracefile.dumps(read) == tracefile.dumps(trace)
    assert read.model == remote.info
    assert read.model.served
    steps = trace.lanes[0].steps
    sure = evaluate(steps, XTCSettings(1.0, 0.1), 100)
    # With the ρ and τ that were, the what-if is the run.
    same = evaluate(steps, XTC.xtc, 100)
    assert [d.outcome for d in same.decisions] == [step.outcome for step in steps]
    assert sure.exact


def test_a_server_with_fewer_slots_than_rows_answers_all(remote: RemoteModel) -> None:
    names = ("Ann", "Ben", "Cid", "Dan", "Eva")
    prompts = [remote.encode(f"Once upon a time, {name}") for name in names]
    generation = remote.start(prompts)
    singles = [remote.start([prompt]).logits[0] for prompt in prompts]
    for known, single in zip(generation.logits, singles, strict=True):
        assert list(known.ids[:20]) == list(single.ids[:20])


def content(store: Store, names: list[str]) -> dict[str, str]:
    entries = store.entries(names)
    return {name: entries[name].text for name in names}


def test_the_laboratory_runs_on_it(remote: RemoteModel, local: LocalModel, tmp_path: Path) -> None:
    experiment = Experiment(
        "test",
        "story",
        (LaneSettings("plain"), LaneSettings("XTC", XTC)),
        length=12,
        samples=1,
        prompts=3,
    )
    suite = load_suite("story")
    plan = list(cells(experiment, suite, Identity.of(remote)))
    assert not {cell.name for cell in plan} & {
        cell.name for cell in cells(experiment, suite, Identity.of(local))
    }
    with Store(tmp_path / "a.sqlite") as store:
        *_, last = run(experiment, suite, remote, store, rows=4)
        assert (last.done, last.failed, last.failures) == (len(plan), 0, ())
        written = content(store, [cell.name for cell in plan])
        assert len(set(written.values())) > 1
        shown = trace_of(store, plan[0].name)
        assert shown.model == remote.info
        *_, again = run(experiment, suite, remote, store)
        assert (again.written, again.before) == (0, len(plan))


def test_an_identity_is_plain_data(remote: RemoteModel) -> None:
    identity = Identity.of(remote)
    assert (identity.name, identity.dtype) == ("story.gguf", "")
    assert len(identity.weights) == 16
    assert json.dumps(identity.parameters) == "5868800"
