"""The laboratory on real servers, which are killed in the middle and come back, or do not."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.models.remote.llama_process import ROOT, LlamaProcess
from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import ModelError, ServerError, SettingsError
from xtc_viz.lab.cell import Cell, cells
from xtc_viz.lab.command import main as lab
from xtc_viz.lab.command.base import DONE, WRONG_INPUT
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.reading import failures
from xtc_viz.lab.runner import Progress, run, run_with
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.lab.workers import Workers
from xtc_viz.lab.workers.patient import Patient
from xtc_viz.lab.workers.post import PATIENCE
from xtc_viz.lab.workers.servers import Servers
from xtc_viz.models.host import ModelHost
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings
from xtc_viz.ui.lab.choice import Choice
from xtc_viz.ui.lab.laboratory import Laboratory, Phase, Status

pytestmark = [pytest.mark.engines, pytest.mark.slow]

STORY = load_suite("story")
EXPERIMENT = Experiment(
    "test",
    "story",
    (
        LaneSettings("plain", SamplerSettings(min_p=0.05)),
        LaneSettings("XTC", SamplerSettings(min_p=0.05, xtc=XTCSettings(0.5, 0.1))),
    ),
    samples=2,
    length=20,
    prompts=5,
)
TOTAL = 2 * 2 * 5
Texts = dict[str, tuple[str, str]]


@pytest.fixture(scope="module")
def boxes(story_gguf: Path) -> Iterator[list[LlamaProcess]]:
    """Two servers with the same model."""
    made = [LlamaProcess(story_gguf, slots=2) for _ in range(2)]
    with ExitStack() as held:
        for box in made:
            held.callback(box.kill)
            box.start()
        yield made


@pytest.fixture
def both(boxes: list[LlamaProcess]) -> list[LlamaProcess]:
    """Both of them, alive."""
    for box in boxes:
        if not box.lives:
            box.start()
        box.wait()
    return boxes


def connected(boxes: Sequence[LlamaProcess], **options: float) -> closing[Servers]:
    return closing(Servers([RemoteSpec(box.address) for box in boxes], **options))  # type: ignore[arg-type]


def one_server(box: LlamaProcess) -> Workers:
    return Servers([RemoteSpec(box.address)])


def patient(box: LlamaProcess) -> Workers:
    return Patient(RemoteModel.connect(box.address))


def content(store: Store, plan: Sequence[Cell]) -> Texts:
    entries = store.entries(cell.name for cell in plan)
    return {name: (entry.text, entry.finish) for name, entry in entries.items()}


def plan(workers: Workers) -> list[Cell]:
    return list(cells(EXPERIMENT, STORY, workers.identity))


class Watched:
    """A run, of which every cell that was written is counted."""

    def __init__(self, workers: Workers, path: Path) -> None:
        self.workers, self.path = workers, path
        self.reports: list[Progress] = []

    def go(self, then: Callable[[Progress], None] = lambda _: None) -> Texts:
        """Run to the end and return all texts; `then` sees each report."""
        with Store(self.path) as store:
            for progress in run_with(self.workers, EXPERIMENT, STORY, store):
                self.reports.append(progress)
                then(progress)
            assert (progress.done, progress.failed, len(store)) == (TOTAL, 0, TOTAL)
            assert progress.written + progress.before == TOTAL  # none of them twice
            return content(store, plan(self.workers))


@pytest.fixture(scope="module")
def alone(boxes: list[LlamaProcess], tmp_path_factory: pytest.TempPathFactory) -> Texts:
    """What one server writes that nobody disturbs, in the plain loop."""
    boxes[0].wait()
    model = RemoteModel.connect(boxes[0].address)
    with Store(tmp_path_factory.mktemp("alone") / "a.sqlite") as store:
        *_, last = run(EXPERIMENT, STORY, model, store, rows=2)
        assert last.written == TOTAL
        return content(store, [*cells(EXPERIMENT, STORY, Identity.of(model))])


def test_two_servers_write_what_one_writes(
    both: list[LlamaProcess], alone: Texts, tmp_path: Path
) -> None:
    with connected(both) as workers:
        run = Watched(workers, tmp_path / "a.sqlite")
        assert run.go() == alone
        assert not any(report.absent for report in run.reports)
        # A run that is whole asks nothing more of them.
        assert run.go() == alone
        assert run.reports[-1].before == TOTAL


def test_the_other_takes_over_from_one_that_is_killed(
    both: list[LlamaProcess], alone: Texts, tmp_path: Path
) -> None:
    def kill(progress: Progress) -> None:
        if progress.written >= 4:
            both[1].kill()

    with connected(both) as workers:
        run = Watched(workers, tmp_path / "a.sqlite")
        assert run.go(kill) == alone
        [absence] = run.reports[-1].absent
        assert absence.who == f"127.0.0.1:{both[1].port}"
        assert absence.reason.startswith(f"The server at {absence.who} ")
        assert absence.until == absence.since + PATIENCE
        # It is taken in again where the next run finds it there.
        both[1].start()
        both[1].wait()
        again = Watched(workers, tmp_path / "b.sqlite")
        assert again.go() == alone
        assert again.reports[1].absent == (absence,)
        assert again.reports[-1].absent == ()


@pytest.mark.parametrize("workers", [one_server, patient])
def test_one_that_is_alone_is_waited_for(
    workers: Callable[[LlamaProcess], Workers],
    both: list[LlamaProcess],
    alone: Texts,
    tmp_path: Path,
) -> None:
    box = both[0]
    killed = False

    def kill_and_start(progress: Progress) -> None:
        nonlocal killed
        if progress.written >= 4 and not killed:
            killed = True
            box.kill()
        elif progress.absent and not box.lives:
            box.start()

    with closing(workers(box)) as those:
        run = Watched(those, tmp_path / "a.sqlite")
        assert run.go(kill_and_start) == alone
    assert any(report.absent for report in run.reports)
    assert run.reports[-1].absent == ()


def test_patience_ends_and_the_run_goes_on_later(
    both: list[LlamaProcess], alone: Texts, tmp_path: Path
) -> None:
    where = f"127.0.0.1:{both[0].port}"
    with connected(both[:1], patience=0.5) as workers, Store(tmp_path / "a.sqlite") as store:

        def go() -> None:
            for progress in run_with(workers, EXPERIMENT, STORY, store):
                if progress.written >= 4:
                    both[0].kill()

        with pytest.raises(ServerError, match=f"^The server at {where} .* within 0.5 seconds.$"):
            go()
        kept = len(store)
        assert 4 <= kept < TOTAL
        [(_, failure)] = [(f.condition, f) for f in failures(store, store.runs()[0])]
        assert "did not come back" in failure.message
    with connected(both[1:]) as workers:
        run = Watched(workers, tmp_path / "a.sqlite")
        assert run.go() == alone
        assert run.reports[0].before == kept


def test_patience_in_the_plain_loop_ends_too(both: list[LlamaProcess], tmp_path: Path) -> None:
    workers = Patient(RemoteModel.connect(both[0].address), patience=0.5)
    with Store(tmp_path / "a.sqlite") as store:

        def go() -> None:
            for progress in run_with(workers, EXPERIMENT, STORY, store):
                if progress.written >= 4:
                    both[0].kill()

        with pytest.raises(ServerError, match=r" did not come back within 0\.5 seconds\.$"):
            go()
        assert 4 <= len(store) < TOTAL


def test_the_run_of_a_page_waits_for_its_server(
    both: list[LlamaProcess], alone: Texts, tmp_path: Path
) -> None:
    """It says so meanwhile, and Stop is heard."""
    box = both[0]
    box.kill()
    box.start()
    box.wait()
    model = RemoteModel.connect(box.address)
    host = ModelHost(model)
    laboratory = Laboratory(host, tmp_path / "lab.sqlite")
    choice = Choice(EXPERIMENT, STORY)

    def away(status: Status) -> bool:
        return bool(status.progress and status.progress.absent)

    def watch(until: Callable[[Status], bool]) -> Status:
        end = time.monotonic() + 60
        while not until(status := laboratory.status):
            assert time.monotonic() < end, status
            time.sleep(0.01)
        return status

    laboratory.start(choice)
    watch(lambda status: bool(status.progress and status.progress.written >= 4))
    box.kill()
    status = watch(away)
    assert status.phase is Phase.WRITING
    assert laboratory.stop()
    laboratory.join(30)
    assert str(laboratory.status.phase) == "stopped"
    laboratory.start(choice)
    watch(away)
    assert host.waiting == 0
    box.start()
    watch(lambda status: not status.phase.going)
    assert str(laboratory.status.phase) == "done"
    with Store(laboratory.path) as store:
        assert content(store, [*cells(EXPERIMENT, STORY, Identity.of(model))]) == alone


@pytest.fixture(scope="module")
def other_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model in a file of the same name."""
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    from tests.engines.gguf_model import write_gguf

    config = LlamaConfig.from_pretrained(STORY_MODEL)
    config.num_hidden_layers = 1
    path = tmp_path_factory.mktemp("other") / "story.gguf"
    tokenizer = PreTrainedTokenizerFast.from_pretrained(STORY_MODEL)
    write_gguf(LlamaForCausalLM(config), tokenizer, path)
    return path


