"""The command: quick where it only says something, and quiet about what it does not know."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import xtc_viz
from xtc_viz import cli

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"torch", "gradio", "transformers", "plotly"}


def run(code: str, **environment: str) -> str:
    """Return what `code` prints in a fresh interpreter, with a known environment."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GRADIO_"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env=clean | environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_words_alone_load_nothing_heavy(flag: str) -> None:
    printed = run(
        "import sys\nfrom xtc_viz.cli import main\n"
        f"try:\n    main([{flag!r}])\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('modules', *sys.modules)"
    )
    words, _, modules = printed.rpartition("modules ")
    assert "--port" in words if flag == "--help" else words == f"xtc_viz {xtc_viz.__version__}\n"
    assert HEAVY & set(modules.split()) == set()


def test_the_process_is_set_before_what_reads_it_is_loaded() -> None:
    """Each module on its way in sees what it reads, though the entry imports none of them."""
    printed = run(
        "import os, sys\n"
        "from xtc_viz import cli\n"
        "before = sys.modules.keys() & {'torch', 'gradio'}\n"
        "cli.TASKS['page'] = cli.Task('', lambda words: print(before, words,\n"
        "    os.environ['OMP_WAIT_POLICY'], os.environ['GRADIO_ANALYTICS_ENABLED']))\n"
        "cli.main(['page', '--port', '1'])\n"
        "cli.main(['--port', '2'])\n"
    )
    assert printed.splitlines() == [
        "set() ['--port', '1'] PASSIVE False",
        "set() ['--port', '2'] PASSIVE False",
    ]


def test_an_unknown_word_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["pages"])
    error = capsys.readouterr().err
    assert f"must be a task ({', '.join(cli.TASKS)}) or an option, but is 'pages'" in error
