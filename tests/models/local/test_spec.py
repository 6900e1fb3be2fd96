"""What is asked for: the same name for people wherever a folder lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from xtc_viz.errors import ModelError
from xtc_viz.models.local.folder.download import fetch
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.spec import ModelSpec


def test_a_folder_goes_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    spec = LocalSpec(str(folder))
    assert (spec.is_folder, spec.short_name) == (True, "mine")
    monkeypatch.chdir(folder)
    assert LocalSpec(".").short_name == "mine"


@pytest.mark.parametrize("path", ["/srv/models/secret", "./secret", "~/secret", "a/b/secret"])
def test_a_folder_that_is_gone_does_not_say_where_it_was(path: str) -> None:
    spec = LocalSpec(path)
    assert (spec.is_folder, spec.is_path, spec.short_name) == (False, True, "secret")
    with pytest.raises(ModelError) as error:
        fetch(spec)
    assert str(error.value) == "There is no folder 'secret' at this path."


def test_a_hub_id_is_its_own_name() -> None:
    spec = LocalSpec("someone/else", "v2")
    assert (spec.is_folder, spec.short_name) == (False, "someone/else")
    assert ModelSpec("someone/else", "v2").short_name == "someone/else"


def test_two_ways_to_load_one_model_differ() -> None:
    assert LocalSpec("a/b") == LocalSpec("a/b", device="auto")
    assert LocalSpec("a/b") != LocalSpec("a/b", device="cpu")
    assert LocalSpec("a/b") != ModelSpec("a/b")
