"""The repository's files, and one new environment for all tests that install something.

One thing differs from what a visitor of the repository gets: torch is the build that the other
tests run on, by a constraint. The newest one would come with gigabytes of CUDA for every run of
these tests. All else is what the ranges of `requirements.txt` bring today.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.install)


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment, and the variables that processes in it have."""

    programs: Path
    variables: dict[str, str]

    def run(self, program: str, *arguments: str | Path, folder: Path) -> str:
        """Return what one of its programs prints; one that fails fails the test."""
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=folder, env=self.variables, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A new environment, in which nothing but pip is installed."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", home / "new"], check=True)
    constraint = home / "torch.txt"
    constraint.write_text(f"torch=={version('torch')}\n", encoding="utf-8")
    own = ("XTC_VIZ_", "PYTHON", "VIRTUAL_ENV", "GRADIO_", "PYTEST_")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    # Python compiles what is imported when it is; pip would compile all of torch and transformers.
    told = {"PIP_CONSTRAINT": str(constraint), "PIP_NO_COMPILE": "1"}
    return Environment(home / "new" / "bin", variables | told)


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that are in the repository, and no others."""
    folder = tmp_path_factory.mktemp("sources")
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, capture_output=True
    )
    assert listed.returncode == 0, listed.stderr
    for name in filter(None, listed.stdout.decode().split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder
