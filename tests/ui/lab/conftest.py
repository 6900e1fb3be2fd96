"""A laboratory on the fake model, whose run ends with the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.access import OpenTo
from xtc_viz.ui.lab.questions import Lab


@pytest.fixture
def host() -> ModelHost:
    return ModelHost(FakeModel())


@pytest.fixture
def lab(host: ModelHost, tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(host, tmp_path / "lab.sqlite", OpenTo.OWN)
    yield made
    made.laboratory.stop()
    made.laboratory.join(60)
    made.numbers.close()
