"""Golden vectors: our own operator passes them, another rule does not, and rounding decides none."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from dataclasses import replace
from math import isinf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz import cli
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.vectors.case import Safety
from xtc_viz.engines.vectors.command import main
from xtc_viz.engines.vectors.edges import edges
from xtc_viz.engines.vectors.make import vectors
from xtc_viz.sampling.dialect import PAPER, Coin, Comparison, Zero
from xtc_viz.sampling.operator import apply_xtc
from xtc_viz.settings import XTCSettings

ROOT = Path(__file__).resolve().parents[2]
RUNNERS = ROOT / "docs" / "vectors"
ALL = ("any", "plain", "probs")


def load_runner() -> Any:
    spec = importlib.util.spec_from_file_location("run_vectors", RUNNERS / "run_vectors.py")
    assert spec
    assert spec.loader
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    return runner


RUNNER = load_runner()


def written(folder: Path, *words: str) -> Path:
    path = folder / "vectors"
    assert main([*words, "-o", str(path)]) == 0
    return path


def by_operator(dialect):
    """Return an implementation: this package's operator, mixed where the engine has no coin."""

    def implementation(logits, asked):
        xtc = XTCSettings(1.0, asked["threshold"], protected=asked["protected"], dialect=dialect)
        if asked["probability"] == 0.0 or (
            asked["temperature"] == 0.0 and dialect.zero is Zero.SKIPPED
        ):
            xtc = replace(xtc, rho=0.0)
        row = torch.tensor([logits], dtype=torch.float32)
        if asked["safety"] == "probs":
            row = torch.tensor([asked["probabilities"]]).log()
        p, q = (torch.softmax(x[0].double(), -1) for x in (row, apply_xtc(row, [0.5], xtc)[0]))
        rho = asked["probability"] if dialect.coin is Coin.MIXTURE else 1.0
        weights = (1.0 - rho) * p + rho * q
        if asked["temperature"] == 0.0:
            weights = torch.nn.functional.one_hot(weights.argmax(), len(weights)).double()
        return {v: weight for v, weight in enumerate(weights.tolist()) if weight > 0.0}

    return implementation


def problems(document, implementation, safety=("any",), temperature_0=True):
    cases = RUNNER.chosen(document, safety, temperature_0)
    answers = ((case, RUNNER.wrong(case, implementation)) for case in cases)
    return {case["name"]: problem for case, problem in answers if problem}


@pytest.mark.parametrize("name", ENGINES)
def test_the_operator_passes_the_vectors_of_every_engine(tmp_path, name):
    document = RUNNER.load(written(tmp_path, "--dialect", name, "--count", "100"))
    assert problems(document, by_operator(ENGINES[name].dialect)) == {}


def test_another_rule_fails_and_the_case_is_named(tmp_path):
    document = RUNNER.load(written(tmp_path, "--dialect", "paper"))
    wrong = problems(document, by_operator(ENGINES["mlx-lm"].dialect))
    assert "leaves [0, 2] where [0, 2, 3]" not in wrong  # see below for the sentence
    told = {case["name"] for case in document["cases"] if "mlx-lm" in case["unlike"]}
    assert wrong.keys() == {n for n in told if "threshold at" not in n and "equal ones" not in n}
    assert wrong["two tied underdogs"] == (
        "leaves [0, 2] where [0] should be left, unlike llama.cpp, mlx-lm"
    )