def test_one_that_comes_back_with_another_model_writes_no_more(
    both: list[LlamaProcess], other_gguf: Path, tmp_path: Path
) -> None:
    box, own = both[1], both[1].path

    def exchange(progress: Progress) -> None:
        if progress.written >= 4 and box.path == own:
            box.kill()
            box.path = other_gguf
            box.start()

    try:
        with connected([box]) as workers:
            run = Watched(workers, tmp_path / "a.sqlite")
            words = r"came back with another model, story.gguf \([\d,]+ parameters, "
            with pytest.raises(ServerError, match=words):
                run.go(exchange)
        # Of what two servers have at the begin, nothing is written at all.
        box.wait()
        words = f"different models: story.gguf .* at 127.0.0.1:{both[0].port}, and story.gguf"
        with pytest.raises(ModelError, match=words):
            connected(both)
    finally:
        box.kill()
        box.path = own


MINE = """
name = "mine"
suite = "story"
samples = 3
length = 24
prompts = 6
[[conditions]]
name = "baseline"
sampler = { min_p = 0.05 }
"""


def test_from_the_command_line(
    both: list[LlamaProcess],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One of two dies, which is said; Ctrl-C stops; the same command goes on with the other."""
    (tmp_path / "mine.toml").write_text(MINE, encoding="utf-8")
    # What starts these tests in the background may have Ctrl-C ignored, for its children too.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from xtc_viz.cli import main; main()"
    words = ["lab", "run", "mine.toml", "--store", "a.sqlite"]
    own = [f"--model={box.address}" for box in both]
    command = [sys.executable, "-c", f"{heard}; {code}", *words]
    lines = []
    with subprocess.Popen([*command, *own], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as one:
        assert one.stderr
        for line in one.stderr:
            lines.append(line)
            if len(lines) == 1:
                both[1].kill()
            if "It is waited for until" in line:
                one.send_signal(signal.SIGINT)
    assert one.returncode == 130, lines
    assert lines[0] == "mine on story.gguf: 0 of 18 cells\n"
    where = f"127.0.0.1:{both[1].port}"
    said = rf"mine on story.gguf: The server at {where} .*\. It is waited for until [\d:]{{8}}\.\n"
    assert any(re.fullmatch(said, line) for line in lines)
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    monkeypatch.chdir(tmp_path)
    assert lab([*words[1:], own[0], "--json"]) == DONE
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["state"], last["done"], last["absent"]) == ("done", 18, [])
    # Several names are those of servers, and who decodes on them is here.
    for more in (["--model", "fake"], ["--workers", "ray"]):
        assert lab([*words[1:], own[0], *more]) == WRONG_INPUT


def test_what_is_wrong_is_said_before_anything_is_written(both: list[LlamaProcess]) -> None:
    spec = RemoteSpec(both[0].address)
    for specs in ([], [spec, RemoteSpec(both[0].address + "/v1")]):
        with pytest.raises(SettingsError, match="`model` must be addresses of servers, each once"):
            Servers(specs)
    with pytest.raises(SettingsError, match="`rows` must be at least 1"):
        Servers([spec], rows=0)
    with pytest.raises(SettingsError, match=r"`patience` must be in \[0, 604,800\] seconds"):
        Servers([spec], patience=-1.0)
    with pytest.raises(ServerError, match="nothing listens there"):
        Servers([spec, RemoteSpec("http://127.0.0.1:9")])
