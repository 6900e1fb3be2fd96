"""The campaign of `make attack`, in short: nothing gets in, and the honest visitor writes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.report import FAULTS, Report

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.browser
def test_a_short_campaign_is_withstood() -> None:
    """In a process of its own, as it drives a browser of its own."""
    command = [sys.executable, "-m", "tests.attacks", "--count", "300"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {line[:40].strip(): line[40:].split() for line in done.stdout.splitlines()}
    for fault in FAULTS:
        assert counts[fault] == ["0"]
    assert int(counts["of so many runs of theirs"][0]) > 5


def test_a_report_says_what_was_not_withstood() -> None:
    report = Report()
    report.note("questions", refused=True)
    report.note("questions", refused=False)
    report.waits += [0.5, 2.25]
    assert report.withstood
    report.fault(FAULTS[0], "alert(1)")
    assert not report.withstood
    text = "\n".join(report.lines(61.0))
    assert "questions                              2        1         1" in text
    assert "scripts run: 1\n  alert(1)" in text
    assert "2.2 s" in text
