"""Golden vectors: our operator passes them, another rule does not, and rounding decides none."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import lru_cache
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
from xtc_viz.engines.vectors.formats import to_json
from xtc_viz.engines.vectors.make import vectors
from xtc_viz.sampling.dialect import PAPER, Coin, Comparison, Dialect, Removes, Ties, Veto, Zero
from xtc_viz.sampling.operator import apply_xtc
from xtc_viz.sampling.rule import decide
from xtc_viz.settings import XTCSettings

ROOT = Path(__file__).resolve().parents[2]
RUNNERS = ROOT / "docs" / "vectors"


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


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Return the vectors of an engine by its name, as they are read from a file."""

    @lru_cache
    def read(name):
        folder = tmp_path_factory.mktemp("vectors")
        return RUNNER.load(written(folder, "--dialect", name, "--count", "50"))

    return read


def by_operator(dialect, safety="any"):
    """Return an implementation: this package's operator, mixed where the engine has no coin."""

    def implementation(logits, asked):
        row = torch.tensor([logits], dtype=torch.float32)
        if safety == "probs":
            row = torch.tensor([asked["probabilities"]], dtype=torch.float64).log()
        rule = XTCSettings(1.0, asked["threshold"], protected=asked["protected"], dialect=dialect)
        p, q = (torch.softmax(x[0].double(), -1) for x in (row, apply_xtc(row, [0.5], rule)[0]))
        rho = asked["probability"]
        assert rho in (0.0, 1.0) or dialect.coin is Coin.MIXTURE
        if asked["temperature"] == 0.0 and dialect.zero is Zero.SKIPPED:
            rho = 0.0
        weights = (1.0 - rho) * p + rho * q
        if asked["temperature"] == 0.0:
            weights = torch.nn.functional.one_hot(weights.argmax(), len(weights)).double()
        return {v: weight for v, weight in enumerate(weights.tolist()) if weight > 0.0}

    return implementation


def problems(document, dialect, safety="any"):
    """Return what the runner finds wrong with a rule, by the names of the cases."""
    implementation = by_operator(dialect, safety)
    cases = RUNNER.chosen(document, (safety,), temperature_0=True)
    answers = ((case["name"], RUNNER.wrong(case, implementation)) for case in cases)
    return {name: problem for name, problem in answers if problem}


@pytest.mark.parametrize("safety", Safety)
@pytest.mark.parametrize("name", ENGINES)
def test_the_operator_passes_the_vectors_of_every_engine(documents, name, safety):
    assert problems(documents(name), ENGINES[name].dialect, safety) == {}


@pytest.mark.parametrize("name", sorted(ENGINES.keys() - {"paper"}))
def test_another_rule_fails_where_the_vectors_say_so(documents, name):
    """A case is unlike an engine exactly where the runner finds this engine's rule wrong."""
    document = documents("paper")
    wrong = problems(document, ENGINES[name].dialect)
    told = {
        case["name"]
        for case in RUNNER.chosen(document, temperature_0=True)
        if name in case["unlike"] and case["probability"] in (0.0, 1.0)
    }
    assert wrong.keys() == told


def test_min_keep_is_asked_of_those_alone_that_have_it(documents):
    """UPPER_HALF at τ = 0.1: 3, 1 and 4 are eligible, so that 0, 2, 4 and 5 would be left."""
    case = {case["name"]: case for case in documents("llama.cpp")["cases"]}
    four, five = (case[f"three of six eligible, min_keep {n}"] for n in (4, 5))
    assert (four["survivors"], four["unlike"]) == ([[0, 2, 4, 5]], ["exllamav2"])
    assert five["survivors"] == [[0, 1, 2, 3, 4, 5]]
    assert set(five["unlike"]) == ENGINES.keys() - {"llama.cpp"}
    # A runner leaves them out unless it is asked for them.
    document = documents("llama.cpp")
    assert not any(one["min_keep"] for one in RUNNER.chosen(document))
    assert any(one["min_keep"] for one in RUNNER.chosen(document, min_keep=True))
    assert not any(one["min_keep"] for one in documents("koboldcpp")["cases"])


def test_a_failure_names_what_is_left_and_whose_rule_it_is_not(documents):
    wrong = problems(documents("paper"), ENGINES["mlx-lm"].dialect)
    assert wrong["two tied underdogs"].startswith("leaves [0, 2] where [0] should be left, unlike ")
    assert "mlx-lm" in wrong["two tied underdogs"]


