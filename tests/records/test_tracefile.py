"""Trace files: lossless round trips, small files, and every kind of broken one."""

from __future__ import annotations

import gzip
import json
import math
import random
from array import array
from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import TraceError
from xtc_viz.records.check import check
from xtc_viz.records.columns import COLUMNS, default_of
from xtc_viz.records.modelinfo import ModelInfo, Placement
from xtc_viz.records.reading import shortest
from xtc_viz.records.step import Bound, Step
from xtc_viz.records.trace import Branch, FinishReason, LaneTrace, Trace, token_ids
from xtc_viz.records.tracefile import MAX_BYTES, dumps, load, loads, save
from xtc_viz.sampling.rule import Outcome, decide
from xtc_viz.sampling.stageview import view
from xtc_viz.settings import (
    ORDER,
    LaneSettings,
    RunSettings,
    SamplerSettings,
    Strategy,
    XTCSettings,
    in_order,
)

VOCAB_SIZE = 50_000
MODEL = ModelInfo(
    name="a model",
    revision="main",
    vocab_size=VOCAB_SIZE,
    context_length=512,
    eos_ids=(0,),
    newline_ids=(1, 2),
    has_chat_template=False,
    parameters=5_800_000,
    placement=Placement("float32", "cpu"),
)
STEP = Step(
    token=7,
    text=" bear",
    counterfactual=5,
    outcome=Outcome.FIRED,
    coin=0.25,
    eligible=2,
    removed=(5,),
    removed_mass=0.5,
    removable_mass=0.5,
    entropy=1.25,
    p=0.25,
    q=0.5,
    rank=2,
    log_z_raw=3.5,
    log_z=3.25,
    log_z_final=-0.6931471805599453,
    ids=array("i", (5, 7, 9)),
    probs=array("f", (0.5, 0.25, 0.1)),
    kept=(0.75,),
    cut_ids=array("i", (11,)),
    cut_probs=array("f", (0.0625,)),
    cut_by=array("b", (0,)),
)
HOSTILE = (
    "<img src=x onerror=alert(1)>", "${7*7}", "{{7*7}}", "__import__('os')", "\ud800", "\udfff x",
    "a\x00b", "\u2028", '"}],', "\\", "e\u0301 😀 中", "",
)  # fmt: skip


def trace_of(*lanes: LaneTrace, texts: Callable[[int], str] = "<{}>".format) -> Trace:
    prompt_ids = (5, 7)
    tokens = set(prompt_ids).union(*(token_ids(lane.steps) for lane in lanes))
    return Trace(
        model=MODEL,
        prompt="Once upon a time",
        prompt_ids=prompt_ids,
        settings=RunSettings(lanes=tuple(lane.settings for lane in lanes)),
        lanes=lanes,
        vocabulary={token: texts(token) for token in tokens},
        seconds=1.5,
    )


TRACE = trace_of(
    LaneTrace(LaneSettings(), (STEP, STEP), FinishReason.LENGTH),
    LaneTrace(LaneSettings("XTC"), (STEP, STEP), None, Branch(0, 1)),
)


# Round trips

