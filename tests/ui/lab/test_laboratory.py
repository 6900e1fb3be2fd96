"""The one run of a server: it ends, stops, goes on, gives way, and survives its model's leaving."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models.gate import Gate
from tests.ui.lab.labdesk import CHOICE, EXPERIMENT, TOTAL, until
from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import BusyError, StoreError
from xtc_viz.lab.cell import cells
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.runner import Progress, run
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import load_suite
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.rows import Row, decode_rows
from xtc_viz.settings import SamplerSettings
from xtc_viz.ui.lab.choice import Choice
from xtc_viz.ui.lab.laboratory import Laboratory, Phase, check_store, without
from xtc_viz.ui.lab.questions import Lab

STORY = load_suite("story")


def texts(path: Path, model: LanguageModel, experiment: Any = EXPERIMENT) -> dict[str, Any]:
    """All that is stored of an experiment, but for its seconds."""
    names = [cell.name for cell in cells(experiment, STORY, Identity.of(model))]
    with Store(path) as store:
        steps = dict(store.steps(names))
        return {name: (e.text, steps[name]) for name, e in store.entries(names).items()}


def visit(model: LanguageModel, length: int = 8) -> list[int]:
    """A visitor's run: the tokens that it wrote."""
    row = Row(model.encode("Once upon"), SamplerSettings(), max_new_tokens=length)
    with closing(decode_rows(model, [row])) as rounds:
        return [e.step.token for entries, _ in rounds for e in entries if e.step]


def test_a_run_from_its_begin_to_its_end(lab: Lab) -> None:
    laboratory = lab.laboratory
    assert laboratory.status.phase == Phase.IDLE
    laboratory.start(CHOICE)
    laboratory.join(60)
    status = laboratory.status
    assert (status.phase, status.experiment, status.suite) == (Phase.DONE, "mine", "story")
    assert status.progress is not None
    assert (status.progress.done, status.progress.total) == (TOTAL, TOTAL)
    assert laboratory.rate(Identity.of(FakeModel())) == status.progress.rate
    with Store(lab.path) as store:
        assert [each.name for each in store.runs()] == [status.run]


def test_one_at_a_time_and_it_stops_and_goes_on(lab: Lab, host: ModelHost) -> None:
    laboratory, model = lab.laboratory, host.resident
    assert isinstance(model, FakeModel)
    model.delay = 0.02
    laboratory.start(CHOICE)
    with pytest.raises(BusyError, match="A run of mine is going"):
        laboratory.start(CHOICE)
    until(lambda: laboratory.status.progress and laboratory.status.progress.tokens)
    assert laboratory.stop()
    laboratory.join(60)
    assert str(laboratory.status.phase) == "stopped"
    assert not laboratory.stop()
    assert (model.open_generations, host.waiting) == (0, 0)
    model.delay = 0.0
    laboratory.start(CHOICE)
    laboratory.join(60)
    assert str(laboratory.status.phase) == "done"
    assert len(texts(lab.path, model)) == TOTAL


def test_visitors_go_first_and_nothing_of_either_changes(lab: Lab, host: ModelHost) -> None:
    model = host.resident
    assert isinstance(model, FakeModel)
    alone = visit(model)
    model.delay = 0.1
    lab.laboratory.start(CHOICE)
    until(lambda: lab.laboratory.status.phase == Phase.WRITING)
    for _ in range(3):
        with host.turn("somebody") as turn:
            assert turn.wait(30)
            until(lambda: lab.laboratory.status.phase == Phase.PAUSED)
            written = lab.laboratory.status.progress
            assert visit(turn.model) == alone
            assert lab.laboratory.status.progress == written, "it wrote beside a visitor"
        until(lambda: lab.laboratory.status.phase == Phase.WRITING)
    model.delay = 0.0
    lab.laboratory.join(60)
    assert lab.laboratory.status.phase == Phase.DONE
    with Store(lab.path.with_name("alone.sqlite")) as store:
        for _ in run(EXPERIMENT, STORY, FakeModel(), store):
            pass
    assert texts(lab.path, model) == texts(lab.path.with_name("alone.sqlite"), FakeModel())


@pytest.mark.story_model
def test_runs_that_take_turns_are_the_runs_alone_to_the_last_bit(tmp_path: Path) -> None:
    """Between the steps of the laboratory's batch others write with the same model."""
    from xtc_viz.models.local.model import LocalModel

    model = LocalModel.load(str(STORY_MODEL))
    other = replace(EXPERIMENT, name="other", length=20)
    order = 7

    def written(name: str, between: Any) -> dict[str, Any]:

        with Store(tmp_path / name) as store:
            for _ in run(other, STORY, model, store, lot=random.Random(order)):
                between()
        return texts(tmp_path / name, model, other)

    alone = written("alone.sqlite", lambda: None)
    spoken: list[list[int]] = []
    beside = written("beside.sqlite", lambda: spoken.append(visit(model, 16)))
    assert beside == alone
    assert len(spoken) > 3
    assert all(tokens == spoken[0] for tokens in spoken)


def test_another_model_ends_it_in_words_and_the_store_keeps_all(tmp_path: Path) -> None:
    first = FakeModel(delay=0.05)
    host = ModelHost(first, Gate().open())
    laboratory = Laboratory(host, tmp_path / "lab.sqlite")
    laboratory.start(CHOICE)
    until(lambda: laboratory.status.progress and laboratory.status.progress.written)
    host.load(LocalSpec("other"))
    laboratory.join(60)
    status = laboratory.status
    assert status.phase == Phase.FAILED
    assert "other is in use now: it can go on when that model is back. What was" in status.words
    assert first.open_generations == 0
    assert 0 < len(texts(tmp_path / "lab.sqlite", first)) < TOTAL


def test_without_a_model_it_says_so(tmp_path: Path) -> None:
    laboratory = Laboratory(ModelHost(), tmp_path / "lab.sqlite")
    laboratory.start(CHOICE)
    laboratory.join(60)
    assert laboratory.status.phase == Phase.FAILED
    assert laboratory.status.words == "No model is loaded: choose one. What was written is stored."


def test_a_choice_that_cannot_be_is_said(lab: Lab) -> None:
    huge = replace(EXPERIMENT, samples=10_000, seeds=tuple(range(9)))
    lab.laboratory.start(Choice(huge))
    lab.laboratory.join(60)
    assert lab.laboratory.status.phase == Phase.FAILED
    assert "at most 200,000 cells" in lab.laboratory.status.words


def test_a_store_that_is_none_is_refused_at_the_start(tmp_path: Path) -> None:
    check_store(tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()
    (tmp_path / "text.sqlite").write_text("no database, whatever its name says")
    with pytest.raises(StoreError):
        check_store(tmp_path / "text.sqlite")
    with pytest.raises(StoreError, match="is not there"):
        check_store(tmp_path / "nowhere" / "lab.sqlite")


def test_the_time_of_others_counts_for_nothing() -> None:
    """200 tokens in 10 s, of which others had 6: 50 a second, and 100 more take 2 s."""
    progress = Progress(9, 0, 3, tokens=200, seconds=10.0, seconds_left=5.0)
    own = without(6.0, progress)
    assert (own.rate, own.seconds_left) == (50.0, 2.0)
    assert without(0.0, progress) == progress
    assert without(1.0, Progress(9, 0, 0)).seconds_left is None
