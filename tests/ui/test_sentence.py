"""Every outcome in words, by hand; and no token ever inside a string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from tests.ui.factories import BEAR, BOY, GIRL, MAN, PROBS, TEXTS, decode, make_step, sampler
from xtc_viz.engines.known import ENGINES
from xtc_viz.parts import Part
from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.dialect import Coin
from xtc_viz.sampling.rule import decide
from xtc_viz.settings import SamplerSettings
from xtc_viz.ui.sentence import Said, describe, drawn, number, percent, warnings


def read(parts: Said | list[Part]) -> str:
    """A sentence with its tokens in guillemets."""
    parts = [*parts.before, *parts.drew] if isinstance(parts, Said) else parts
    return "".join(p if isinstance(p, str) else f"«{TEXTS.get(p, p)}»" for p in parts)


def test_a_firing_that_changed_the_word() -> None:
    said = read(describe(make_step(sampler()), sampler()))
    assert said == (
        "3 tokens clear τ = 0.10; the coin 0.23 is under ρ = 0.50: XTC fires, removes « girl» and "
        "« boy» (74\u00a0% of the probability) and keeps « man». Without XTC the same dice would "
        "have drawn « girl»; now they drew « man»."
    )


def test_a_firing_that_changed_nothing() -> None:
    said = read(describe(make_step(sampler(), counterfactual=MAN), sampler()))
    assert said.endswith("The dice drew « man», as they would have without XTC.")


def test_a_word_from_below_tau_is_said_to_come_from_there() -> None:
    step = make_step(sampler(), token=BEAR)
    # Bear, dog and the rest have 14 % of all, and with only man beside them 14 of 26.
    assert read(describe(step, sampler()).drew) == (
        " The dice drew « bear», which lies below the floor: what lies there grew from 14\u00a0% "
        "to 54\u00a0%, this word from 6\u00a0% to 23\u00a0%. Without XTC the dice would have drawn "
        "« girl»."
    )
    same = make_step(sampler(), token=BEAR, counterfactual=BEAR)
    said = read(describe(same, sampler()).drew)
    assert said.endswith("to 23\u00a0%. Without XTC the dice would have drawn it too.")
    bound = make_step(sampler(), token=BEAR, bound=Bound.ELIGIBLE)
    assert "grew from at most 14" in read(describe(bound, sampler()).drew)


def test_what_is_said_of_a_word_under_tau_fits_its_numbers() -> None:
    # A temperature after XTC can lower the share of an unlikely word.
    cold = make_step(sampler(), token=BEAR, q=0.01)
    said = read(describe(cold, sampler()))
    assert "XTC removes nothing there (6\u00a0% before, 1\u00a0% now)" in said
    assert "below the floor" not in read(describe(make_step(sampler()), sampler()))
    held = make_step(sampler(), coin=0.9, token=BEAR)
    assert "below the floor" not in read(describe(held, sampler()))


def test_the_coin_says_no() -> None:
    said = read(describe(make_step(sampler(), coin=0.81), sampler()))
    assert said == (
        "3 tokens clear τ = 0.10: « girl», « boy» and « man». The coin 0.81 is not under "
        "ρ = 0.50, so XTC holds back. The dice drew « girl» (41\u00a0%)."
    )


def test_a_lane_without_xtc() -> None:
    said = read(describe(make_step(sampler(0.0)), sampler(0.0)))
    assert "XTC is off here (ρ = 0); it could have removed « girl» and « boy» (74\u00a0%" in said


def test_one_eligible_token_is_no_choice() -> None:
    settings = sampler(tau=0.4)
    said = read(describe(make_step(settings), settings))
    assert said.startswith("Only « girl» clears τ = 0.40, with 41\u00a0%: nothing to remove")
    other = read(describe(make_step(settings, token=BOY), settings))
    assert other.endswith("The dice drew « boy» (33\u00a0%).")


def test_nothing_reaches_tau() -> None:
    settings = sampler(tau=0.5)
    said = read(describe(make_step(settings), settings))
    assert said.startswith("No token reaches τ = 0.50")


def test_a_chosen_token_is_said_to_be_chosen() -> None:
    said = read(describe(make_step(sampler(), token=BOY, forced=True), sampler()))
    assert said.endswith("You chose « boy», which had 33\u00a0% before XTC.")


@pytest.mark.parametrize(
    ("bound", "why"),
    [
        (Bound.NONE, "which truncation had dropped before XTC."),
        (Bound.ENTROPY, "which is none of the words that this model showed."),
    ],
)
def test_a_chosen_token_that_never_reached_xtc_says_why(bound: Bound, why: str) -> None:
    step = replace(make_step(sampler(), token=BOY, forced=True), p=0.0, bound=bound)
    assert read(describe(step, sampler())).endswith(f"You chose « boy», {why}")


def test_a_what_if_that_takes_the_texts_own_token_away_says_so() -> None:
    (settled, drew) = describe(make_step(sampler(), token=BOY), sampler())
    assert read(drew) == " The text has « boy», which this would have removed."
    assert read(settled).endswith("and keeps « man».")


def test_a_protected_token_is_named() -> None:
    settings = sampler(protected=[BOY])
    said = read(describe(make_step(settings), settings))
    assert "firing would silence « boy», which is protected" in said


def by_engine(engine: str, protected: Sequence[int] = (), **xtc: float) -> SamplerSettings:
    settings = sampler(protected=protected, **xtc)
    return replace(settings, xtc=replace(settings.xtc, dialect=ENGINES[engine].dialect))


TIED = (0.4, 0.2, 0.15, 0.15)


@pytest.mark.parametrize(
    ("settings", "probs", "said"),
    [
        (by_engine("mlx-lm", [GIRL]), PROBS,
         "removes « boy» (33\u00a0% of the probability) and keeps « man» and « girl», for that is "
         "protected."),
        (by_engine("mlx-lm"), TIED, "and keeps « man» and « bear», which are tied."),
        (by_engine("llama.cpp"), TIED,
         "removes « girl», « boy» and « bear» (75\u00a0% of the probability) and keeps « man»."),
        (by_engine("llama.cpp", [GIRL]), PROBS,
         "removes « girl» and « boy» (74\u00a0% of the probability) and keeps « man»."),
        (by_engine("mlx-lm", [GIRL, BOY]), PROBS,
         "3 tokens clear τ = 0.10, but mlx-lm removes no protected word, here « girl» and « boy»: "
         "nothing is left to remove, and XTC rests."),
        (by_engine("mlx-lm"), (0.25, 0.25, 0.25, 0.25),
         "4 tokens clear τ = 0.10, all alike, and mlx-lm keeps all that are tied for the least: "
         "XTC rests."),
        (by_engine("llama.cpp", tau=0.6), (0.7, 0.2),
         "llama.cpp does nothing where τ is above 0.50, and here it is 0.60."),
        (by_engine("mlx-lm", tau=0.4), (0.4, 0.3), "No token lies above τ = 0.40"),
    ],
)  # fmt: skip
def test_what_an_engine_does_otherwise_is_said(
    settings: SamplerSettings, probs: Sequence[float], said: str
) -> None:
    assert said in read(describe(decided_step(settings, probs), settings))


def decided_step(settings: SamplerSettings, probs: Sequence[float]) -> Step:
    """A step of float32 probabilities, of which as many are eligible as the engine says."""
    probs = torch.tensor(probs).tolist()
    step = make_step(settings, probs=probs)
    decision = decide(step.ids, probs, 0.23, settings.xtc)
    return replace(step, eligible=len(decision.eligible), removed=decision.removed,
                   outcome=decision.outcome, removed_mass=decision.removed_mass)  # fmt: skip


def test_a_protected_word_that_an_engine_removes_is_named() -> None:
    settings = by_engine("llama.cpp", [GIRL])
    (note,) = warnings(make_step(settings), settings, frozenset())
    assert read(note) == "llama.cpp protects no word: it removed « girl», protected here."


def test_an_engine_that_mixes_is_said_to_have_no_coin() -> None:
    settings = sampler()
    mixes = replace(settings.xtc.dialect, name="blend", coin=Coin.MIXTURE)
    settings = replace(settings, xtc=replace(settings.xtc, dialect=mixes))
    for coin in (0.2, 0.8):
        (note,) = warnings(make_step(settings, coin=coin), settings, frozenset())
        assert read(note).startswith("blend tosses no coin")
    alone = make_step(settings, probs=(0.5, 0.05))
    assert warnings(alone, settings, frozenset()) == []


def test_warnings_name_the_near_forced_word_and_the_kept_end() -> None:
    settings = sampler()
    step = make_step(settings, probs=(0.82, 0.12))
    (forced,) = warnings(step, settings, frozenset())
    assert forced[0] == GIRL
    assert "82" in str(forced[1])
    # 62 % against 28 % is a choice.
    assert warnings(make_step(settings, probs=(0.62, 0.28)), settings, frozenset()) == []
    (kept,) = warnings(make_step(settings), settings, frozenset([MAN]))
    assert "kept the end of the text" in read(kept)
    assert warnings(make_step(settings, coin=0.9), settings, frozenset([MAN])) == []


def test_numbers_are_written_as_people_write_them() -> None:
    assert [percent(p) for p in (0.0, 0.412, 0.0321, 0.00042, 1e-6)] == [
        "0\u00a0%", "41\u00a0%", "3.2\u00a0%", "0.042\u00a0%", "under 0.01\u00a0%",
    ]  # fmt: skip
    assert [number(x) for x in (0.5, 0.105, 0.0003, 1.0)] == ["0.50", "0.105", "0.0003", "1.00"]
    assert drawn(0.4999, 0.5) == "0.4999"
    assert drawn(0.23, 0.5) == "0.23"


def test_token_text_never_becomes_part_of_a_sentence() -> None:
    trace, _model = decode(length=120)
    hostile = ("<img", "${", "{{", "<b>")
    for lane in trace.lanes:
        for step in lane.steps:
            said = describe(replace(step), lane.settings.sampler)
            parts = [*said.before, *said.drew]
            assert not any(h in p for p in parts if isinstance(p, str) for h in hostile)
            assert {p for p in parts if isinstance(p, int)} <= set(step.ids)