UNIT = st.floats(0, 1)
TEXT = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(categories=None)).map(
        # A pair of surrogates is another spelling of one character, and comes back as it.
        lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    ),
)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    ids = draw(st.lists(st.integers(0, VOCAB_SIZE - 1), min_size=2, max_size=12, unique=True))
    weights = draw(st.lists(UNIT, min_size=len(ids), max_size=len(ids)))
    total = sum(weights) + draw(st.floats(0.001, 1))
    probs = array("f", sorted((weight / total for weight in weights), reverse=True))
    eligible = draw(st.integers(0, len(ids)))
    outcome = Outcome.UNAMBIGUOUS
    removed: tuple[int, ...] = ()
    if eligible >= 2:
        outcome = draw(st.sampled_from((Outcome.FIRED, Outcome.SKIPPED, Outcome.PROTECTED)))
        removed = tuple(ids[: eligible - 1]) if outcome is Outcome.FIRED else ()
    finite = st.floats(allow_nan=False, allow_infinity=False)
    cut_ids = draw(st.lists(st.integers(0, VOCAB_SIZE - 1), max_size=4, unique=True))
    return Step(
        token=draw(st.sampled_from(ids)),
        text=draw(TEXT),
        counterfactual=draw(st.sampled_from(ids)),
        outcome=outcome,
        coin=draw(st.floats(0, 1, exclude_max=True)),
        eligible=eligible,
        removed=removed,
        removed_mass=draw(UNIT),
        removable_mass=draw(UNIT),
        entropy=draw(st.floats(0, 20)),
        p=draw(UNIT),
        q=draw(UNIT),
        rank=draw(st.integers(1, VOCAB_SIZE)),
        log_z_raw=draw(finite.filter(lambda x: abs(x) < 1e300)),
        log_z=draw(finite.filter(lambda x: abs(x) < 1e300)),
        log_z_final=draw(st.floats(-20, 0)),
        ids=array("i", ids),
        probs=probs,
        kept=tuple(draw(st.lists(UNIT, min_size=1, max_size=3))),
        cut_ids=array("i", cut_ids),
        cut_probs=array("f", [0.01] * len(cut_ids)),
        cut_by=array("b", [0] * len(cut_ids)),
        forced=draw(st.booleans()),
        log_zs=tuple(draw(st.lists(st.floats(-99, 99), max_size=2))),
        temperature=draw(st.floats(0, 9)),
        final=draw(st.sampled_from((array("f"), probs))),
        bound=draw(st.sampled_from((Bound.NONE, Bound.ENTROPY | Bound.DRAW))),
    )


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    xtc = st.builds(
        XTCSettings,
        rho=UNIT,
        tau=st.floats(0.001, 0.999),
        strategy=st.sampled_from(Strategy),
        protected=st.frozensets(st.integers(0, VOCAB_SIZE - 1), max_size=4),
    )
    sampler = st.builds(
        SamplerSettings,
        temperature=st.floats(0.01, 2) | st.just(0.0),
        xtc=xtc,
        order=st.permutations(ORDER),
    )
    lane = st.builds(
        LaneTrace,
        settings=st.builds(LaneSettings, name=TEXT, sampler=sampler),
        steps=st.lists(steps(), max_size=3).map(tuple),
        finish=st.sampled_from([None, *FinishReason]),
    )
    lanes = draw(st.lists(lane, min_size=1, max_size=3))
    if len(lanes) > 1 and draw(st.booleans()):
        lanes[1] = replace(lanes[1], branch=Branch(0, len(lanes[0].steps)))
    return replace(
        trace_of(*lanes, texts=lambda token: HOSTILE[token % len(HOSTILE)]),
        prompt=draw(TEXT),
        system=draw(TEXT),
        chat=draw(st.booleans()),
        seconds=draw(st.floats(0, 1e6)),
    )


@given(traces())
def test_a_round_trip_loses_nothing(trace: Trace) -> None:
    text = dumps(trace)
    text.encode("ascii")
    again = loads(text)
    assert again == trace
    assert dumps(again) == text  # -0.0 and 0.0 are equal, but not the same


@given(st.lists(st.floats(0, 1, width=32)))
def test_short_numbers_are_the_same_float32(values: list[float]) -> None:
    packed = array("f", values)
    short = shortest(packed)
    assert array("f", short).tobytes() == packed.tobytes()
    for number in short:
        assert len(Decimal(repr(number)).as_tuple().digits) <= 9


def test_hostile_texts_stay_texts() -> None:
    def full_of(text: str) -> Trace:
        lane = LaneTrace(LaneSettings(text), (replace(STEP, text=text),))
        return replace(trace_of(lane, texts=lambda _: text), prompt=text, system=text)

    for text in HOSTILE:
        assert loads(dumps(full_of(text))) == full_of(text)


def test_a_model_elsewhere() -> None:
    elsewhere = replace(TRACE, model=replace(MODEL, parameters=None, placement=None))
    assert loads(dumps(elsewhere)) == elsewhere


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
def test_files(tmp_path: Path, name: str) -> None:
    save(TRACE, tmp_path / name)
    assert load(tmp_path / name) == TRACE
    data = (tmp_path / name).read_bytes()
    assert loads(data) == TRACE
    save(TRACE, tmp_path / name)
    assert (tmp_path / name).read_bytes() == data  # the same run is the same file
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"ends in \.json or \.json\.gz, but not 'run\.pkl'"):
        save(TRACE, tmp_path / "run.pkl")
    assert not list(tmp_path.iterdir())


