"""How an engine's XTC differs from the paper's, and what follows from it, in sentences.

All is said from the engine's data; what these do not hold is a remark of the engine.
"""

from __future__ import annotations

from xtc_viz.engines.base import Engine
from xtc_viz.sampling.dialect import Coin, Comparison, Removes, Ties, Veto, Zero

XTC, TEMPERATURE = "xtc", "temperature"

COMPARISON = {
    Comparison.AT_LEAST: "p ≥ τ",
    Comparison.ABOVE: "p > τ",
}
TIES = {
    Ties.LOWEST_ID: "lowest id",
    Ties.HIGHEST_ID: "highest id",
    Ties.ALL: "all of them",
    Ties.ANY: "one, by its sort",
}
VETO = {
    Veto.STEP: "the step is left alone",
    Veto.EXEMPT: "they stay, but count for E",
    Veto.OUTSIDE: "they are outside of E",
    Veto.NONE: "there are none",
}
COIN = {
    Coin.ROW: "one a row",
    Coin.BATCH: "one a batch",
    Coin.MIXTURE: "none: a mixture",
}
ZERO = {
    Zero.ACTS: "XTC acts, then the most probable",
    Zero.SKIPPED: "without XTC",
}
"""What each value of a dialect is called in a table."""


def consequences(engine: Engine) -> list[str]:
    """Return what changes for somebody who takes ρ and τ from the paper to this engine."""
    dialect = engine.dialect
    said = []
    if dialect.removes is not Removes.REST:
        said.append(
            "A defect makes it remove other tokens, unless top-k or top-p has sorted them before."
        )
    if engine.order.index(XTC) < engine.order.index(TEMPERATURE):
        said.append(
            "XTC sees the probabilities before temperature: with a temperature other than 1 other "
            "tokens clear the same τ than in the paper's order."
        )
    late = engine.order[engine.order.index(XTC) + 1 :]
    behind = [stage for stage in late if stage != TEMPERATURE]
    if behind:
        said.append(
            f"{_listed(behind)} {'acts' if len(behind) == 1 else 'act'} on what XTC left, so XTC "
            "sees tokens that would be cut off in the paper's order."
        )
    said += _by_veto[dialect.veto]
    if dialect.comparison is Comparison.ABOVE:
        said.append("A token at exactly τ is not eligible.")
    if dialect.ties is Ties.ALL:
        said.append("Of several tied underdogs all stay.")
    if dialect.ties is Ties.ANY:
        said.append("Which of several tied underdogs stays is left to its sort.")
    if dialect.removes is Removes.REST:  # the weights of the defect are a remark
        said += _by_coin[dialect.coin]
    if dialect.inert_above is not None:
        said.append(f"Above τ = {dialect.inert_above:g} it is off, as by arithmetic it is anyway.")
    if dialect.zero is Zero.SKIPPED:
        said.append("At temperature 0 XTC does nothing.")
    return said


_by_veto = {
    Veto.STEP: [],
    Veto.EXEMPT: ["A protected token does not save the others: they are removed beside it."],
    Veto.OUTSIDE: [
        "A protected token does not save the others: they are removed as if it were not there, and "
        "it is never the one that stays in their place."
    ],
    Veto.NONE: ["Nothing is protected: the end of a text may be removed, and the text goes on."],
}
_by_coin = {
    Coin.ROW: [],
    Coin.BATCH: ["All rows of a batch share one coin."],
    Coin.MIXTURE: [
        "No coin is tossed: p and what XTC leaves of it are mixed as 1 − ρ to ρ. A token is drawn "
        "as often as with coins, but nothing ever fires."
    ],
}


def _listed(stages: list[str]) -> str:
    names = [stage.replace("_", "-") for stage in stages]
    said = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return said[0].upper() + said[1:]
