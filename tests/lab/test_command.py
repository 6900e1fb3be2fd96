"""The command line: what it prints, writes and returns."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xtc_viz import cli
from xtc_viz.errors import StoreError
from xtc_viz.lab import printing, tomlfile
from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.command.base import DONE, FAILED, STORE
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import builtin_suites
from xtc_viz.models.fake import FakeModel
from xtc_viz.records import tracefile

ROOT = Path(__file__).resolve().parents[2]
MINE = """
name = "mine"
suite = "story"
samples = 1
length = 12
prompts = 3

[[conditions]]
name = "baseline"

[[conditions]]
name = "strong"
sampler = { xtc = { rho = 1.0, tau = 0.1 } }
"""
Lab = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lab:
    """What runs `xtc-viz lab` in an empty folder, and returns code, output and errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(MINE, encoding="utf-8")

    def do(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            cli.main(["lab", *words])
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return do


def test_a_run_from_begin_to_end(lab: Lab, tmp_path: Path) -> None:
    code, out, err = lab("run", "mine.toml", "--model", "fake", "--rows", "4")
    assert (code, out) == (0, "")
    assert err.splitlines()[0] == "mine on fake: 0 of 6 cells"
    assert err.splitlines()[-1].startswith("mine on fake: 6 of 6 cells, ")
    assert err.endswith(", done\n")

    code, out, _ = lab("show", "--json")
    shown = json.loads(out)
    assert (code, shown["experiment"], shown["model"]) == (0, "mine", "fake")
    assert [(c["condition"], c["done"], c["total"]) for c in shown["conditions"]] == [
        ("baseline", 3, 3),
        ("strong", 3, 3),
    ]
    assert "  strong     3      3     0" in lab("show", "mine")[1]

    assert lab("export", "mine", "--table", "a.csv", "--condition", "strong")[0] == 0
    rows = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 4
    name = rows[1].partition(",")[0]
    code, out, _ = lab("export", name[:12], "--trace", "a.json.gz", "--json")
    assert (code, json.loads(out)["cell"]) == (0, name)
    assert tracefile.load(tmp_path / "a.json.gz").lanes[0].settings.name == "strong"

    code, out, _ = lab("list", "--json")
    listed = json.loads(out)
    assert [run["experiment"] for run in listed["runs"]] == ["mine"]
    assert {suite["name"] for suite in listed["suites"]} == set(builtin_suites())
    assert {experiment["name"] for experiment in listed["experiments"]} == set(EXPERIMENTS)


def test_lines_of_json_for_scripts(lab: Lab) -> None:
    code, out, err = lab("run", "mine.toml", "--model", "fake", "--json")
    reports = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert reports[0]["done"] == 0
    assert (reports[-1]["state"], reports[-1]["done"], reports[-1]["total"]) == ("done", 6, 6)


def test_several_at_once(lab: Lab, tmp_path: Path) -> None:
    other = MINE.replace('"mine"', '"other"').replace("rho = 1.0", "rho = 0.5")
    (tmp_path / "other.toml").write_text(other, encoding="utf-8")
    code, out, _ = lab("run", "mine.toml", "other.toml", "--model", "fake", "--json")
    ends = [json.loads(line) for line in out.splitlines() if '"state": "done"' in line]
    assert code == 0
    # The baseline of the second is that of the first.
    assert [(e["experiment"], e["before"], e["done"]) for e in ends] == [
        ("mine", 0, 6), ("other", 3, 6),
    ]  # fmt: skip


@pytest.mark.slow
def test_all_that_there_are(lab: Lab, tmp_path: Path) -> None:
    line = {"id": "x", "genre": "g", "kind": "continue", "prompt": "Once"}
    (tmp_path / "one.jsonl").write_text(json.dumps(line), encoding="utf-8")
    code, out, _ = lab("run", "all", "--model", "fake", "--small", "--suite", "one.jsonl", "--json")
    ends = [json.loads(line)["experiment"] for line in out.splitlines() if '"done",' in line]
    assert (code, ends) == (0, list(EXPERIMENTS))


def test_a_model_that_gives_up(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise MemoryError("no room for a single row")

    monkeypatch.setattr(FakeModel, "start", fails)
    code, _, err = lab("run", "mine.toml", "--model", "fake")
    assert code == 1
    assert "xtc-viz lab: no room for a single row" in err


def test_a_list_for_people(lab: Lab) -> None:
    code, out, _ = lab("list")
    assert code == 0
    assert "  main                   creative    1728   216  " in out
    assert out.endswith(f"Runs in {STORE}\n  none yet\n")
    code, out, _ = lab("list", "--toml", "grid")
    assert tomlfile.loads(out) == EXPERIMENTS["grid"]


def test_a_suite_of_ones_own(lab: Lab, tmp_path: Path) -> None:
    line = {"id": "x", "genre": "g", "kind": "write", "prompt": "Hello"}
    (tmp_path / "own.jsonl").write_text(json.dumps(line))
    assert lab("run", "mine.toml", "--model", "fake", "--suite", "own.jsonl")[0] == 0
    assert json.loads(lab("show", "--json")[1])["suite"] == "own"


def test_a_small_version_is_smaller(lab: Lab, tmp_path: Path) -> None:
    large = MINE.replace("samples = 1", "samples = 5").replace("prompts = 3", "prompts = 20")
    (tmp_path / "mine.toml").write_text(large, encoding="utf-8")
    assert lab("run", "mine.toml", "--small", "--model", "fake")[0] == 0
    conditions = json.loads(lab("show", "--json")[1])["conditions"]
    assert [count["total"] for count in conditions] == [12, 12]  # six prompts, two samples


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["run", "nope"], "`experiment` must be one of main, "),
        (["run", "none.toml"], "`experiment` must be a file that can be read"),
        (["run", "mine.toml", "--rows", "0"], "`rows` must be at least 1"),
        (["run", "mine.toml", "--suite", "nope"], "no suite is called 'nope'"),
        (["show"], "There is no store"),
        (["export", "x", "--table", "a.csv"], "There is no store"),
        (["export", "x"], "one of --table and --trace"),
        (["list", "--toml", "nope"], "`experiment` must be one of main"),
    ],
)
def test_wrong_input(lab: Lab, words: list[str], problem: str, tmp_path: Path) -> None:
    code, out, err = lab(*words)
    assert (code, out) == (2, "")
    assert problem in err
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".csv"] == []


