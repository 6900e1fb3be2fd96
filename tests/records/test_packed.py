"""Packed steps read like the steps that went in, and are small."""

from __future__ import annotations

import json
import zlib
from array import array
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from xtc_viz.decode import decode_lanes
from xtc_viz.errors import TraceError
from xtc_viz.models.fake import FakeModel
from xtc_viz.records.packed import Steps
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings


@pytest.fixture(scope="module")
def steps():
    """Steps of all kinds: fired and not, truncated, with tokens beyond the candidates."""
    samplers = [
        SamplerSettings(xtc=XTCSettings(rho=0.5, tau=0.05)),
        SamplerSettings(top_p=0.9, min_p=0.02),
        SamplerSettings(temperature=2.0),
    ]
    generator = torch.Generator().manual_seed(1)
    found = []
    for t in range(60):
        logits = torch.randn(3000, generator=generator) * 2.5
        shared = SharedRandomness(t)
        stack = SamplerStack(samplers[t % 3])
        found.append(stack.run(torch.tensor([1]), logits, shared.coin(t), shared.noise(t, 3000)))
    return found


def test_what_went_in_comes_out(steps):
    packed = Steps(steps)
    assert packed == steps
    assert tuple(steps) == packed
    assert packed[7] == steps[7]
    assert packed[-1] == steps[-1]
    assert packed[5:40:7] == steps[5:40:7]
    assert packed != steps[:-1]
    assert Steps() == ()


def test_a_column_is_all_of_its_values(steps):
    packed = Steps(steps)
    view = packed.frozen()
    packed.append(steps[0])
    assert view.column("rank") == (array("i", [step.rank for step in steps]), None)
    assert view.column("forced") == (array("b", [0] * 60), None)
    for name in ("removed", "ids", "kept", "log_zs"):
        values, ends = view.column(name)
        assert ends is not None
        rows = [list(values[a:b]) for a, b in pairwise(ends)]
        assert rows == [list(getattr(step, name)) for step in steps]
    with pytest.raises(KeyError):
        view.column("colour")


@pytest.mark.parametrize("index", [60, -61])
def test_out_of_range(steps, index):
    with pytest.raises(IndexError, match="of 60"):
        Steps(steps)[index]


def test_a_frozen_view_stays_while_the_steps_grow(steps):
    packed = Steps(steps[:3])
    view = packed.frozen()
    packed.append(steps[3])
    assert (len(view), len(packed)) == (3, 4)
    assert view == steps[:3]
    with pytest.raises(TypeError, match="cannot grow"):
        view.append(steps[4])


@pytest.mark.parametrize("text", ["", " naïve 🐉", "\udce2", "\x00"])
def test_any_text(steps, text):
    assert Steps([replace(steps[0], text=text)])[0].text == text


def test_a_thousand_steps_take_less_than_a_megabyte():
    lanes = (LaneSettings(), LaneSettings("XTC", SamplerSettings(xtc=XTCSettings())))
    settings = RunSettings(lanes=lanes, max_new_tokens=500, top_candidates=100)
    rows = torch.randn(500, 4000, generator=torch.Generator().manual_seed(2)) * 2
    model = FakeModel(logits=lambda ids: rows[len(ids) % 500], vocab_size=4000)
    recorded = (Steps(), Steps())
    for column in decode_lanes(model, model.encode("Once"), settings):
        for steps, step in zip(recorded, column.steps, strict=True):
            assert step
            steps.append(step)
    assert sum(map(len, recorded)) == 1000
    assert all(len(step.ids) >= 100 for step in recorded[0])
    assert sum(steps.nbytes for steps in recorded) <= 1_000_000


# As bytes


def test_bytes_give_the_same_steps_back(steps):
    packed = Steps(steps)
    assert Steps.from_bytes(packed.to_bytes()) == packed
    assert Steps.from_bytes(Steps().to_bytes()) == Steps()
    grown = Steps.from_bytes(packed.to_bytes())
    grown.append(steps[0])
    assert grown == [*steps, steps[0]]
    assert grown.to_bytes() == Steps([*steps, steps[0]]).to_bytes()


def test_a_frozen_view_is_written_alone(steps):
    packed = Steps(steps[:3])
    view = packed.frozen()
    packed.append(steps[3])
    assert view.to_bytes() == Steps(steps[:3]).to_bytes()


def test_bytes_by_hand(steps):
    head, _, body = zlib.decompress(Steps(steps[:2]).to_bytes()).partition(b"\n")
    described = json.loads(head)
    assert described["steps"] == 2
    assert described["arrays"][0] == ["token", "i", 2]
    first = [steps[n].token.to_bytes(4, "little") for n in (0, 1)]
    assert body[:8] == bytes(byte for pair in zip(*first, strict=True) for byte in pair)


def test_a_column_that_is_not_known_is_left_out(steps):
    head, _, body = zlib.decompress(Steps(steps).to_bytes()).partition(b"\n")
    described = json.loads(head)
    described["arrays"].append(["mood", "b", 3])
    data = zlib.compress(json.dumps(described).encode() + b"\n" + body + b"abc")
    assert Steps.from_bytes(data) == steps


@pytest.mark.parametrize("cut", [0, 1, 10, -1])
def test_bytes_that_are_cut_short_are_refused(steps, cut):
    with pytest.raises(TraceError, match="packed steps are broken"):
        Steps.from_bytes(Steps(steps).to_bytes()[:cut])


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head.update(steps=3),
        lambda head: head.update(steps="2"),
        lambda head: head["arrays"].pop(0),
        lambda head: head["arrays"].append(["mood", "b", 9]),
        lambda head: head["arrays"][0].__setitem__(1, "d"),
        lambda head: head["arrays"][1].__setitem__(2, 2),
        lambda head: head.pop("arrays"),
    ],
)
def test_bytes_that_do_not_fit_are_refused(steps, change):
    head, _, body = zlib.decompress(Steps(steps[:2]).to_bytes()).partition(b"\n")
    described = json.loads(head)
    change(described)
    with pytest.raises(TraceError, match="packed steps are broken"):
        Steps.from_bytes(zlib.compress(json.dumps(described).encode() + b"\n" + body))
