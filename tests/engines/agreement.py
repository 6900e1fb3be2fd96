"""How often each engine leaves the tokens that the paper's rule leaves, at ρ = 1.

python -m tests.engines.agreement            # print it, the engines' own code beside the data
python -m tests.engines.agreement --write    # and write docs/engines.md anew, from the data
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch

from tests.engines import page
from tests.engines.cases import Case, cases, softmax
from tests.engines.originals import ORIGINALS, Left, Probs, missing
from xtc_viz.engines.known import ENGINES
from xtc_viz.sampling.dialect import PAPER, Dialect, Ties
from xtc_viz.sampling.rule import decide
from xtc_viz.settings import XTCSettings

KINDS: dict[str, dict[str, bool]] = {
    "nothing protected": {},
    "one token protected": {"protect": True},
    "many ties, exact τ": {"ties": True},
}
"""Kinds of cases by the heads of their columns."""
COUNT, SEED = 2000, 7


def left(dialect: Dialect, probs: Probs, case: Case) -> frozenset[int]:
    """Return the tokens that a dialect leaves of `probs`, (V,) float32."""
    xtc = XTCSettings(rho=1.0, tau=case.tau, protected=case.protected, dialect=dialect)
    values = probs.tolist()
    order = sorted(range(len(values)), key=lambda token: (-values[token], token))
    decision = decide(order, [values[token] for token in order], 0.0, xtc)
    return frozenset(order).difference(decision.gone)


def same(ours: frozenset[int], theirs: Left, dialect: Dialect) -> bool:
    """Whether both leave the same tokens, but for which of tied ones an engine's sort leaves."""
    if ours == theirs.survivors or dialect.ties is not Ties.ANY:
        return ours == theirs.survivors
    one, other = (sorted(theirs.probs[list(ids)].tolist()) for ids in (ours, theirs.survivors))
    return one == other


def by_data(name: str, kind: str) -> float:
    """Return the share of cases in which the data of an engine leave what the paper leaves."""
    agreed = 0
    for case in cases(COUNT, SEED, ambiguous=False, **KINDS[kind]):
        probs = softmax(case.logits)
        agreed += left(ENGINES[name].dialect, probs, case) == left(PAPER, probs, case)
    return agreed / COUNT


def by_code(name: str, kind: str) -> tuple[float, int]:
    """Return the same share for the engine's own code, and how often its data leave otherwise."""
    dialect, agreed, otherwise = ENGINES[name].dialect, 0, 0
    for case in cases(COUNT, SEED, ambiguous=False, **KINDS[kind]):
        theirs = ORIGINALS[name](case)
        agreed += same(left(PAPER, theirs.probs, case), theirs, dialect)
        otherwise += not same(left(dialect, theirs.probs, case), theirs, dialect)
    return agreed / COUNT, otherwise


def table() -> list[list[str]]:
    """Return the rows of the table of agreement, from the data alone."""
    return [
        [f"`{name}`", *(f"{by_data(name, kind):.0%}" for kind in KINDS)]
        for name in ENGINES
        if name != PAPER.name
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/engines.md anew")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if options.write:
        page.PAGE.write_text(page.text(table()), encoding="utf-8")
    print(f"The same tokens left as by the paper's rule, {COUNT} cases a column, ρ = 1:")
    for name in ENGINES:
        if name == PAPER.name:
            continue
        reason = missing(name) if name in ORIGINALS else "no package brings it"
        if reason:
            shares = [by_data(name, kind) for kind in KINDS]
            source = f"from the data: {reason}"
        else:
            found = [by_code(name, kind) for kind in KINDS]
            shares = [share for share, _ in found]
            source = f"its own code, {sum(n for _, n in found)} cases otherwise than its data"
        print(f"  {name:22}", *(f"{share:6.1%}" for share in shares), f"  {source}")


if __name__ == "__main__":
    main()
