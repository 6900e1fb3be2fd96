"""The story model in a real vLLM against the same model in this process: `make test-vllm`.

One server shows every token that it is asked for, the other one 20, as vLLM does where nobody says
otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch

from tests.models import tiny
from tests.models.remote.agreement import DECIDED, PLAIN, XTC, agree, grown, settings
from tests.models.remote.llama import ANSWERS
from tests.models.remote.test_remote import log_probs, whole
from tests.models.remote.test_remote_page import Desk
from tests.vllmserver import PYTHON, serving_vllm
from xtc_viz.assets import STORY_MODEL
from xtc_viz.audit.command import FAILED
from xtc_viz.audit.command import main as audit
from xtc_viz.errors import LaneError, PromptError, ServerError
from xtc_viz.lab.cell import cells
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.runner import run
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.remote.model import FACTOR, FIRST, RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.records import tracefile
from xtc_viz.records.step import Bound
from xtc_viz.records.trace import FinishReason
from xtc_viz.runs import presets
from xtc_viz.runs.jobs import fork, resume
from xtc_viz.runs.protection import Protection
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.rule import Outcome
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.whatif import evaluate
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings
from xtc_viz.ui.servers import Servers

pytestmark = pytest.mark.vllm

STORY = "Once upon a time, there was a girl named Lily. She had a red ball. One day,"
CAP = 20
BASE = tuple(lane.sampler for lane in presets.DEFAULT_LANES)


CHAT = """{% for turn in messages %}{{ turn.role }}: {{ turn.content }}
{% endfor %}{% if enable_thinking is defined and not enable_thinking %}At once: {% endif %}"""


def address(folder: Path, candidates: int, *words: str) -> Iterator[str]:
    if not os.environ.get(PYTHON):
        pytest.skip(f"needs vLLM, by {PYTHON}: `make test-vllm`")
    with serving_vllm(folder / "log", "--max-logprobs", str(candidates), *words) as where:
        yield where


@pytest.fixture(scope="module")
def open_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("open")
    (folder / "chat.jinja").write_text(CHAT)
    yield from address(folder, -1, "--chat-template", str(folder / "chat.jinja"))


@pytest.fixture(scope="module")
def capped_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from address(tmp_path_factory.mktemp("capped"), CAP)


def connected(where: str) -> RemoteModel:
    return RemoteModel.connect(RemoteSpec(where, tokenizer=str(STORY_MODEL)))


@pytest.fixture(scope="module")
def served(open_address: str) -> RemoteModel:
    """The one that shows all."""
    return connected(open_address)


@pytest.fixture(scope="module")
def capped(capped_address: str) -> RemoteModel:
    return connected(capped_address)


def test_they_say_what_they_are(
    served: RemoteModel, capped: RemoteModel, local: LocalModel
) -> None:
    for model, candidates in ((served, None), (capped, CAP)):
        info = model.info
        assert info.served
        assert (info.name, info.served.kind, info.served.candidates) == (
            "story",
            "vLLM",
            candidates,
        )
        assert info.served.version.count(".") == 2
        assert info.context_length == 512
        assert info.has_chat_template is info.has_thinking_switch is (model is served)
        for name in ("vocab_size", "eos_ids", "newline_ids"):
            assert getattr(info, name) == getattr(local.info, name), name
    assert served.fingerprint() == capped.fingerprint()
    with pytest.raises(PromptError, match="no chat template"):
        capped.encode_chat("hello")
    with pytest.raises(PromptError, match="context of story"):
        served.start([[5] * 512])


@pytest.mark.parametrize(
    "text", ["Once upon a time", "Zoë has 3 🐈\n\n“Really?”  ", "a<|endoftext|>b", "", "<b>${1}"]
)
def test_texts_become_the_same_tokens(served: RemoteModel, local: LocalModel, text: str) -> None:
    assert served.encode(text) == local.encode(text)


def test_a_chat_is_what_its_template_makes(served: RemoteModel, local: LocalModel) -> None:
    turns = "system: Be kind.\nuser: Zoë?\n"
    assert served.encode_chat("Zoë?", "Be kind.") == local.encode(turns)
    assert served.encode_chat("Zoë?", "Be kind.", thinking=False) == local.encode(
        f"{turns}At once: "
    )


def test_tokens_have_the_same_texts(served: RemoteModel, local: LocalModel) -> None:
    ids = range(local.info.vocab_size)
    assert [served.token_text(i) for i in ids] == [local.token_text(i) for i in ids]


def test_logits_are_those_of_this_process(
    served: RemoteModel, capped: RemoteModel, local: LocalModel
) -> None:
    ids = local.encode(STORY)
    for length in range(1, len(ids), 3):
        here = log_probs(local, ids[:length]).numpy()
        known = whole(served.start([ids[:length]]).logits[0])
        assert known.outside == 0.0
        likely = known.log_probs > -20
        np.testing.assert_allclose(known.log_probs[likely], here[known.ids][likely], atol=ANSWERS)
        few = capped.start([ids[:length]]).logits[0]
        assert (len(few.ids), few.wider) == (CAP, None)
        np.testing.assert_allclose(few.log_probs, here[few.ids], atol=ANSWERS)
        assert few.outside == pytest.approx(1 - np.exp(few.log_probs.astype("f8")).sum(), abs=1e-6)


def test_it_begins_with_few_candidates(served: RemoteModel) -> None:
    known = served.start([served.encode(STORY)]).logits[0]
    assert len(known.ids) == FIRST
    assert known.wider
    wider = known.wider()
    assert len(wider.ids) == FIRST * FACTOR
    assert list(wider.ids[:FIRST]) == list(known.ids)


@pytest.mark.parametrize(
    "lanes",
    [
        BASE,
        (PLAIN, XTC),
        (SamplerSettings(top_p=0.95), SamplerSettings(top_k=40, xtc=XTCSettings(1.0, 0.02))),
        (SamplerSettings(temperature=0.0), SamplerSettings(temperature=0.0, xtc=XTC.xtc)),
    ],
    ids=["the page's", "no cutoff", "cutoffs", "greedy"],
)
def test_a_run_is_that_of_this_process(
    served: RemoteModel, local: LocalModel, lanes: tuple[SamplerSettings, ...]
) -> None:
    total = 0
    for seed in range(2):
        request = Request("Once upon a time", settings(*lanes, seed=seed, length=30))
        ours, theirs = (record(model, request) for model in (local, served))
        assert ours.prompt_ids == theirs.prompt_ids
        assert not any(step.bound & DECIDED for lane in theirs.lanes for step in lane.steps)
        total += agree(ours, theirs)
    assert total > 60


def test_with_a_cutoff_a_cap_hardly_matters(capped: RemoteModel, local: LocalModel) -> None:
    total = bounded = 0
    lanes = (*BASE, SamplerSettings(top_k=CAP, xtc=XTCSettings(1.0, 0.05)))
    for seed in range(3):
        request = Request("Once upon a time", settings(*lanes, seed=seed, length=30))
        ours, theirs = (record(model, request) for model in (local, capped))
        total += agree(ours, theirs)
        bounded += sum(bool(s.bound & DECIDED) for lane in theirs.lanes for s in lane.steps)
    assert total > 100
    assert bounded <= total // 10, "the least of twenty words is hardly ever within min-p"


def test_without_one_each_step_that_is_not_sure_is_marked(
    capped: RemoteModel, local: LocalModel
) -> None:
    """Along the same text: a step without the mark has drawn what is drawn at home."""
    seed = 7
    trace = record(capped, Request("Once upon a time", settings(PLAIN, XTC, seed=seed)))
    dice = SharedRandomness(seed)
    marked = sure = 0
    for lane in trace.lanes:
        stack = SamplerStack(lane.settings.sampler)
        context = list(trace.prompt_ids)
        for position, there in enumerate(lane.steps):
            logits = log_probs(local, context)
            noise = dice.noise(position, len(logits))
            here = stack.run(torch.tensor(context), logits, dice.coin(position), noise)
            assert (here.outcome, here.removed) == (there.outcome, there.removed)
            if there.bound & Bound.DRAW:
                marked += 1
            else:
                sure += 1
                assert (here.token, here.counterfactual) == (there.token, there.counterfactual)
            context.append(there.token)
    assert marked
    assert sure


def test_two_lanes_take_one_request_a_step(served: RemoteModel) -> None:
    asked: list[httpx.Request] = []
    hooks = served.wire._client.event_hooks["request"]
    hooks.append(asked.append)
    try:
        trace = record(served, Request("Once upon a time", settings(*BASE, length=12)))
    finally:
        served.wire._client.event_hooks = {"request": []}
    steps = [request for request in asked if request.url.path == "/v1/completions"]
    one, two = (len(lane.steps) for lane in trace.lanes)
    assert len(steps) == max(one, two)


def test_lanes_alike_stay_alike_until_xtc_parts_them(served: RemoteModel) -> None:
    trace = record(served, Request("Once upon a time", settings(XTC, XTC, PLAIN, length=30)))
    one, two, plain = (lane.steps for lane in trace.lanes)
    assert list(one) == list(two)
    parted = next(i for i, step in enumerate(one) if step.token != plain[i].token)
    assert one[parted].changed


def test_a_tau_that_too_many_tokens_could_clear_is_refused(
    served: RemoteModel, capped: RemoteModel
) -> None:
    low = settings(PLAIN, SamplerSettings(xtc=XTCSettings(0.5, 0.04)), length=4)
    with pytest.raises(
        LaneError, match=r"`tau` must be at least 0\.05, as this server shows 20 candidates"
    ) as refusal:
        record(capped, Request("Once", low))
    assert (refusal.value.lane, refusal.value.parameter) == (1, "tau")
    record(served, Request("Once", low))
    record(capped, Request("Once", settings(SamplerSettings(xtc=XTCSettings(0.5, 0.05)), length=4)))


def test_texts_end_and_stop_as_here(served: RemoteModel, local: LocalModel) -> None:
    ends = set()
    for seed in range(3):
        request = Request("Once upon a time", settings(*BASE, seed=seed, length=300))
        ours, theirs = (record(model, request) for model in (local, served))
        agree(ours, theirs)
        ends |= {lane.finish for lane in theirs.lanes}
    assert FinishReason.EOS in ends
    stopping = replace(settings(*BASE, length=100), stop=(".",))
    ours, theirs = (record(model, Request("Once", stopping)) for model in (local, served))
    assert agree(ours, theirs)
    assert {lane.finish for lane in theirs.lanes} == {FinishReason.STOP}


def test_protected_tokens_and_what_if(
    served: RemoteModel, local: LocalModel, tmp_path: Path
) -> None:
    always = SamplerSettings(min_p=0.05, xtc=XTCSettings(1.0, 0.05))
    own = Protection(texts=(" was", " a", " the"))
    request = Request("Once upon a time", settings(always, length=40), own)
    ours, theirs = (record(model, request) for model in (local, served))
    assert agree(ours, theirs)
    steps = theirs.lanes[0].steps
    assert Outcome.PROTECTED in {step.outcome for step in steps}
    same = evaluate(steps, theirs.lanes[0].settings.sampler.xtc, 100)
    assert [d.outcome for d in same.decisions] == [step.outcome for step in steps]
    assert evaluate(steps, XTCSettings(0.3, 0.1), 100).exact
    tracefile.save(theirs, tmp_path / "run.json.gz")
    read = tracefile.load(tmp_path / "run.json.gz")
    assert tracefile.dumps(read) == tracefile.dumps(theirs)


def test_runs_go_on_and_branch(served: RemoteModel, local: LocalModel) -> None:
    request = Request("Once upon a time", settings(*BASE, length=8))
    traces = []
    for model in (local, served):
        longer = grown(resume(record(model, request), 6), model)
        traces.append(grown(fork(longer, 1, 5, " dog", model), model))
    assert agree(*traces) > 20
    assert traces[1].lanes[2].steps[5].forced


def test_the_laboratory_runs_on_it(capped: RemoteModel, tmp_path: Path) -> None:
    low = LaneSettings("low", SamplerSettings(min_p=0.05, xtc=XTCSettings(1.0, 0.02)))
    right = (LaneSettings("base", BASE[0]), LaneSettings("XTC", BASE[1]))
    experiment = Experiment("test", "story", (*right, low), length=12, samples=1, prompts=3)
    suite = load_suite("story")
    plan = list(cells(experiment, suite, Identity.of(capped)))
    with Store(tmp_path / "a.sqlite") as store:
        *_, last = run(experiment, suite, capped, store, rows=4)
        assert (last.done, last.failed) == (6, 3)
        [failure] = last.failures
        assert failure.condition == "low"
        assert "this server shows 20 candidates at a step" in failure.message
        texts = store.entries([cell.name for cell in plan])
        assert len({entry.text for entry in texts.values()}) > 1
        *_, again = run(experiment, suite, capped, store, rows=4)
        assert (again.written, again.before) == (0, 6)


def test_another_tokenizer_is_refused_in_words(capped_address: str, tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="Name the folder with its model's tokenizer"):
        RemoteModel.connect(capped_address)
    tiny.fast_tokenizer("bytelevel").save_pretrained(tmp_path / "other")
    spec = RemoteSpec(capped_address, tokenizer=str(tmp_path / "other"))
    with pytest.raises(ServerError, match="makes other tokens of 'Once upon a time, there"):
        RemoteModel.connect(spec)


def test_the_page_connects_and_refuses_at_the_field(capped_address: str) -> None:
    desk = Desk(Servers((capped_address,), tokenizer=str(STORY_MODEL)))
    state = desk.connect(capped_address)
    assert state["own"]["state"] == "done", state
    assert state["model"]["served"]["candidates"] == CAP
    first = desk.run()
    assert first["state"] == "done"
    assert "error" not in desk.ask("block", first["run"], 0, 0, 20, None)
    assert "error" not in desk.ask("what_if", first["run"], 0, {"rho": 1.0, "tau": 0.1})
    low: dict[str, Any] = {"name": "low", "sampler": {"xtc": {"rho": 0.5, "tau": 0.01}}}
    message = desk.run(settings={"lanes": [{}, low], "max_new_tokens": 4})
    assert message["error"]["field"] == "tau"
    assert message["error"]["lane"] == 1
    assert "at least 0.05, as this server shows 20" in message["error"]["message"]


def test_an_audit_says_that_it_has_no_xtc(
    capped_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit([capped_address]) == FAILED
    assert "is vLLM, which has no XTC of its own" in capsys.readouterr().err