def test_words_that_it_does_not_know(lab: Lab) -> None:
    assert lab("dance")[0] == 2
    assert lab()[0] == 2
    assert lab("run")[0] == 2


def test_a_store_that_is_none(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / STORE).write_text("no database " * 200)
    for words in (["show"], ["run", "mine.toml", "--model", "fake"], ["list"]):
        code, _, err = lab(*words)
        assert code == 2
        assert "file is not a database" in err


def test_a_table_of_nothing_or_of_another_kind(lab: Lab, tmp_path: Path) -> None:
    lab("run", "mine.toml", "--model", "fake")
    code, _, err = lab("export", "mine", "--table", "a.csv", "--genre", "none")
    assert (code, "of cells that the run asks for" in err) == (2, True)
    assert lab("export", "mine", "--table", "a.xls")[0] == 2
    assert lab("export", "mine", "--trace", "a.json")[0] == 2  # no cell
    code, _, err = lab("export", "mine", "--table", "no/folder/a.csv")
    assert code == 1
    assert "No such file" in err


def test_something_that_failed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(*_: Any) -> int:
        raise StoreError("The store cannot be written: database or disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", add)
        code, _, err = lab("run", "mine.toml", "--model", "fake")
    assert code == 1
    assert "disk is full" in err
    assert ", failed\n" in err
    assert lab("run", "mine.toml", "--model", "no/such/folder/at/all")[0] == 1


