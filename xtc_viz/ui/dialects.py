"""The engines as the page offers them: names, orders of stages, and what each does otherwise."""

from __future__ import annotations

from typing import Any

from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.sampling.dialect import Coin, Comparison, Dialect, Removes, Ties, Veto, Zero
from xtc_viz.settings import XTC, SamplerSettings

LABELS = {"paper": "the paper", "vLLM": "vLLM with this plug-in"}
"""What an engine is called in a list of engines, where that is not its name."""
CAUSES = {
    "comparison": "τ itself",
    "ties": "ties",
    "veto": "protected words",
    "inert_above": "τ above its limit",
    "coin": "no coin but a mixture",
    "zero": "temperature 0",
    "removes": "a defect",
}
"""The properties of a rule by which engines differ, in a word or two."""


def specification() -> list[dict[str, Any]]:
    """Return all engines in the order of tables, as JSON values."""
    return [_about(engine) for engine in ENGINES.values()]


def _about(engine: Engine) -> dict[str, Any]:
    """`order` names every stage; `lacks` are those that the engine has not."""
    order = SamplerSettings(order=engine.order).order
    return {
        "name": engine.name,
        "label": LABELS.get(engine.name, engine.name),
        "meaning": meaning(engine.dialect),
        "order": list(order),
        "lacks": [stage for stage in order if stage not in engine.order and stage != XTC],
        "inert": engine.dialect.inert_above,
        "zero": str(engine.dialect.zero),
        "source": f"{engine.source.repository} {engine.source.version}, {engine.source.path}",
        "seed": engine.seed,
        "remarks": list(engine.remarks),
    }


def meaning(dialect: Dialect) -> str:
    """Say in one sentence what an engine's rule does otherwise than the paper's."""
    parts = [words for known, words in DIFFERENCES.items() if known in _traits(dialect)]
    if dialect.inert_above is not None:
        parts.append(f"above τ {dialect.inert_above:g} it does nothing")
    if not parts:
        return "XTC as the paper has it."
    return f"As the paper, but: {'; '.join(parts)}."


DIFFERENCES = {
    Comparison.ABOVE: "a word at τ itself does not count",
    Ties.HIGHEST_ID: "of tied words it keeps another one",
    Ties.ANY: "which of tied words stays its sort decides (here the one with the lowest id)",
    Ties.ALL: "it keeps all words that are tied for the least likely",
    Veto.EXEMPT: "of protected words it spares each and removes the others",
    Veto.OUTSIDE: "protected words take no part",
    Veto.NONE: "it protects no words",
    Coin.BATCH: "one coin is for a whole batch",
    Coin.MIXTURE: "it mixes with and without XTC in place of a coin",
    Zero.SKIPPED: "at temperature 0 it is skipped",
    Removes.BEFORE_BY_ID: "by a defect it removes the word in front of one that clears τ",
}
"""Traits that the paper's rule has not, in words."""


def _traits(dialect: Dialect) -> tuple[object, ...]:
    return (
        dialect.comparison,
        dialect.ties,
        dialect.veto,
        dialect.coin,
        dialect.zero,
        dialect.removes,
    )
