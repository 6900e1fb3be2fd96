"""Cells over a Ray cluster: a real one of two nodes, with a worker killed on the way."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.lab.test_runner import EXPERIMENT, STORY, TOTAL, Narrow, content, do, plan
from xtc_viz.errors import ModelError, SettingsError
from xtc_viz.lab.reading import failures
from xtc_viz.lab.runner import Progress, run_with
from xtc_viz.lab.store import Store
from xtc_viz.lab.workers.cluster import Cluster, Copy, address_of
from xtc_viz.models.fake import FakeModel

Content = dict[str, tuple[str, str, bytes]]


def test_addresses() -> None:
    assert address_of("ray") == "auto"
    assert address_of("ray://10.0.0.1:10001") == "ray://10.0.0.1:10001"
    for word in ("", "ray:", "ray://", "auto", "http://x"):
        with pytest.raises(SettingsError, match="`workers` must be `ray`, or `ray://`"):
            address_of(word)


def test_a_copy_gives_what_the_plain_loop_gives(tmp_path: Path) -> None:
    """Without Ray: a copy is a plain object."""
    with Store(tmp_path / "a.sqlite") as store, Store(tmp_path / "b.sqlite") as other:
        do(store, FakeModel())
        copy = Copy(FakeModel, 4)
        about = copy.about()
        cells = plan(FakeModel())
        for first in range(0, TOTAL, 7):
            news = copy.write(EXPERIMENT, cells[first : first + 7], about.identity)
            other.add(news.written, about.identity, about.info)
        assert content(other, cells) == content(store, cells)
        with pytest.raises(ModelError, match="different models"):
            Copy(partial(FakeModel, name="x"), 4).write(EXPERIMENT, cells[:1], about.identity)


# With Ray

ray_marks = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore")
def test_no_cluster_there() -> None:
    """Stands before what starts one."""
    pytest.importorskip("ray")
    with pytest.raises(SettingsError, match="a cluster that answers"):
        Cluster(FakeModel, 3, "auto")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster of two nodes on this machine, with one processor each."""
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("OMP_NUM_THREADS", "1")
        from ray.cluster_utils import Cluster as Machines

        small = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
        machines = Machines(initialize_head=True, head_node_args=small)
        machines.add_node(**small)
        yield machines.address
        import ray

        ray.shutdown()
        machines.shutdown()


def cluster(address: str, load: Any = FakeModel, rows: int = 3) -> closing[Cluster]:
    return closing(Cluster(load, rows, address))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Content:
    with Store(tmp_path_factory.mktemp("whole") / "a.sqlite") as made:
        do(made, FakeModel())
        return content(made, plan(FakeModel()))


def spread(workers: Cluster, store: Store) -> Progress:
    return [*run_with(workers, EXPERIMENT, STORY, store)][-1]


def copies() -> list[psutil.Process]:
    """Return the processes that copies of a model are in."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = " ".join(process.info["cmdline"] or [])
        if words.startswith("ray::Copy"):
            found.append(process)
    return found


class TestCluster:
    pytestmark = ray_marks

    def test_a_killed_worker_costs_what_it_was_at(
        self, address: str, tmp_path: Path, undisturbed: Content
    ) -> None:
        slow = partial(FakeModel, delay=0.05)
        killed = None
        with Store(tmp_path / "a.sqlite") as store, cluster(address, slow) as workers:
            for progress in run_with(workers, EXPERIMENT, STORY, store):
                if progress.written and killed is None and len(copies()) == 2:
                    killed = copies()[0].pid
                    psutil.Process(killed).kill()
            assert killed is not None, "both wrote before the end"
            assert killed not in [process.pid for process in copies()]
            assert (progress.done, progress.failed, progress.written) == (TOTAL, 0, TOTAL)
            assert len(store) == TOTAL
            assert content(store, plan(FakeModel())) == undisturbed
        assert copies() == []

    def test_it_is_stopped_and_gone_on_with_as_without(
        self, address: str, tmp_path: Path, undisturbed: Content
    ) -> None:
        with Store(tmp_path / "a.sqlite") as store:
            with cluster(address) as workers:
                with closing(run_with(workers, EXPERIMENT, STORY, store)) as reports:
                    for progress in reports:
                        if progress.written >= 5:
                            break
                kept = len(store)
                assert 5 <= kept < TOTAL
                last = spread(workers, store)
            assert (last.before, last.done) == (kept, TOTAL)
            assert content(store, plan(FakeModel())) == undisturbed
            # And what the cluster wrote is there for the plain loop.
            assert do(store, FakeModel()).before == TOTAL

    def test_both_nodes_write(self, address: str, tmp_path: Path) -> None:
        slow = partial(FakeModel, delay=0.01)
        with Store(tmp_path / "a.sqlite") as store, cluster(address, slow) as workers:
            nodes = set()
            for _ in run_with(workers, EXPERIMENT, STORY, store):
                for process in copies():
                    node = process.parent()
                    nodes |= {node.pid} if node else set()
            assert len(nodes) == 2

    def test_failures_come_home(self, address: str, tmp_path: Path) -> None:
        tight = partial(FakeModel, context_length=30)
        with Store(tmp_path / "a.sqlite") as store, cluster(address, tight) as workers:
            last = spread(workers, store)
            assert last.failed > 0
            assert last.done + last.failed == TOTAL
            (record,) = store.runs()
            assert set(failures(store, record)) == {*last.failures}

    def test_fewer_rows_where_memory_runs_out(
        self, address: str, tmp_path: Path, undisturbed: Content
    ) -> None:
        narrow = partial(Narrow, most=2)
        with Store(tmp_path / "a.sqlite") as store, cluster(address, narrow) as workers:
            assert spread(workers, store).done == TOTAL
            assert content(store, plan(FakeModel())) == undisturbed

    def test_a_model_that_gives_up_says_so(self, address: str, tmp_path: Path) -> None:
        import torch

        dead = partial(Narrow, most=0)
        with Store(tmp_path / "a.sqlite") as store, cluster(address, dead) as workers:
            with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
                spread(workers, store)
            (record,) = store.runs()
            assert "out of memory" in failures(store, record)[-1].message

    def test_a_model_that_cannot_be_loaded(self, address: str) -> None:
        def fails() -> FakeModel:
            raise ModelError("There is no such model here.")

        with pytest.raises(ModelError, match="no such model"):
            Cluster(fails, 3, address)
        deadline = time.monotonic() + 30
        while copies() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert copies() == []

    def test_machines_with_different_models_are_refused(self, address: str, tmp_path: Path) -> None:
        def other() -> FakeModel:
            return FakeModel(name=f"model {random.random()}")

        def whole() -> None:
            with Store(tmp_path / "a.sqlite") as store, cluster(address, other) as workers:
                for _ in range(100):
                    spread(workers, store)
                    time.sleep(0.1)

        with pytest.raises(ModelError, match="different models"):
            whole()
