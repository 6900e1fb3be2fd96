"""Errors as the page words them."""

from __future__ import annotations

import pytest

from xtc_viz.errors import BusyError, LaneError, SettingsError, Words, XTCVizError
from xtc_viz.knobs import KNOBS
from xtc_viz.ui.wording import NO_PROMPT, in_words


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("tau", 3, "τ floor must be in (0, 1), but is 3"),
        ("rho", "x", "ρ probability must be in [0, 1], but is “x”"),
        ("tau", " ", "τ floor must be in (0, 1), but is empty"),
        ("max_new_tokens", 0, "Length must be an integer in [1, 4096], but is 0"),
        ("seed", -1, "Seed must be an integer in [0, 2^63 − 1], but is -1"),
    ],
)
def test_a_setting_goes_by_its_label(name: str, value: object, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        KNOBS[name].check(value)
    assert in_words(caught.value) == words
    assert in_words(LaneError(1, caught.value)) == words
    assert str(caught.value).startswith(f"`{name}` must be ")


def test_an_empty_prompt_is_told_what_to_do() -> None:
    for prompt in ("", " \n"):
        assert in_words(SettingsError("prompt", "a text to go on from", prompt)) == NO_PROMPT
    long = SettingsError("prompt", "a text of at most 5 characters", Words("6 characters"))
    assert (
        in_words(long) == "The prompt must be a text of at most 5 characters, but is 6 characters"
    )


@pytest.mark.parametrize("error", [BusyError("Later."), SettingsError("lanes", "a list", 7)])
def test_what_has_no_label_says_what_it_said(error: XTCVizError) -> None:
    assert in_words(error) == str(error)