def test_what_cannot_be_written_on_is_a_failure(lab: Lab, tmp_path: Path) -> None:
    long = {"id": "long", "genre": "g", "kind": "continue", "prompt": "x" * 5000}
    (tmp_path / "own.jsonl").write_text(json.dumps(long))
    code, _, err = lab("run", "mine.toml", "--model", "fake", "--suite", "own.jsonl")
    assert code == 1
    assert "baseline, prompt long: " in err
    code, out, _ = lab("show", "--json")
    shown = json.loads(out)["failures"]
    assert [(one["condition"], one["prompt"]) for one in shown] == [
        ("baseline", "long"), ("strong", "long"),
    ]  # fmt: skip
    assert "\nbaseline, prompt long: " in lab("show")[1]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="code is shut in on Linux")
def test_code_is_run_where_it_is_asked_for(lab: Lab) -> None:
    words = ["run", "code", "--small", "--model", "fake", "--suite", "code"]
    code, _, err = lab(*words)
    assert code == 0
    assert "judged" not in err
    assert "code that was not run" in lab("compare", "--metric", "passed")[1]
    code, _, err = lab(*words, "--run-code")
    if code == FAILED:
        assert "cannot be shut in here" in err
        pytest.skip("this system cannot shut code in")
    assert "code on fake: 64 of 64 answers judged, 0 passed" in err
    assert err.endswith(", done\n")
    values = json.loads(lab("compare", "--json", "--metric", "passed")[1])
    assert values["means"]["passed"]["baseline"] == {"mean": 0.0, "low": 0.0, "high": 0.0, "n": 4}
    code, out, err = lab(*words, "--run-code", "--json")
    assert "judging" not in out, "nothing is judged twice"


def test_a_model_that_cannot_be_loaded_leaves_no_store(lab: Lab, tmp_path: Path) -> None:
    assert lab("run", "mine.toml", "--model", "no/such/folder/at/all")[0] == 1
    assert list(tmp_path.glob("*.sqlite*")) == []


def test_two_runs_are_compared(lab: Lab) -> None:
    """Of the same model in two stores: the same texts, and so no difference."""
    lab("run", "mine.toml", "--model", "fake")
    lab("run", "mine.toml", "--model", "fake", "--store", "b.sqlite")
    words = ["compare", "mine", "--against", "mine", "--metric", "tokens"]
    code, _, err = lab(*words)
    assert (code, "no other run" in err) == (2, True)
    values = json.loads(lab(*words, "--against-store", "b.sqlite", "--json")[1])
    assert {one["condition"] for one in values["shifts"]} == {"baseline", "strong"}
    assert {one["difference"]["mean"] for one in values["shifts"] + values["effects"]} == {0.0}
    out = lab(*words, "--against-store", "b.sqlite")[1]
    assert out.count("the same for each prompt") == 2
    lab("run", "mine.toml", "--model", "fake", "--suite", "longform", "--store", "b.sqlite")
    code, _, err = lab(*words, "--against-store", "b.sqlite")
    assert (code, "a run with the same prompts" in err) == (2, True)
    Path("long.toml").write_text(MINE.replace("length = 12", "length = 20"), encoding="utf-8")
    lab("run", "long.toml", "--model", "fake", "--store", "c.sqlite")
    code, _, err = lab(*words, "--against-store", "c.sqlite")
    assert (code, "`against` must be a run whose `length`" in err) == (2, True)


