"""Experiments: those of the app, TOML there and back, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import SettingsError
from xtc_viz.lab import tomlfile
from xtc_viz.lab.builtin import EXPERIMENTS, PLAIN, fitting_suite
from xtc_viz.lab.experiment import Experiment, Size, effective
from xtc_viz.lab.suite import builtin_suites
from xtc_viz.runs.protection import Newlines, Protection
from xtc_viz.settings import LaneSettings, SamplerSettings, Strategy, XTCSettings

BY_HAND = """
name = "mine"
suite = "creative"
seeds = [1, 2]
length = 40

[protect]
newline = "token"

[[conditions]]
name = "baseline"

[[conditions]]
name = "both"
sampler = { temperature = 1.3, xtc = { rho = 1, tau = 0.05 } }
"""


def test_toml_by_hand() -> None:
    experiment = tomlfile.loads(BY_HAND)
    assert experiment.seeds == (1, 2)
    assert (experiment.samples, experiment.length) == (8, 40)
    assert experiment.protect == Protection(newline=Newlines.TOKEN)
    assert experiment.conditions == (
        LaneSettings("baseline"),
        LaneSettings("both", SamplerSettings(temperature=1.3, xtc=XTCSettings(1.0, 0.05))),
    )


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_those_of_the_app(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert experiment.suite in builtin_suites()
    assert tomlfile.loads(tomlfile.dumps(experiment)) == experiment
    small = experiment.in_small()
    assert small.conditions == experiment.conditions
    assert small.samples * small.length < experiment.samples * experiment.length


def test_the_papers_conditions() -> None:
    main = {condition.name: condition.sampler for condition in EXPERIMENTS["main"].conditions}
    assert len(main) == 9
    assert main["baseline"] == SamplerSettings()
    assert main["XTC strong"].xtc == XTCSettings(1.0, 0.1)
    assert main["typical-p .95"].typical_p == 0.95
    grid = EXPERIMENTS["grid"].conditions[1:]
    assert len({(lane.sampler.xtc.rho, lane.sampler.xtc.tau) for lane in grid}) == 16
    strategies = [lane.sampler.xtc.strategy for lane in EXPERIMENTS["strategies"].conditions[1:]]
    assert strategies == list(Strategy)
    for name in ("temperature-factorial", "repetition-factorial"):
        assert len(EXPERIMENTS[name].conditions) == 9


def test_what_follows_no_instructions_gets_beginnings() -> None:
    assert fitting_suite("creative", has_chat_template=True) == "creative"
    assert fitting_suite("creative", has_chat_template=False) == "story"
    assert fitting_suite("structured", has_chat_template=False) == "structured"
    assert {*PLAIN, *PLAIN.values()} <= builtin_suites().keys()


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@given(
    name=texts,
    question=st.text(st.characters(codec="utf-8"), max_size=50),
    stop=st.lists(texts, max_size=3),
    own=st.lists(texts, max_size=2),
    rho=st.floats(0.01, 1),
    order=st.permutations(SamplerSettings().order),
)
def test_whatever_it_holds_comes_back(
    name: str, question: str, stop: list[str], own: list[str], rho: float, order: list[str]
) -> None:
    sampler = SamplerSettings(xtc=XTCSettings(rho, strategy=Strategy.DROP_TOP), order=tuple(order))
    experiment = Experiment(
        name, "story", (LaneSettings("a" + name, sampler), LaneSettings("b")), question,
        stop=tuple(stop), protect=Protection(eos=False, texts=tuple(own)), prompts=3,
        model="x/y", small=Size(1, 2, 3),
    )  # fmt: skip
    assert tomlfile.loads(tomlfile.dumps(experiment)) == experiment


def refusal(text: str) -> str:
    with pytest.raises(SettingsError) as error:
        tomlfile.loads(text)
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("seeds = [1, 2]", "seeds = [1, 1]"), "`seeds` must be a list of different integers"),
        (("seeds = [1, 2]", "seeds = 3"), "`seeds` must be a list, but is 3"),
        (("seeds = [1, 2]", "seeds = [-1]"), "`seed` must be an integer in [0, 2^63"),
        (("seeds = [1, 2]", "colour = 1"), "`colour` must be one of name, suite"),
        (("length = 40", "length = 0"), "`length` must be an integer in [1, 4,096], but is 0"),
        (("length = 40", "samples = 1.5"), "`samples` must be an integer in [1, 10,000]"),
        (('suite = "creative"', ""), "`suite` must be there"),
        (('"token"', '"some"'), "`protect_newline` must be true, false or one of"),
        (("newline", "colour"), "`colour` must be one of eos, newline, texts"),
        (("rho = 1", "rho = 2"), "`condition 2: rho` must be in [0, 1], but is 2"),
        (("temperature = 1.3", "heat = 1"), "`condition 2: heat` must be one of"),
        (('"both"', '"baseline"'), "`condition 2: name` must be another than that of condition 1"),
        (("rho = 1,", "rho = 0,"), None),
        (
            ("temperature = 1.3, xtc = { rho = 1", "xtc = { rho = 0"),
            "`condition 2` must be of other settings than condition 1 ('baseline'), but is 'both'",
        ),
        (("[[conditions]]", "[conditions]"), "experiment"),
        (("length = 40", "length = "), "`experiment` must be TOML (Invalid value"),
    ],
)
def test_what_is_refused(change: tuple[str, str], words: str | None) -> None:
    text = BY_HAND.replace(*change)
    assert text != BY_HAND
    if words is None:
        tomlfile.loads(text)
    else:
        assert words in refusal(text)


def test_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(BY_HAND.replace("40", "0"))
    with pytest.raises(SettingsError, match=r"`mine.toml: length` must be an integer"):
        tomlfile.load(path)
    with pytest.raises(SettingsError, match=r"a file that can be read, but is 'none.toml'"):
        tomlfile.load(tmp_path / "none.toml")


def test_a_suite_beside_the_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text("")
    path = tmp_path / "mine.toml"
    path.write_text(BY_HAND.replace("creative", "own.jsonl"), newline="\r\n")
    assert tomlfile.load(path).suite == str(tmp_path / "own.jsonl")


def test_xtc_that_never_acts_is_nothing() -> None:
    off = SamplerSettings(xtc=XTCSettings(0.0, 0.3, Strategy.KEEP_RANDOM))
    assert effective(off) == SamplerSettings()
    on = replace(off, xtc=XTCSettings(0.1, 0.3))
    assert effective(on) == on


def test_what_is_small_already_stays_so() -> None:
    own = Experiment("mine", "story", (LaneSettings("a"),), samples=1, length=12, prompts=3)
    small = own.in_small()
    assert (small.prompts, small.samples, small.length) == (3, 1, 12)
    assert replace(own, prompts=0).in_small().prompts == own.small.prompts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" + ".a" * 200_000 + " = 1", "400 dots in a line"),
        ("\n".join(f"[a{i}{'.b' * 300}]" for i in range(100)), "10,000 in all"),
        ("samples = " + "9" * 5001, "a number too long"),
    ],
)
def test_toml_that_would_fill_the_memory_is_refused(text: str, words: str) -> None:
    with pytest.raises(SettingsError, match="TOML") as error:
        tomlfile.loads(text)
    assert words in str(error.value)
    assert len(str(error.value)) < 300
