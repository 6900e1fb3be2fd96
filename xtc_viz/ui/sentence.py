"""One step in plain words, as parts: a `str` is text, an `int` is a token id to be shown as one.

Token text never becomes part of a sentence, so that no view can mistake it for markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.rule import Outcome
from xtc_viz.sampling.stageview import tail_shares
from xtc_viz.settings import SamplerSettings

Part = str | int
NAMED = 4  # how many tokens a sentence lists before it says "and 3 more"
BOUNDS = {
    Bound.DRAW: "By these dice a word that this model did not show may have won: of those that it "
    "showed, this one did.",
    Bound.ELIGIBLE: "This model showed too few words: more of them may clear τ.",
    Bound.TRUNCATION: "This model showed too few words for the truncation: it may keep others.",
    Bound.SCALE: "This model showed only its most probable words, so what temperature or penalties "
    "make of them is known roughly.",
    Bound.ENTROPY: "This model showed only its most probable words: the entropy is at least this.",
    Bound.DICE: "By its seed the server should have drawn another word: its dice, or its XTC, are "
    "others than they are known here.",
}
NEAR_FORCED = 0.8
"""A removed token above this was hardly a choice, but a name or a pronoun: all others together have
less than a fifth, so that at τ = 0.10 no second one of them could clear the floor."""


def percent(p: float) -> str:
    """A probability as people read it: `41 %`, `3.2 %`, `0.04 %`."""
    value = 100.0 * p
    if value >= 9.95 or value == 0.0:
        return f"{value:.0f}\u00a0%"
    if value >= 0.0095:
        return f"{value:.2g}\u00a0%"
    return "under 0.01\u00a0%"


def number(value: float) -> str:
    """A setting: at least two decimals, more where they say something."""
    if value < 0.01:
        return f"{value:.3g}"
    return f"{value:.3f}".removesuffix("0")


def drawn(value: float, threshold: float) -> str:
    """A draw beside the threshold it was compared with: digits enough to tell them apart."""
    short = f"{value:.2f}"
    return short if short != f"{threshold:.2f}" else f"{value:.4f}"


def listed(tokens: Sequence[int]) -> list[Part]:
    """`a`, `a and b`, `a, b, c, d and 3 more`."""
    shown: list[Part] = []
    named, rest = tokens[:NAMED], len(tokens) - NAMED
    for i, token in enumerate(named):
        last = i == len(named) - 1 and rest <= 0
        if i:
            shown.append(" and " if last else ", ")
        shown.append(token)
    if rest > 0:
        shown.append(f" and {rest} more")
    return shown


class Said(NamedTuple):
    """What is settled before the dice are thrown, and what they then drew."""

    before: list[Part]
    drew: list[Part]


def describe(step: Step, sampler: SamplerSettings) -> Said:
    """Say what happened at a step: who was eligible, what the coin said, what was drawn."""
    if step.forced:
        return Said(_settled(step, sampler), [" You chose ", step.token, _share(step)])
    if step.token in step.removed and step.bound & Bound.DICE:
        stayed = " all the same: its XTC has not removed it."
        return Said(_settled(step, sampler), [" The server drew ", step.token, stayed])
    if step.token in step.removed:
        # Only a what-if knows such steps.
        gone = ", which this would have removed."
        return Said(_settled(step, sampler), [" The text has ", step.token, gone])
    return Said(_settled(step, sampler), _drawn(step, sampler))


def _share(step: Step) -> str:
    """What a token that a person chose had before XTC."""
    if step.p > 0.0:
        return f", which had {percent(step.p)} before XTC."
    if step.bound:
        return ", which is none of the words that this model showed."
    return ", which truncation had dropped before XTC."


def _settled(step: Step, sampler: SamplerSettings) -> list[Part]:
    plan = plan_of(sampler)
    xtc = plan.xtc
    tau, rho, coin = number(xtc.tau), number(xtc.rho), drawn(step.coin, xtc.rho)
    eligible = list(step.ids[: step.eligible])
    if not eligible:
        return [f"No token reaches τ = {tau}, so XTC has nothing to choose from."]
    if len(eligible) == 1:
        only: list[Part] = ["Only ", eligible[0], f" clears τ = {tau}, with "]
        share = percent(step.probs[0])
        return [*only, f"{share}: nothing to remove, for that takes two, and XTC rests."]
    start: list[Part] = [f"{len(eligible)} tokens clear τ = {tau}"]
    would = [token for token in eligible if token != step.underdog]
    if plan.bypassed:
        return [*start, f". At temperature 0 {xtc.dialect.name} does without XTC."]
    if step.outcome is Outcome.UNAMBIGUOUS:
        return [*start, f", but {xtc.dialect.name} finds none of them to remove."]
    if step.outcome is Outcome.SKIPPED and xtc.rho == 0.0:
        could: list[Part] = [". XTC is off here (ρ = 0); it could have removed ", *listed(would)]
        return [*start, *could, f" ({percent(step.removable_mass)} of the probability)."]
    if step.outcome is Outcome.SKIPPED:
        held = f". The coin {coin} is not under ρ = {rho}, so XTC holds back."
        return [*start, ": ", *listed(eligible), held]
    fires = f"; the coin {coin} is under ρ = {rho}"
    if step.outcome is Outcome.PROTECTED:
        guard = [t for t in would if t in xtc.protected]
        veto: list[Part] = [f"{fires}, but firing would silence ", *listed(guard)]
        return [*start, *veto, ", which is protected: XTC leaves this step alone."]
    kept = [token for token in eligible if token not in step.removed]
    parts: list[Part] = [*start, f"{fires}: XTC fires, removes ", *listed(step.removed)]
    return [
        *parts,
        f" ({percent(step.removed_mass)} of the probability) and keeps ",
        *listed(kept),
        ".",
    ]


def _drawn(step: Step, sampler: SamplerSettings) -> list[Part]:
    if step.from_tail:
        return _drawn_below(step, sampler)
    if step.changed:
        without: list[Part] = [" Without XTC the same dice would have drawn ", step.counterfactual]
        return [*without, "; now they drew ", step.token, "."]
    if step.fired:
        return [" The dice drew ", step.token, ", as they would have without XTC."]
    return [" The dice drew ", step.token, f" ({percent(step.p)})."]


def _drawn_below(step: Step, sampler: SamplerSettings) -> list[Part]:
    """XTC fired and the word came from below τ, where it removes nothing and shares out."""
    p, q = percent(step.p), percent(step.q)
    if step.q > step.p:
        at_most = "at most " if step.bound & Bound.ELIGIBLE else ""
        before, after = (percent(share) for share in tail_shares(step, sampler))
        why = f"what lies there grew from {at_most}{before} to {after}, this word from {p} to {q}."
    else:
        why = f"XTC removes nothing there ({p} before, {q} now)."
    drew: list[Part] = [" The dice drew ", step.token, f", which lies below the floor: {why}"]
    if not step.changed:
        return [*drew, " Without XTC the dice would have drawn it too."]
    return [*drew, " Without XTC the dice would have drawn ", step.counterfactual, "."]


def warnings(step: Step, sampler: SamplerSettings, eos: frozenset[int]) -> list[list[Part]]:
    """What a careful user should know about a step; empty for most."""
    notes: list[list[Part]] = [[words] for bound, words in BOUNDS.items() if step.bound & bound]
    if step.fired:
        forced = [i for i, p in zip(step.ids, step.probs, strict=True) if p > NEAR_FORCED]
        if forced and forced[0] in step.removed:
            share = percent(step.probs[0])
            why = f" has {share}: at such a step the text hardly has a choice (a name, a pronoun), "
            notes.append([forced[0], why + "and without that word may derail."])
        if step.underdog in eos and step.underdog not in step.removed:
            notes.append(["XTC kept the end of the text: the story may stop here too early."])
    return notes
