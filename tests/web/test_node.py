"""The page's modules in plain node, on what Python really says: each side is held to the other."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.web import payloads

ROOT = Path(__file__).parents[2]
TESTS = sorted(Path(__file__).parent.glob("*.test.js"))
TSC = ROOT / "node_modules" / ".bin" / "tsc"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of answer."""
    return tmp_path_factory.mktemp("payloads")


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Any]:
    return payloads.write(folder)


def run(*command: str, **environment: str) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name.removesuffix(".test.js"))
def test_the_pages_modules_in_node(path: Path, folder: Path, answers: dict[str, Any]) -> None:
    run("node", "--test", str(path), XTC_PAYLOADS=str(folder))


@pytest.mark.skipif(not TSC.exists(), reason="needs typescript: npm install")
def test_what_python_says_is_of_the_types_that_the_page_expects(
    folder: Path, answers: dict[str, Any]
) -> None:
    module = folder / "payloads.ts"
    module.write_text(payloads.as_typescript(answers), encoding="utf-8")
    web = ROOT / "assets" / "web"
    types = [str(path) for path in (web / "types.d.ts", web / "lab" / "types.d.ts")]
    options = ("--ignoreConfig", "--noEmit", "--strict", "--lib", "es2024,dom", "--types", "")
    run(str(TSC), *options, *types, str(module))


def test_every_kind_of_answer_has_a_type(answers: dict[str, Any]) -> None:
    assert set(answers) == set(payloads.TYPES)