def test_answers_are_compared_by_what_they_must_be(lab: Lab, tmp_path: Path) -> None:
    """One prompt whose rule random words keep, one whose rule they break."""
    prompt = {"genre": "g", "kind": "rewrite", "prompt": "Once upon a time"}
    checks = {"easy": {"max_words": 500}, "hard": {"contains": ["xylophone"], "max_words": 500}}
    lines = [prompt | {"id": name, "check": {"rules": own}} for name, own in checks.items()]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert lab("run", "mine.toml", "--model", "fake", "--suite", "own.jsonl")[0] == 0
    values = json.loads(lab("compare", "--json")[1])
    assert values["means"]["passed"]["baseline"]["mean"] == 0.5
    assert values["means"]["rules_kept"]["strong"]["mean"] == 0.75
    assert values["means"]["parses"]["strong"]["n"] == 0
    assert "its prompts have no check" in lab("compare", "--metric", "parses")[1]
    lab("export", "mine", "--table", "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8") as file:
        rows = {(row["prompt"], row["passed"], row["broken"]) for row in csv.DictReader(file)}
    assert rows == {("easy", "1", ""), ("hard", "0", "contains")}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="interrupts are of POSIX")
def test_an_interrupt_stops_it_and_keeps_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE.replace("samples = 1", "samples = 300"))
    # What starts these tests in the background may have Ctrl-C ignored, for its children too.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from xtc_viz.cli import main; main()"
    words = ["lab", "run", "mine.toml", "--model", "fake", "--store", "a.sqlite"]
    process = subprocess.Popen(
        [sys.executable, "-c", f"{heard}; {code}", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if (tmp_path / "a.sqlite-wal").exists():
            with Store(tmp_path / "a.sqlite", create=False) as store:
                if len(store):
                    break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Stopped. What was written is stored." in err
    with Store(tmp_path / "a.sqlite") as store:
        assert 0 < len(store) < 1800


def test_times_in_words() -> None:
    assert [printing.duration(s) for s in (0.2, 59.5, 100, 7260)] == [
        "1 s", "1 min 0 s", "1 min 40 s", "2 h 1 min",
    ]  # fmt: skip


def test_help_and_lists_load_nothing_heavy() -> None:
    for words in (["lab", "--help"], ["lab", "list"]):
        code = (
            "import sys\nfrom xtc_viz.cli import main\n"
            f"try:\n    main({words!r})\nexcept SystemExit as end:\n    assert not end.code\n"
            "print(*sys.modules.keys() & {'torch', 'gradio', 'transformers', 'scipy'})"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "", done.stdout


def test_a_run_is_compared_with_its_baseline(lab: Lab) -> None:
    lab("run", "mine.toml", "--model", "fake")
    code, out, _ = lab("compare", "mine", "--metric", "distinct_2", "--metric", "tokens")
    assert code == DONE
    assert "3 prompts, against baseline" in out
    assert out.count("strong") == 2
    _, out, _ = lab("compare", "--json", "--metric", "distinct_2", "--baseline", "strong")
    values = json.loads(out)
    [row] = values["comparisons"]
    assert (row["condition"], row["baseline"], row["metric"]) == (
        "baseline",
        "strong",
        "distinct_2",
    )
    means = values["means"]["distinct_2"]
    difference = means["baseline"]["mean"] - means["strong"]["mean"]
    assert row["difference"]["mean"] == pytest.approx(difference)
    assert row["difference"]["n"] == 3
    _, again, _ = lab("compare", "--json", "--metric", "distinct_2", "--baseline", "strong")
    assert json.loads(again) == values, "the same run gives the same table"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--metric", "beauty"), "beauty"),
        (("--baseline", "nobody"), "`baseline` must be one of baseline, strong"),
        (("other",), "This store holds no run"),
    ],
)
def test_what_cannot_be_compared_is_named(lab: Lab, words: tuple[str, ...], complaint: str) -> None:
    lab("run", "mine.toml", "--model", "fake")
    code, _, err = lab("compare", *words)
    assert code != DONE
    assert complaint in err


def test_a_figure_as_a_file(lab: Lab, tmp_path: Path) -> None:
    assert lab("run", "mine.toml", "--model", "fake")[0] == DONE
    code, out, _ = lab("figure", "mine", "--list", "--json")
    listed = {one["name"]: one["missing"] for one in json.loads(out)["figures"]}
    assert code == DONE
    assert listed["forest"] == ""
    assert "ρ and τ" in listed["grid"]
    assert "ρ and τ" in lab("figure", "mine", "--list")[1]
    words = ("figure", "mine", "forest", "--metric", "distinct_2", "--out", "a.html")
    code, out, _ = lab(*words, "--theme", "dark", "--json")
    values = json.loads(out)
    assert (code, values["figure"], values["file"]) == (DONE, "forest", "a.html")
    assert "on 3 prompts" in values["sentence"]
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "on 3 prompts" in page
    assert "Plotly.newPlot" in page
    assert "#141517" in page
    code, out, _ = lab("figure", "mine", "bars")
    assert (code, out.startswith("Means. ")) == (DONE, True)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("figure", "mine", "nothing"), "`figure` must be one of bars"),
        (("figure", "mine"), "`figure` must be one of bars"),
        (("figure", "mine", "grid"), "one that this run can have"),
        (("figure", "mine", "bars", "--out", "a.png"), "`out` must be a file that ends in .html"),
        (("figure", "mine", "bars", "--theme", "blue"), "`theme` must be one of light, dark"),
        (("figure", "mine", "bars", "--metric", "beauty"), "`metric` must be one of"),
        (("figure", "mine", "bars", "--condition", "nobody"), "`conditions` must be names of"),
        (("figure", "mine", "bars", "--baseline", "nobody"), "`baseline` must be one of"),
        (("mechanism", "mine", "--by", "colour"), "`by` must be one of position, genre, openness"),
    ],
)
def test_a_figure_that_cannot_be(lab: Lab, words: tuple[str, ...], problem: str) -> None:
    lab("run", "mine.toml", "--model", "fake")
    code, out, err = lab(*words)
    assert (code, out) == (2, "")
    assert problem in err