def test_every_field_of_a_step_has_its_column() -> None:
    """In the same order, by which steps are made from columns; later ones have a default."""
    assert [column.name for column in COLUMNS] == [field.name for field in fields(Step)]
    for column in COLUMNS:
        if column.since > 1:
            assert default_of(column) == getattr(STEP, column.name)


OLD = Path(__file__).with_name("version-1.json.gz")


def test_a_file_of_version_1_is_read() -> None:
    """A run of four lanes that the last program of that version wrote; see its settings."""
    trace = load(OLD)
    assert [len(lane.steps) for lane in trace.lanes] == [24, 24, 24, 6]
    assert trace.lanes[1].settings.sampler.order == in_order("temperature")
    assert trace.lanes[3].branch == Branch(1, 5)
    assert trace.lanes[3].steps[5].forced
    assert loads(dumps(trace)) == trace
    for lane in trace.lanes:
        for position, step in enumerate(lane.steps):
            context = [*trace.prompt_ids, *(s.token for s in lane.steps[:position])]
            seen = view(step, lane.settings.sampler, context)
            assert all(0.0 <= stage.rest <= 1.0 for stage in seen.stages)
            shown = seen.stages[-1].probs[seen.ids.index(step.token)]
            assert step.forced or shown == pytest.approx(step.q, rel=1e-4)


def test_columns_of_a_newer_program_are_kept() -> None:
    data = json.loads(dumps(TRACE))
    data["lanes"][1]["steps"] |= {"luck": [1, "two"], 'odd "name\n': [None, {"a": [1]}]}
    trace = loads(json.dumps(data))
    assert dict(trace.lanes[1].unknown)["luck"] == (1, "two")
    assert trace.unknown_columns == ("luck", 'odd "name\n')
    assert json.loads(dumps(trace))["lanes"] == data["lanes"]


# Size


def realistic(steps_a_lane: int, *, truncated: bool = False) -> Trace:
    """Two lanes with the top 100 of peaked float32 softmaxes over 50,000 tokens.

    As in a text, frequent tokens are candidates often (Zipf), and a few stand out at each step.
    """
    rng = np.random.default_rng(0)
    coins = random.Random(0)
    usual = -np.log(np.arange(1, VOCAB_SIZE + 1))
    xtc = XTCSettings(rho=0.5, tau=0.1)
    lanes = []
    for _ in range(2):
        lane_steps = []
        for _ in range(steps_a_lane):
            logits = (usual + rng.normal(0, 2, VOCAB_SIZE)).astype(np.float32)
            logits[rng.integers(0, 5000, 8)] += np.linspace(9, 4, 8, dtype=np.float32)
            p = np.exp(logits - logits.max())
            p /= p.sum()
            order = np.argsort(-p, kind="stable")[:120]
            ids, cut = order[:100], order[100:] if truncated else order[:0]
            probs = p[ids]
            eligible = int((probs >= 0.1).sum())
            coin = coins.random()
            decision = decide(ids[:eligible].tolist(), probs[:eligible].tolist(), coin, xtc)
            left = [i for i in range(100) if ids[i] not in decision.removed]
            drawn, other = left[int(rng.integers(0, 3))], int(rng.integers(0, 3))
            lane_steps.append(
                Step(
                    token=int(ids[drawn]),
                    text=f" w{ids[drawn]}",
                    counterfactual=int(ids[other]),
                    outcome=decision.outcome,
                    coin=coin,
                    eligible=eligible,
                    removed=decision.removed,
                    removed_mass=decision.removed_mass,
                    removable_mass=decision.removable_mass,
                    entropy=float(-(p * np.log(p)).sum()),
                    p=float(probs[drawn]),
                    q=float(probs[drawn] / (1 - decision.removed_mass)),
                    rank=drawn + 1,
                    log_z_raw=float(rng.normal(15, 2)),
                    log_z=float(rng.normal(15, 2)),
                    log_z_final=math.log1p(-decision.removed_mass),
                    ids=array("i", ids.astype(np.intc).tobytes()),
                    probs=array("f", probs.tobytes()),
                    kept=(0.9, 0.85) if truncated else (),
                    cut_ids=array("i", cut.astype(np.intc).tobytes()),
                    cut_probs=array("f", p[cut].tobytes()),
                    cut_by=array("b", [0] * len(cut)),
                )
            )
        lanes.append(LaneTrace(LaneSettings(), tuple(lane_steps), FinishReason.LENGTH))
    return trace_of(*lanes, texts=lambda token: f" w{token}")


