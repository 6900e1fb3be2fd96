"""One real server for all tests that need one, and the model of this process beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models.remote.llama import serving, write_story_model
from xtc_viz.assets import STORY_MODEL
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.remote.model import RemoteModel


@pytest.fixture(scope="session")
def story_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_story_model(tmp_path_factory.mktemp("gguf") / "story.gguf")


@pytest.fixture(scope="session")
def address(story_gguf: Path) -> Iterator[str]:
    """The address of a server with the story model."""
    with serving(story_gguf) as where:
        yield where


@pytest.fixture(scope="session")
def remote(address: str) -> RemoteModel:
    return RemoteModel.connect(address)


@pytest.fixture(scope="session")
def local() -> LocalModel:
    return LocalModel.load(LocalSpec(str(STORY_MODEL), device="cpu", dtype="float32"))
