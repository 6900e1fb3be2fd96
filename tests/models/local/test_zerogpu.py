"""A no-op here; and through a forked worker that pickles what goes in and out, as there."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
from collections.abc import Generator

import pytest

from tests.models.forking import ForkingSpaces, PlatformError
from xtc_viz.decode import Column, decode_lanes
from xtc_viz.errors import BusyError, PromptError, SettingsError, XTCVizError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.local.zerogpu import Failure, estimated_seconds, here, on_gpu
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

MODEL = FakeModel()
SETTINGS = RunSettings(
    lanes=(LaneSettings(), LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(rho=1.0)))),
    max_new_tokens=12,
)


def decode(prompt_ids: list[int], settings: RunSettings) -> Generator[Column, None, None]:
    yield from decode_lanes(MODEL, prompt_ids, settings)


def seconds(prompt_ids: list[int], settings: RunSettings) -> float:
    return estimated_seconds(settings.max_new_tokens)


def test_elsewhere_nothing_changes() -> None:
    assert not here({})
    assert not here({"SPACES_ZERO_GPU": "false"})
    assert here({"SPACES_ZERO_GPU": "true"})
    assert on_gpu(decode, seconds) is decode


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_decode_in_a_forked_worker_is_the_same_decode() -> None:
    spaces = ForkingSpaces()
    ids = MODEL.encode("Once upon a time")
    lent = on_gpu(decode, seconds, spaces)
    there = [(c.steps, c.finishes) for c in lent(ids, SETTINGS)]
    assert there == [(c.steps, c.finishes) for c in decode(ids, SETTINGS)]
    assert len(there) == 12
    assert spaces.durations == [10]


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_an_error_comes_out_with_its_words() -> None:
    lent = on_gpu(decode, seconds, ForkingSpaces())
    with pytest.raises(PromptError, match="The prompt is empty"):
        list(lent([], SETTINGS))


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_closing_ends_the_worker() -> None:
    lent = on_gpu(decode, seconds, ForkingSpaces())
    columns = lent(MODEL.encode("Once"), SETTINGS)
    next(columns)
    columns.close()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    "error", [SettingsError("tau", "in (0, 1)", 3), PromptError("too long"), XTCVizError("no")]
)
def test_errors_travel_whole(error: XTCVizError) -> None:
    back = pickle.loads(pickle.dumps(Failure.of(error))).error()
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_the_estimate_is_held_within_the_platforms_bounds() -> None:
    spaces = ForkingSpaces()
    lent = on_gpu(lambda n: (i for i in range(0)), lambda n: estimated_seconds(n), spaces)
    for steps in (1, 1000, 100_000):
        next(iter(lent(steps)), None)
    assert spaces.durations == [10, 45, 120]


def test_a_refusal_comes_in_the_platforms_words() -> None:
    spaces = ForkingSpaces()
    lent = on_gpu(decode, seconds, spaces)
    spaces.refusal = PlatformError("ZeroGPU quota exceeded", "Try again <a href='/'>in 1:00</a>")
    with pytest.raises(BusyError) as caught:
        next(lent(MODEL.encode("Once"), SETTINGS))
    assert str(caught.value) == "ZeroGPU quota exceeded: Try again in 1:00"
    spaces.refusal = RuntimeError("of its own making")
    with pytest.raises(RuntimeError, match="of its own making"):
        next(lent(MODEL.encode("Once"), SETTINGS))