@pytest.mark.parametrize("truncated", [False, True])
def test_a_step_takes_at_most_1200_bytes(tmp_path: Path, truncated: bool) -> None:
    trace = realistic(100, truncated=truncated)
    save(trace, tmp_path / "run.json.gz")
    size = (tmp_path / "run.json.gz").stat().st_size / sum(len(lane.steps) for lane in trace.lanes)
    assert 100 < size <= 1200
    assert load(tmp_path / "run.json.gz") == trace


# Files of another kind


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"broken or cut short: Expecting value in line 1, column 1"),
        ("[]", r'no xtc_viz trace: its "format" is not "xtc_viz.trace"'),
        ('{"format": "other"}', r"no xtc_viz trace"),
        ('{"format": "xtc_viz.trace", "version": 7}',
         r"made by version 7 of the format; this program reads versions 1 to 2"),
        ('{"format": "xtc_viz.trace"}', r"made by version None"),
        ('{"format": "xtc_viz.trace", "version": 1}', r"the trace lacks `app`"),
        ('{"a": 1, "a": 2}', r"the same name twice"),
        ('{"a": NaN}', r"NaN is no number that a trace may hold"),
        ("[" * 100_000, r"trace is broken"),
        ("1" * 5000, r"trace is broken"),
        (b"\xff", r"not UTF-8 at byte 0"),
        (b"PK\x03\x04", "no xtc_viz trace, but another kind of file"),
        (gzip.compress(b"[1]" * 1000, mtime=0)[:-9], r"compressed trace is broken or cut short"),
        (b"\x1f\x8bxx", r"compressed trace is broken or cut short"),
    ],
)  # fmt: skip
def test_what_is_no_trace(text: str | bytes, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        loads(text)


def test_an_endless_file_is_not_read_to_its_end() -> None:
    with pytest.raises(TraceError, match="at most 256 MiB"):
        loads(gzip.compress(bytes(MAX_BYTES + 1), 1))


@given(st.integers(0, 10_000))
def test_a_file_cut_short_is_found(cut: int) -> None:
    text = dumps(TRACE).rstrip()
    with pytest.raises(TraceError, match="broken or cut short"):
        loads(text[: cut % len(text)])


# Files with one thing wrong

Place = tuple[str | int, ...]
STEPS = ("lanes", 1, "steps")


def changed(place: Place, value: object) -> str:
    """Return the file of `TRACE` with another value at `place`."""
    data: Any = json.loads(dumps(TRACE))
    where = data
    for key in place[:-1]:
        where = where[key]
    if value is ...:
        del where[place[-1]]
    else:
        where[place[-1]] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("extra",), 1, r"the trace has an unknown 'extra'"),
        (("prompt",), ..., r"the trace lacks `prompt`"),
        (("prompt",), 5, r"`prompt` must be a text, but is 5"),
        (("chat",), 0, r"`chat` must be true or false, but is 0"),
        (("seconds",), -1, r"`seconds` must be a time >= 0, but is -1"),
        (("seconds",), "1", r"`seconds` must be a finite number, but is '1'"),
        (("prompt_ids", 1), 50_000, r"`prompt_ids`: token ids are in \[0, 50000\), but one is"),
        (("prompt_ids", 1), 42, r"`prompt_ids`: token 42 is not in the vocabulary of this trace"),
        (("model", "vocab_size"), 0, r"`vocab_size` must be in \[1, 2147483647\], but is 0"),
        (("model", "name"), None, r"model `name` must be a text, but is None"),
        (("model", "eos_ids", 0), -1, r"`eos_ids` of the model: token ids are in \[0, 50000\)"),
        (("model", "eos_ids", 0), True, r"model `eos_ids`, entry 1 must be an integer"),
        (("vocabulary", "texts", 0), ..., r"`vocabulary` has 4 ids, but 3 texts"),
        (("vocabulary", "ids", 0), 7, r"`vocabulary` has the same id twice"),
        (("vocabulary", "ids", 0), 6, r"token 5 is not in the vocabulary"),
        (("settings", "seed"), -1, r"settings: `seed` must be an integer in \[0, .*but is -1"),
        (("settings", "sed"), 1, r"settings: `sed` must be one of"),
        (("settings", "lanes"), 5, r"settings: "),
        (("lanes",), [], r"at least one lane"),
        (("lanes",), {}, r"`lanes` must be a list, but is {}"),
        (("lanes", 0), 3, r"lane 1 must be an object, but is 3"),
        (("lanes", 1, "settings", "sampler", "xtc", "tau"), 1.0,
         r"lane 2: `tau` must be in \(0, 1\), but is 1.0"),
        (("lanes", 1, "settings", "sampler", "top_k"), 10**400, r"lane 2: "),
        (("lanes", 1, "finish"), "bored", r"lane 2, `finish` must be one of eos, stop, length"),
        (("lanes", 1, "branch"), 0, r"lane 2, `branch` must be an object"),
        (("lanes", 1, "branch", "lane"), 1, r"lane 2: it branches from lane 2, which cannot be"),
        (("lanes", 1, "branch", "position"), 3, r"position 3 of a lane of 2 steps"),
        ((*STEPS, "coin"), ..., r"lane 2, steps lacks `coin`"),
        ((*STEPS, "luck"), [], r"lane 2: column 'luck' has 0 entries, but column `token` has 2"),
        ((*STEPS, "final", 0), [0.5], r"it has 3 `ids`, but 1 `final`"),
        ((*STEPS, "final", 0), [0.5, 2, 0], r"`final` must be in \[0, 1\]"),
        ((*STEPS, "temperature", 0), -1, r"`temperature` must be >= 0, but is -1"),
        ((*STEPS, "log_zs"), ..., r"lane 2, steps lacks `log_zs`"),
        ((*STEPS, "coin"), "x", r"lane 2, column `coin` must be a list, but is 'x'"),
        ((*STEPS, "coin"), [0.5], r"lane 2: column `coin` has 1 entries, but column `token` has 2"),
        ((*STEPS, "coin", 1), "x", r"lane 2, column `coin`, step 2 must be a finite number"),
        ((*STEPS, "coin", 1), 1.0, r"lane 2, step 2: `coin` must be in \[0, 1\), but is 1.0"),
        ((*STEPS, "entropy", 1), 10**400, r"column `entropy`, step 2 must be a finite number"),
        ((*STEPS, "entropy", 1), -1, r"lane 2, step 2: `entropy` must be >= 0, but is -1.0"),
        ((*STEPS, "text", 0), 1, r"lane 2, column `text`, step 1 must be a text, but is 1"),
        ((*STEPS, "token", 0), 7.0, r"lane 2, column `token`, step 1 must be an integer"),
        ((*STEPS, "token", 0), 11, r"lane 2, step 1: `token` is 11, which is not among the cand"),
        ((*STEPS, "counterfactual", 0), 4, r"`counterfactual` is 4, which is not among the cand"),
        ((*STEPS, "outcome", 0), "lost", r"step 1 must be one of unambiguous, .* but is 'lost'"),
        ((*STEPS, "outcome", 0), "skipped", r"outcome is `skipped`, but 1 tokens are removed"),
        ((*STEPS, "removed", 0), [], r"its outcome is `fired`, but 0 tokens are removed"),
        ((*STEPS, "removed", 0), [9], r"`removed` holds token 9, which is not eligible"),
        ((*STEPS, "removed", 0), [5, 5], r"`removed` names a token twice"),
        ((*STEPS, "eligible", 0), 4, r"`eligible` must be in \[0, 3\], the number of recorded"),
        ((*STEPS, "eligible", 0), 1, r"its outcome is `fired`, but 1 tokens are eligible"),
        ((*STEPS, "p", 0), 1.5, r"lane 2, step 1: `p` must be in \[0, 1\], but is 1.5"),
        ((*STEPS, "removed_mass", 0), -0.5, r"`removed_mass` must be in \[0, 1\], but is -0.5"),
        ((*STEPS, "rank", 0), 0, r"`rank` must be in \[1, 50000\], but is 0"),
        ((*STEPS, "ids", 0, 2), 50_000, r"lane 2, step 1: `ids` must be in \[0, 50000\)"),
        ((*STEPS, "ids", 0, 2), 2**31, r"column `ids`, step 1, entry 3 is too large: 2147483648"),
        ((*STEPS, "rank", 1), -(2**40), r"column `rank`, step 2 is too large: -1099511627776"),
        ((*STEPS, "cut_by", 0), [200], r"column `cut_by`, step 1 holds too large a number"),
        ((*STEPS, "ids", 0, 2), 7, r"`ids` names a token twice"),
        ((*STEPS, "ids", 0, 2), 8, r"lane 2, step 1: `ids`: token 8 is not in the vocabulary"),
        ((*STEPS, "ids", 0, 2), None, r"column `ids`, step 1, entry 3 must be an integer"),
        ((*STEPS, "ids", 0), 7, r"column `ids`, step 1 must be a list, but is 7"),
        ((*STEPS, "ids", 0, 2), ..., r"it has 2 `ids`, but 3 `probs`"),
        ((*STEPS, "probs", 0), [0.25, 0.5, 0.1], r"step 1: `probs` must fall, but some rise"),
        ((*STEPS, "probs", 0), [1.5, 0.5, 0.1], r"`probs` must be in \[0, 1\]"),
        ((*STEPS, "probs", 0), [0.7, 0.5, 0.1], r"`probs` add up to 1.3, which is more than 1"),
        ((*STEPS, "cut_probs", 0), [], r"it has 1 `cut_ids`, but 0 `cut_probs`"),
        ((*STEPS, "cut_by", 0), [], r"it has 1 `cut_ids`, but 0 `cut_by`"),
        ((*STEPS, "cut_by", 0), [1], r"`cut_by` must name one of 1 stages that are on"),
        ((*STEPS, "forced", 1), 1, r"column `forced`, step 2 must be true or false, but is 1"),
        ((*STEPS, "kept", 0), [2.0], r"`kept` must be masses in \[0, 1\]"),
    ],
)  # fmt: skip
def test_one_thing_wrong(place: Place, value: object, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        loads(changed(place, value))


def test_a_number_too_large_for_a_float_is_found() -> None:
    text = changed((*STEPS, "log_z", 0), 12345.0).replace("12345.0", "1e400")
    with pytest.raises(TraceError, match="column `log_z`, step 1 must be a finite number"):
        loads(text)


def places(data: object, at: Place = ()) -> list[Place]:
    """Return the place of every value in `data`, lists and objects included."""
    below = (
        data.items() if isinstance(data, dict)
        else enumerate(data) if isinstance(data, list)
        else ()
    )  # fmt: skip
    return [at, *(place for key, value in below for place in places(value, (*at, key)))]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from(places(json.loads(dumps(TRACE)))[1:]), JSON)
