"""One step in plain words: why it is as it is, and what a careful user should know about it."""

from __future__ import annotations

from typing import NamedTuple

from xtc_viz.parts import Part, listed
from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.dialect import Coin, Comparison, Removes, Ties, Veto
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.rule import Outcome, removable
from xtc_viz.sampling.stageview import tail_shares
from xtc_viz.settings import SamplerSettings, Strategy, XTCSettings

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
MIXTURE = (
    "{} tosses no coin: it mixes the words with and without XTC, in the ratio of ρ. The coin here "
    "gives each word the same odds."
)
DEFECT = (
    "{} removes the word in front of one that clears τ, where it should look at the word itself: "
    "so it may keep a likely word, and remove one below τ."
)
SPARES = {
    Veto.EXEMPT: ", for that is protected",
    Veto.OUTSIDE: ", for what is protected is none of its choice",
}
"""Why an engine that leaves no step alone keeps a protected token."""
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
    cleared = list(step.ids[: step.eligible])
    if not cleared:
        return [_none_clears(xtc)]
    if len(cleared) == 1:
        only: list[Part] = ["Only ", cleared[0], f" clears τ = {tau}, with "]
        share = percent(step.probs[0])
        return [*only, f"{share}: nothing to remove, for that takes two, and XTC rests."]
    start: list[Part] = [f"{len(cleared)} tokens clear τ = {tau}"]
    if plan.bypassed:
        return [*start, f". At temperature 0 {xtc.dialect.name} does without XTC."]
    if step.outcome is Outcome.UNAMBIGUOUS:
        return [*start, *_rests(step, xtc)]
    would = removable(cleared, step.probs[: step.eligible], xtc)
    if step.outcome is Outcome.SKIPPED and xtc.rho == 0.0:
        could: list[Part] = [". XTC is off here (ρ = 0); it could have removed ", *listed(would)]
        return [*start, *could, f" ({percent(step.removable_mass)} of the probability)."]
    if step.outcome is Outcome.SKIPPED:
        held = f". The coin {coin} is not under ρ = {rho}, so XTC holds back."
        return [*start, ": ", *listed(cleared), held]
    fires = f"; the coin {coin} is under ρ = {rho}"
    if step.outcome is Outcome.PROTECTED:
        guard = [t for t in would if t in xtc.protected]
        veto: list[Part] = [f"{fires}, but firing would silence ", *listed(guard)]
        return [*start, *veto, ", which is protected: XTC leaves this step alone."]
    parts: list[Part] = [*start, f"{fires}: XTC fires, removes ", *listed(step.removed)]
    parts.append(f" ({percent(step.removed_mass)} of the probability) and keeps ")
    return [*parts, *_kept(step, xtc)]


def _none_clears(xtc: XTCSettings) -> str:
    tau, dialect = number(xtc.tau), xtc.dialect
    if dialect.inert_above is not None and xtc.tau > dialect.inert_above:
        most = number(dialect.inert_above)
        return f"{dialect.name} does nothing where τ is above {most}, and here it is {tau}."
    reaches = "reaches" if dialect.comparison is Comparison.AT_LEAST else "lies above"
    return f"No token {reaches} τ = {tau}, so XTC has nothing to choose from."


def _rests(step: Step, xtc: XTCSettings) -> list[Part]:
    """Why nothing can be removed though several tokens clear τ, which only engines know."""
    name, cleared = xtc.dialect.name, step.ids[: step.eligible]
    guard = [token for token in cleared if token in xtc.protected]
    if xtc.dialect.veto is Veto.OUTSIDE and guard:
        out: list[Part] = [
            f", but {name} takes what is protected out of the choice: ",
            *listed(guard),
        ]
        return [*out, ". What is left has nothing to remove, and XTC rests."]
    if xtc.dialect.veto is Veto.EXEMPT and guard:
        stay: list[Part] = [f", but {name} removes no protected word, here ", *listed(guard)]
        return [*stay, ": nothing is left to remove, and XTC rests."]
    if xtc.dialect.removes is not Removes.REST:
        return [f", but {name} finds none of them to remove."]
    return [f", all alike, and {name} keeps all that are tied for the least: XTC rests."]


def _kept(step: Step, xtc: XTCSettings) -> list[Part]:
    """What is left of the tokens that clear τ, and what of it an engine's rule let stay."""
    left = [token for token in step.ids[: step.eligible] if token not in step.removed]
    spared = [t for t in left if t in xtc.protected] if xtc.dialect.veto in SPARES else []
    kept = [token for token in left if token not in spared]
    tied = xtc.dialect.ties is Ties.ALL and xtc.strategy is Strategy.KEEP_LEAST and len(kept) > 1
    parts = [*listed(kept), ", which are tied" if tied else ""] if kept else []
    if spared:
        parts += [" and " if kept else "", *listed(spared), SPARES[xtc.dialect.veto]]
    return [*filter(lambda part: part != "", parts), "."]


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
        if eos.intersection(step.ids[: step.eligible]).difference(step.removed):
            notes.append(["XTC kept the end of the text: the story may stop here too early."])
    return notes + _of_engine(step, plan_of(sampler).xtc)


def _of_engine(step: Step, xtc: XTCSettings) -> list[list[Part]]:
    """What of a step is so because of the engine whose rule it is."""
    notes: list[list[Part]] = []
    gone = [token for token in step.removed if token in xtc.protected]
    if gone:
        name = xtc.dialect.name
        notes.append([f"{name} protects no word: it removed ", *listed(gone), ", protected here."])
    if step.fired and xtc.dialect.removes is not Removes.REST:
        notes.append([DEFECT.format(xtc.dialect.name)])
    if xtc.dialect.coin is Coin.MIXTURE and step.outcome in (Outcome.FIRED, Outcome.SKIPPED):
        notes.append([MIXTURE.format(xtc.dialect.name)])
    return notes