def test_an_accident_of_a_sort_may_fall_either_way(tmp_path):
    """Where an engine keeps any of several tied underdogs, both answers pass, and no third."""
    engine = replace(ENGINES["paper"], dialect=Dialect("any", ties=Ties.ANY))
    vector = next(v for v in vectors(engine, 0, 0) if v.asked.name == "two tied underdogs")
    assert (vector.survivors, vector.or_else) == ((0,), ((2,),))
    case = json.loads(to_json(engine, [vector], 0, ""))["cases"][0]
    assert RUNNER.wrong(case, lambda logits, asked: [0]) is None
    assert RUNNER.wrong(case, lambda logits, asked: [2]) is None
    assert "leaves [0, 2] where [0] or [2]" in RUNNER.wrong(case, lambda logits, asked: [0, 2])


def test_an_accident_may_also_decide_whether_a_protected_token_vetoes():
    dialect = Dialect("any", ties=Ties.ANY)
    made = vectors(replace(ENGINES["paper"], dialect=dialect), 0, 0)
    name = "the last of two tied underdogs is protected"
    (vector,) = (v for v in made if v.asked.name == name)
    assert (vector.survivors, vector.or_else) == ((0, 1, 2, 3), ((2,),))


def test_a_mixture_is_not_asked_where_an_accident_decides_how_much_is_left():
    for vector in vectors(ENGINES["exllamav3"], 100, 1):
        if 0.0 < vector.asked.probability < 1.0:
            assert not vector.or_else


def softmaxes(logits):
    """Return the softmax in float32 in five ways."""
    row = torch.tensor(logits, dtype=torch.float32)
    powers = (row - row.max()).exp()
    backwards = torch.zeros(())
    for power in powers.flip(0):
        backwards = backwards + power
    yield torch.softmax(row, -1)
    yield torch.log_softmax(row, -1).exp()
    yield row.exp() / row.exp().sum()
    yield powers * (1.0 / backwards)
    yield torch.softmax(row.double(), -1).float()


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(ENGINES)))
def test_no_way_of_computing_a_softmax_decides_a_safe_case(seed, name):
    dialect = ENGINES[name].dialect
    for vector in vectors(ENGINES[name], 10, seed):
        asked = vector.asked
        if asked.safety is not Safety.ANY:
            continue
        xtc = XTCSettings(1.0, asked.threshold, protected=asked.protected, dialect=dialect)
        decisions = set()
        for p in softmaxes(asked.logits):
            ids = sorted(range(len(p)), key=lambda v: (-p[v].item(), v))
            decision = decide(ids, [p[v].item() for v in ids], 0.5, xtc)
            decisions.add((decision.eligible, frozenset(decision.gone), decision.underdog))
        assert len(decisions) == 1, asked.name


def test_logits_are_on_a_grid_that_float32_and_a_few_decimals_hold():
    for vector in vectors(ENGINES["paper"], 50, 3):
        if vector.asked.safety is Safety.PROBS:
            continue
        for logit in vector.asked.logits:
            assert isinf(logit) or (logit * 64).is_integer()


def test_each_edge_has_a_name_of_its_own_and_tells_its_probabilities():
    names = [asked.name for asked in edges()]
    assert len(names) == len(set(names))
    for asked in edges():
        assert sum(asked.probs) == pytest.approx(1.0)
        assert np.isfinite(asked.logits).sum() == np.count_nonzero(asked.probs)


@pytest.mark.parametrize(
    "change",
    [
        {"comparison": Comparison.ABOVE}, {"ties": Ties.HIGHEST_ID}, {"ties": Ties.ALL},
        {"veto": Veto.NONE}, {"veto": Veto.EXEMPT}, {"veto": Veto.OUTSIDE},
        {"zero": Zero.SKIPPED}, {"removes": Removes.BEFORE_BY_ID},
    ],
)  # fmt: skip
def test_the_edges_alone_tell_every_property(change):
    """An engine that differs in nothing else fails one of the edges."""
    ours = vectors(ENGINES["paper"], 0, 0)
    other = replace(ENGINES["paper"], dialect=replace(PAPER, name="other", **change))
    theirs = vectors(other, 0, 0)
    assert [v.survivors for v in ours] != [v.survivors for v in theirs]


def test_a_mixture_keeps_what_it_lowers():
    made = vectors(ENGINES["exllamav3"], 0, 0)
    (vector,) = (v for v in made if v.asked.name == "probability one half")
    assert len(vector.survivors) == len(vector.weights)
    assert vector.weights[1] == pytest.approx(vector.asked.probs[1] / 2)
    assert sum(vector.weights) == pytest.approx(1.0)