def test_whatever_a_file_holds_it_loads_or_says_why(place: Place, value: object) -> None:
    try:
        trace = loads(changed(place, value))
    except TraceError as error:
        str(error).encode("utf-8")
    else:
        assert loads(dumps(trace)) == trace


# What must not be written


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (replace(STEP, entropy=math.nan), r"lane 1, step 1: `entropy` must be >= 0, but is nan"),
        (replace(STEP, log_z=math.inf), r"lane 1, step 1: `log_z` must be finite, but is inf"),
        (replace(STEP, probs=array("f", (math.nan, 0.25, 0.1))), r"`probs` must be in \[0, 1\]"),
        (replace(STEP, kept=(math.nan,)), r"`kept` must be masses in \[0, 1\]"),
    ],
)
def test_a_broken_trace_is_not_written(tmp_path: Path, step: Step, message: str) -> None:
    broken = trace_of(LaneTrace(LaneSettings(), (step,)))
    with pytest.raises(TraceError, match=message):
        save(broken, tmp_path / "run.json")
    assert not list(tmp_path.iterdir())


def test_a_token_without_text_is_not_written() -> None:
    with pytest.raises(TraceError, match=r"lane 1, step 1: `cut_ids`: token 11 is not in the voc"):
        check(replace(TRACE, vocabulary={5: "a", 7: "b", 9: "c"}))