def test_the_mechanism_in_numbers(lab: Lab) -> None:
    lab("run", "mine.toml", "--model", "fake")
    code, out, _ = lab("mechanism", "mine", "--json")
    values = json.loads(out)["conditions"]
    assert (code, [*values]) == (DONE, ["baseline", "strong"])
    assert values["strong"]["all"]["values"]["activation"] > 0
    assert values["baseline"]["all"]["values"]["activation"] == 0
    assert "Fired" in lab("mechanism", "mine")[1]
    for by in ("position", "genre", "openness"):
        own = json.loads(lab("mechanism", "mine", "--by", by, "--json")[1])["conditions"]["strong"]
        parts = own[by] if by == "position" else [*own[by].values()]
        assert sum(part["steps"] for part in parts) == own["all"]["steps"]
    out = lab("mechanism", "mine", "--by", "position")[1]
    assert "  1 to 8" in out
    # Rows for people are the means of the steps behind them.
    first = next(line.split() for line in out.split("strong\n")[1].splitlines() if "1 to 8" in line)
    eight = json.loads(lab("mechanism", "mine", "--by", "position", "--json")[1])
    some = eight["conditions"]["strong"]["position"][:8]
    steps = sum(part["steps"] for part in some)
    fired = sum(part["steps"] * part["values"]["activation"] for part in some) / steps
    assert first[3:6] == [f"{steps:,}", first[4], f"{fired:.3f}"]


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    words = f"{sys.executable} app.py lab list --store {tmp_path / 'none.sqlite'} --json | head -1"
    done = subprocess.run(words, shell=True, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("{\n", "")


def test_no_name_commands_a_terminal(lab: Lab, tmp_path: Path) -> None:
    hostile = MINE.replace('"mine"', '"mine\\u001b[31m\\u202e\\u009b"')
    (tmp_path / "mine.toml").write_text(hostile, encoding="utf-8")
    _, out, err = lab("run", "mine.toml", "--model", "fake")
    shown = [out + err, *("".join(lab(task)[1:]) for task in ("list", "show", "compare"))]
    assert all("mine" in words for words in shown)
    for words in shown:
        assert not {"\x1b", "\u202e", "\x9b"} & {*words}