def test_both_formats_say_the_same(tmp_path):
    words = ("--dialect", "mlx-lm", "--count", "20", "--seed", "3")
    document = RUNNER.load(written(tmp_path, *words))
    comment, head, *lines = written(tmp_path, *words, "--format", "tsv").read_text().splitlines()
    assert comment.startswith("# xtc-vectors 2, engine mlx-lm, seed 3, xtc_viz ")
    assert len(lines) == len(document["cases"])
    for line, case in zip(lines, document["cases"], strict=True):
        at = dict(zip(head.split("\t"), line.split("\t"), strict=True))
        assert at["name"] == case["name"]
        assert float(at["threshold"]) == case["threshold"]
        logits = [None if n == "-inf" else float(n) for n in at["logits"].split(",")]
        assert logits == case["logits"]
        assert int(at["min_keep"]) == case["min_keep"]
        assert [float(n) for n in at["weights"].split(",")] == case["weights"]
        sets = [[int(n) for n in one.split(",")] for one in at["survivors"].split("|")]
        assert sets == case["survivors"]


def test_the_seed_decides_the_cases_by_chance():
    paper = ENGINES["paper"]
    assert vectors(paper, 5, 1) == vectors(paper, 5, 1) != vectors(paper, 5, 2)


def test_the_command(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        cli.main(["vectors", "--dialect", "paper", "--count", "1", "--format", "tsv"])
    assert end.value.code == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("by chance 1\tany\t")
    with pytest.raises(SystemExit) as end:
        main(["--dialect", "llama.cp"])
    assert end.value.code == 2
    assert "llama.cpp" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--dialect", "paper", "--count", "-1"])
    assert "must be in [0, 100,000], but is -1" in capsys.readouterr().err
    assert main(["--dialect", "paper", "-o", str(tmp_path)]) == 1
    assert "xtc-viz vectors: " in capsys.readouterr().err


def test_the_runner_in_python_as_a_program(tmp_path):
    """It runs alone, in a folder without this package, and its exit code says what came of it."""
    path = written(tmp_path, "--dialect", "llama.cpp", "--count", "20")
    (tmp_path / "mine.py").write_text(
        "from math import exp\n"
        "def xtc(logits, settings, below=True):\n"
        "    top = max(logits)\n"
        "    p = [exp(x - top) for x in logits]\n"
        "    p = [x / sum(p) for x in p]\n"
        "    order = sorted((-x, v) for v, x in enumerate(p) if x)\n"
        "    clear = [v for x, v in order if -x >= settings['threshold']]\n"
        "    acts = settings['probability'] == 1 and settings['threshold'] <= 0.5\n"
        "    gone = (clear[:-1] if below else clear[1:]) if acts else []\n"
        "    return [v for _, v in order if v not in gone]\n"
        "def wrong(logits, settings):\n"
        "    return xtc(logits, settings, below=False)\n"
    )

    def run(name):
        words = [sys.executable, "-I", str(RUNNERS / "run_vectors.py"), str(path), f"mine:{name}"]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)

    right, wrong = run("xtc"), run("wrong")
    assert right.returncode == 0, right.stdout + right.stderr
    assert re.fullmatch(r"(\d+) of \1 cases agree with llama.cpp\n", right.stdout)
    assert wrong.returncode == 1
    assert "three eligible (threshold 0.1): leaves [0, 2, 3, 5] where [0, 2, 4, 5]" in wrong.stdout


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
def test_the_runner_in_cpp(tmp_path):
    path = written(tmp_path, "--dialect", "llama.cpp", "--format", "tsv")

    def build(name, *flags):
        source = Path(__file__).parent / "own_xtc.cpp"
        words = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", *flags, f"-I{RUNNERS}"]
        subprocess.run([*words, source, "-o", tmp_path / name], check=True)

    def run(name, *words):
        return subprocess.run([tmp_path / name, path, *words], capture_output=True, text=True)

    build("right")
    build("wrong", "-DWRONG")
    for words in ((), ("--safety", "any,plain"), ("--min-keep",)):
        right = run("right", *words)
        assert right.returncode == 0, right.stdout + right.stderr
        assert re.fullmatch(r"(\d+) of \1 cases agree\n", right.stdout)
    wrong = run("wrong")
    assert wrong.returncode == 1
    assert "three eligible (threshold 0.1): leaves 0,2,3,5 where 0,2,4,5" in wrong.stdout
    assert run("right", "--temperature-0").returncode == 1  # it does not take the most probable
