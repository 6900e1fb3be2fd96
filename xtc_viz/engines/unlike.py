"""What differs for a lane in an engine's rule, in sentences."""

from __future__ import annotations

from xtc_viz.engines.base import Engine
from xtc_viz.sampling.dialect import Coin, Comparison, Removes, Ties, Veto, Zero
from xtc_viz.settings import SamplerSettings

_COMPARISON = {
    Comparison.AT_LEAST: "A token whose probability is exactly τ is eligible there.",
    Comparison.ABOVE: "A token whose probability is exactly τ is not eligible there.",
}
_TIES = {
    Ties.LOWEST_ID: "Of equally probable least tokens the one with the lowest id is kept there.",
    Ties.HIGHEST_ID: "Of equally probable least tokens the one with the highest id is kept there.",
    Ties.ALL: "Equally probable least tokens are all kept there.",
    Ties.ANY: "Which of equally probable least tokens is kept there is left to its sort.",
}
_REMOVES = {
    Removes.REST: "All eligible tokens but the underdog are removed there.",
    Removes.BEFORE_BY_ID: "By a defect a token is removed there if the one with the next id is "
    "eligible, be it likely or not.",
    Removes.BEFORE_FALLING: "A token is removed there if the next less probable one is eligible.",
}
_VETO = {
    Veto.STEP: "A step that would remove a protected token is left alone there.",
    Veto.EXEMPT: "Protected tokens are never removed there, and others still are.",
    Veto.OUTSIDE: "Protected tokens are never eligible there, so that others are removed instead.",
    Veto.NONE: "It protects no tokens: XTC may remove the end of a text or a line there.",
}
_COIN = {
    Coin.ROW: "Each text has a coin of its own there.",
    Coin.BATCH: "One coin decides for all texts of a batch there.",
    Coin.MIXTURE: "No coin is tossed there: the two distributions are mixed, which draws the same "
    "tokens as often.",
}
_ZERO = {
    Zero.ACTS: "At temperature 0 XTC acts there, before the most probable token is taken.",
    Zero.SKIPPED: "At temperature 0 XTC does not act there.",
}


def unlike(sampler: SamplerSettings, engine: Engine, *, listed: bool) -> list[str]:
    """Return what an engine does otherwise than the rule of a lane; nothing where XTC is off.

    `listed` says that protected tokens go there by their ids.
    """
    here, there = sampler.xtc.dialect, engine.dialect
    if not sampler.xtc.rho:
        return []
    words = []
    if here.comparison != there.comparison:
        words.append(_COMPARISON[there.comparison])
    if here.ties != there.ties:
        words.append(_TIES[there.ties])
    if here.removes != there.removes:
        words.append(_REMOVES[there.removes])
    if here.veto != there.veto:
        words.append(_VETO[there.veto])
    if not listed and there.veto != Veto.NONE:
        words.append(f"Protected there: {engine.protects[0].lower()}{engine.protects[1:]}")
    if here.coin != there.coin:
        words.append(_COIN[there.coin])
    if not sampler.temperature and here.zero != there.zero:
        words.append(_ZERO[there.zero])
    limit = there.inert_above
    if limit is not None and sampler.xtc.tau > limit and here.inert_above != limit:
        words.append(f"Above a τ of {limit:g} XTC does nothing there.")
    return words
