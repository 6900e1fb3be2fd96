"""Cells written by a Ray cluster: a copy of the model a GPU, or a few processors where it has none.

    with closing(Cluster(partial(LocalModel.load, spec), rows=16)) as workers:
        for progress in run_with(workers, experiment, suite, store):
            print(progress.done, progress.total)

A copy is a plain actor. It gives back the cells of a batch, packed, and writes nothing. Where its
process or machine dies, it is started again, and decodes its batch again; what it had is lost. All
machines need this version of xtc_viz, and the model under the name that is given.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from xtc_viz import __version__
from xtc_viz.errors import ModelError, SettingsError, shortened
from xtc_viz.lab.cell import SAMPLING, Cell
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.news import News
from xtc_viz.lab.writer import Writer
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.modelinfo import ModelInfo

PROCESSORS = 4
"""Of how many a copy makes use, on machines without a GPU."""
AHEAD = 2
"""Batches that a copy has, so that it need not wait for the next one."""
EVERY = 0.2
"""Seconds between two news where no batch is finished."""

Load = Callable[[], LanguageModel]


def address_of(word: str) -> str:
    """Return the address that `ray` (the cluster that this machine is of) or `ray://host:port` (one
    that is reached from elsewhere) means to Ray. Raises `SettingsError`."""
    if word == "ray":
        return "auto"
    if word.startswith("ray://") and len(word) > len("ray://"):
        return word
    raise SettingsError("workers", "`ray`, or `ray://` with a cluster's address and port", word)


@dataclass(frozen=True, slots=True)
class _About:
    """What a copy says of itself."""

    program: tuple[str, int]
    identity: Identity
    info: ModelInfo


class Copy:
    """One copy of the model, in a process of the cluster."""

    def __init__(self, load: Load, rows: int) -> None:
        self._load, self._rows = load, rows
        self._model: LanguageModel | None = None
        self._last: tuple[Experiment, Writer] | None = None

    def about(self) -> _About:
        model = self._loaded()
        return _About((__version__, SAMPLING), Identity.of(model), model.info)

    def write(self, experiment: Experiment, cells: list[Cell], identity: Identity) -> News:
        """Write these cells, all together. Raises what the model does."""
        model = self._loaded()
        if (own := Identity.of(model)) != identity:
            raise ModelError(_differs(identity, own))
        if self._last is None or self._last[0] != experiment:
            self._last = experiment, Writer(experiment, model, self._rows)
        every = list(self._last[1].write(cells))
        return News(
            tuple(one for news in every for one in news.written),
            tuple(one for news in every for one in news.failed),
            sum(news.tokens for news in every),
        )

    def _loaded(self) -> LanguageModel:
        # Not when it is made: what goes wrong then is said in Ray's words.
        if self._model is None:
            self._model = self._load()
        return self._model


class Cluster:
    """Copies of one model on the machines of a Ray cluster."""

    def __init__(self, load: Load, rows: int, address: str = "auto") -> None:
        """Join the cluster and wait for the first copy; the others come in when they are loaded.

        `load` gives the model and can be pickled; `rows` are those of each copy.

        Raises:
            SettingsError: `rows` is less than 1, Ray is not installed, or no cluster is there.
            ModelError: the model cannot be loaded, or is another one on some machine.
        """
        if rows < 1:
            raise SettingsError("rows", "at least 1", rows)
        self._rows = rows
        self._ray, self._joined = _join(address)
        self._ready: list[Any] = []
        try:
            kind = self._ray.remote(max_restarts=-1, max_task_retries=-1)(Copy)
            copies = [kind.options(**own).remote(load, rows) for own in self._places()]
            self._coming = {copy.about.remote(): copy for copy in copies}
            self._first: _About | None = None
            while self._first is None:
                self._welcome(self._heard([*self._coming]))
        except BaseException:
            self.close()
            raise

    @property
    def identity(self) -> Identity:
        return self._about.identity

    @property
    def info(self) -> ModelInfo:
        return self._about.info

    @property
    def _about(self) -> _About:
        assert self._first
        return self._first

    def write(self, experiment: Experiment, cells: Iterator[Cell]) -> Generator[News, None, None]:
        """Write these cells, in batches of as many as a copy has rows; news at each batch.

        Raises:
            ModelError: no copy is left, or one has another model.
            Exception: what the model raised, when even single rows fail one after another.
        """
        again = deque[list[Cell]]()
        flying: dict[Any, tuple[Any, list[Cell]]] = {}
        experiment_there = self._ray.put(experiment)
        idle = deque(copy for _ in range(AHEAD) for copy in self._ready)
        try:
            while True:
                while idle:
                    batch = again.popleft() if again else list(islice(cells, self._rows))
                    if not batch:
                        break
                    copy = idle.popleft()
                    sent = copy.write.remote(experiment_there, batch, self.identity)
                    flying[sent] = copy, batch
                if not flying:
                    return
                ended = self._heard([*flying, *self._coming])
                idle.extend(copy for copy in self._welcome(ended) for _ in range(AHEAD))
                news = []
                for one in [each for each in ended if each in flying]:
                    copy, batch = flying.pop(one)
                    try:
                        news.append(self._got(one))
                    except self._ray.exceptions.RayActorError as error:
                        # It would be started again, if there were a machine for it.
                        again.append(batch)
                        self._ready = [other for other in self._ready if other is not copy]
                        idle = deque(other for other in idle if other is not copy)
                        if not self._ready and not self._coming:
                            raise ModelError("No machine of the cluster is left.") from error
                    else:
                        if copy in self._ready:
                            idle.append(copy)
                yield from news or [News()]
        finally:
            for one in flying:
                with suppress(Exception):
                    self._ray.cancel(one)

    def close(self) -> None:
        """End all copies, and leave the cluster where it was joined for this."""
        for copy in [*self._ready, *getattr(self, "_coming", {}).values()]:
            with suppress(Exception):
                self._ray.kill(copy)
        self._ready, self._coming = [], {}
        if self._joined:
            self._ray.shutdown()
            self._joined = False

    def _places(self) -> list[dict[str, Any]]:
        """Return for each copy what it takes, and where. Raises `SettingsError`."""
        pinned = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        any_gpu = any(node["Resources"].get("GPU", 0) >= 1 for node in nodes)
        places = []
        for node in nodes:
            processors = int(node["Resources"].get("CPU", 0))
            if any_gpu:
                count = int(node["Resources"].get("GPU", 0))
                own: dict[str, Any] = {"num_gpus": 1, "num_cpus": min(1, processors)}
            else:
                count = -(-processors // PROCESSORS)
                own = {"num_cpus": min(PROCESSORS, processors // max(count, 1))}
            # Where that machine dies, on another one.
            where = {"scheduling_strategy": pinned(node["NodeID"], soft=True)}
            places += [own | where] * count
        if not places:
            raise SettingsError("workers", "a cluster with GPUs or processors", len(nodes))
        return places

    def _heard(self, waited_for: list[Any]) -> list[Any]:
        """Return those that are there within a moment."""
        ended, _ = self._ray.wait(waited_for, num_returns=len(waited_for), timeout=0)
        if not ended:
            ended, _ = self._ray.wait(waited_for, num_returns=1, timeout=EVERY)
        return list(ended)

    def _welcome(self, ended: list[Any]) -> list[Any]:
        """Take in the copies that are loaded, and return them."""
        new = []
        for one in [each for each in ended if each in self._coming]:
            copy = self._coming.pop(one)
            self._ready.append(copy)  # so that it is ended where it is none of ours
            try:
                about = self._got(one)
            except self._ray.exceptions.RayActorError as error:
                said = shortened(str(error).strip().rpartition("\n")[2], 200)
                raise ModelError(
                    f"A copy of the model ended before it was there ({said}). Each machine of the "
                    f"cluster needs xtc_viz {__version__} where its Python finds it."
                ) from error
            if self._first is None:
                self._first = about
            if about.program != self._first.program or about.program[0] != __version__:
                raise ModelError(
                    f"A machine of the cluster has xtc_viz {about.program[0]}, this one "
                    f"{__version__}: they must be of one version."
                )
            if about.identity != self._first.identity:
                raise ModelError(_differs(self._first.identity, about.identity))
            new.append(copy)
        return new

    def _got(self, reference: Any) -> Any:
        """Return what a copy gives; raise what it raised, and not what Ray made of that."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, Exception) else error) from None


def _differs(first: Identity, other: Identity) -> str:
    return (
        f"The machines of the cluster have different models: {first} and {other}. The same name, "
        "revision and dtype must be there on all; --revision and --dtype say which."
    )


def _join(address: str) -> tuple[Any, bool]:
    """Return Ray, and whether its cluster was joined now. Raises `SettingsError`."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a warning of things to come
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError as error:
        bounds = "left out, as Ray is not installed (pip install xtc_viz[ray])"
        raise SettingsError("workers", bounds, address) from error
    if ray.is_initialized():
        return ray, False
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:
        said = shortened(str(error).strip().partition("\n")[0], 200)
        bounds = f"that of a cluster that answers (`ray start --head` begins one; Ray says: {said})"
        raise SettingsError("workers", bounds, address) from error
    return ray, True
