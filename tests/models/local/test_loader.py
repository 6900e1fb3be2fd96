"""Models in and out of this process's memory, through the owner of the model."""

from __future__ import annotations

import ctypes
import gc
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.models.dense import dense
from xtc_viz.errors import ModelError
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import Progress, no_progress, stoppable
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.spec import ModelSpec

pytestmark = pytest.mark.slow

Folder = Callable[[str], Path]


def test_a_real_model_loads_and_decodes(tiny_folder: Folder) -> None:
    host = ModelHost(loader=LocalLoader())
    info = host.load(LocalSpec(str(tiny_folder("llama"))))
    assert host.info == info
    with host.turn() as turn:
        assert turn.wait(0)
        assert dense(turn.model.start([[5, 6]]).logits).shape == (1, info.vocab_size)
    with pytest.raises(ModelError, match="no config"):
        host.load(LocalSpec(str(tiny_folder("llama").parent)))
    assert host.info == info


def test_a_name_alone_does_not_say_how_to_load_it() -> None:
    with pytest.raises(TypeError, match="must be a LocalSpec"):
        LocalLoader().fetch(ModelSpec("a/b"), lambda words, share: None)


def test_a_load_ends_within_two_seconds_of_stop_whatever_a_library_does() -> None:
    """Such as wait for a network, or read a weight of gigabytes, and tell nobody."""
    going, gone = threading.Event(), threading.Event()

    class Hanging:
        def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LocalModel]:
            def work(inner: Progress) -> LocalModel:
                inner("reading", None)
                going.set()
                gone.wait(60)
                inner("reading", 0.5)
                raise AssertionError("it went on")

            return lambda: stoppable(work, progress)

        def free_memory(self) -> None:
            pass

    host = ModelHost(loader=Hanging())
    load = host.load_in_background(ModelSpec("a/b"))
    assert going.wait(60)
    begin = time.monotonic()
    host.stop_load(load.id)
    assert load.wait(60)
    assert time.monotonic() - begin < 2
    assert load.failure == "Loading a/b was stopped."
    gone.set()


def test_what_a_load_raises_is_raised_where_it_is_waited_for() -> None:
    def work(inner: Progress) -> int:
        raise ModelError("no")

    with pytest.raises(ModelError, match="no"):
        stoppable(work, no_progress)
    assert stoppable(lambda inner: 7, no_progress) == 7


def resident() -> int:
    """Return this process's memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_switching_and_resting_free_the_memory(big_folder: Path) -> None:
    spec = LocalSpec(str(big_folder))
    weights = 64e6
    host = ModelHost(loader=LocalLoader())
    host.load(spec)  # what the first load leaves behind is no leak
    host.rest()
    gc.collect()
    # What earlier tests freed but still holds pages would hide what this one takes.
    ctypes.CDLL(None).malloc_trim(0)
    empty = resident()
    host.load(spec)
    with host.turn() as turn:
        assert turn.wait(0)
        model = turn.model
        assert isinstance(model, LocalModel)
        model.start([[5, 6]] * 2).advance([7, 8])
        weight = weakref.ref(model.model.get_input_embeddings().weight)
        del model, turn
    one = resident() - empty
    assert one > 0.5 * weights  # some of it goes into pages that were free before
    host.load(spec)
    assert weight() is None, "the former model is gone"
    assert resident() - empty < 1.5 * weights
    host.rest()
    assert resident() - empty < 0.3 * weights
    with host.turn() as turn:
        assert turn.wait(30)
        turn.model.start([[5, 6]])  # weights take no memory before they are used
    assert resident() - empty > 0.5 * weights
    host.rest()
    assert resident() - empty < 0.3 * weights


def test_a_failed_load_leaves_nothing_behind(
    tmp_path: Path, big_folder: Path, tiny_folder: Folder
) -> None:
    path = Path(shutil.copytree(big_folder, tmp_path / "broken"))
    config = (path / "config.json").read_text()
    (path / "config.json").write_text(
        config.replace('"num_hidden_layers": 5', '"num_hidden_layers": 6')
    )
    host = ModelHost(loader=LocalLoader())
    host.load(LocalSpec(str(tiny_folder("llama"))))
    load = host.load_in_background(LocalSpec(str(path)))
    assert load.wait(30)
    assert "incomplete" in str(load.error)
    alive = [
        p for p in gc.get_objects() if type(p) is torch.nn.Parameter and p.shape == (1536, 512)
    ]
    assert not alive, "the half-loaded model lives on in the error"
