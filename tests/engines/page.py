"""The text of docs/engines.md, from the engines' data and a table of agreement."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.engines.differences import COIN, COMPARISON, TIES, VETO, ZERO, consequences
from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "engines.md"

HEAD = """# XTC in other engines: what is the same, and what is not

XTC is in many engines, each with rules of its own, and a preset does not mean the same in all of
them. This page is written from the same data by which a lane here follows an engine
(`xtc_viz/engines/known/`, one file an engine); `python -m tests.engines.agreement --write` writes
it anew.

## The rules

{rules}

Defaults are what an engine takes where nobody says anything; with ρ = 0 XTC is off.

## How often they agree

The share of random distributions in which an engine leaves the same tokens as the paper's rule at
ρ = 1; in many of them fewer than two tokens clear τ and nothing happens anywhere. The protected
token is one of the ten most probable.

{agreement}

`make test-engines` runs llama.cpp's, mlx-lm's, ExLlamaV2's and ExLlamaV3's own code beside these
data, on thousands of distributions, many of them with ties, protected tokens, or τ exactly at a
token's probability: the same tokens are left in every one of them, but for which one of several
tied underdogs a sort happens to leave. (Aphrodite's is run too where its package, 340 MB, is in
`.engines`.) What stands here of text-generation-webui, koboldcpp and TabbyAPI was read in their
source.

## One by one

{each}
"""


def text(agreement: Iterable[Iterable[str]]) -> str:
    rules = _table(
        ("engine", "eligible", "of tied underdogs stays", "protected tokens", "coin",
         "temperature 0", "XTC against temperature", "default ρ, τ"),
        (_rule(engine) for engine in ENGINES.values()),
    )  # fmt: skip
    shares = _table(
        ("engine", "nothing protected", "one token protected", "many ties, exact τ"), agreement
    )
    each = "\n".join(_one(engine) for engine in ENGINES.values() if engine.place)
    return HEAD.format(rules=rules, agreement=shares, each=each.rstrip())


def _rule(engine: Engine) -> list[str]:
    dialect, order = engine.dialect, engine.order
    before = order.index("xtc") < order.index("temperature")
    place = f"{'before' if before else 'after'}{', or as one likes' if engine.free_order else ''}"
    return [
        f"`{engine.name}`", COMPARISON[dialect.comparison], TIES[dialect.ties],
        VETO[dialect.veto], COIN[dialect.coin], ZERO[dialect.zero], place,
        f"{engine.rho:g}, {engine.tau:g}",
    ]  # fmt: skip


def _one(engine: Engine) -> str:
    source = engine.source
    lines = [f"### {engine.name}", ""]
    lines.append("Set the same ρ and τ here and there: the same but for this.")
    lines += ["", *(f"- {said}" for said in consequences(engine))]
    lines += [f"- {said}" for said in engine.remarks]
    lines += [
        "",
        f"Protects by itself: {_lower(engine.protects)} Refuses: {_lower(engine.refuses)} "
        f"Seed: {_lower(engine.seed)}",
        "",
        f"Order: {' → '.join(engine.order)}.",
        "",
        f"Read in {source.repository}, `{source.path}`, {source.version}, on {source.read}.",
        "",
    ]
    return "\n".join(lines)


def _lower(sentence: str) -> str:
    first = sentence.split(" ", 1)[0]
    plain = first[:1].isupper() and first[1:].islower()
    return sentence[:1].lower() + sentence[1:] if plain or first == "A" else sentence


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = [list(head), *(list(row) for row in rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{'---|' * len(cells[0])}", *lines[1:]])
