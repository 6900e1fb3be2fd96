"""Tiny models of the catalog's architectures, made once per test run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from transformers.utils import logging

from tests.models import tiny
from tests.models.gate import Gate
from xtc_viz.models.local.model import LocalModel

logging.disable_progress_bar()


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the folder of a tiny model of an architecture; made when first asked for."""
    made: dict[str, Path] = {}

    def folder(architecture: str) -> Path:
        if architecture not in made:
            path = tmp_path_factory.mktemp("hub") / f"tiny-{architecture}"
            made[architecture] = tiny.save_model(architecture, path)
        return made[architecture]

    return folder


@pytest.fixture(scope="session")
def big_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model of 64 MB."""
    return tiny.save_big_model(tmp_path_factory.mktemp("hub") / "big")


@pytest.fixture(scope="session")
def load(tiny_folder: Callable[[str], Path]) -> Callable[[str], LocalModel]:
    """Return the loaded tiny model of an architecture."""
    loaded: dict[str, LocalModel] = {}

    def get(architecture: str) -> LocalModel:
        if architecture not in loaded:
            loaded[architecture] = LocalModel.load(str(tiny_folder(architecture)))
        return loaded[architecture]

    return get


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A loader that waits, let through at the end whatever became of the test."""
    closed = Gate()
    yield closed
    closed.open()
