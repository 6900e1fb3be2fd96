"""The paper's experiments on the embedded model: docs/replication.md from a store of their runs.

    xtc-viz lab run main strong-baselines grid strategies composition --store full.sqlite
    python -m bench.replication --store full.sqlite --write

The page's words stand in the page; what is measured stands between marks and is written by this
alone, with its figures in docs/figures (plotly through Chromium). Without `--write` it prints.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.svg import svgs
from xtc_viz.errors import StoreError
from xtc_viz.lab.beside import Row, Verdict
from xtc_viz.lab.mechanism import QUANTITIES
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.paper import Agreement
from xtc_viz.lab.reading import find_run
from xtc_viz.lab.report.content import Report, report
from xtc_viz.lab.report.markdown import plain, table
from xtc_viz.lab.store import Store
from xtc_viz.lab.wording import number, with_ends

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, FIGURES = DOCS / "replication.md", DOCS / "figures"
SHOWN: Mapping[str, Sequence[str]] = {
    "main": ("forest", "win_tie_loss", "positions", "activation_gain", "genre"),
    "strong-baselines": ("forest", "pareto"),
    "grid": ("grid",),
    "strategies": ("ablation",),
    "composition": ("composition",),
}
"""The experiments that the page shows, and their figures, where a run can have them."""
METRICS_SHOWN = ("distinct_2", "repeated_trigrams", "self_bleu", "embedding_distance", "tokens")
WITH_MECHANISM = ("main", "strong-baselines")
MECHANISM = ("ambiguous", "activation", "changed", "eligible", "removed_mass", "tail_drawn")


def reports(store: Store) -> dict[str, Report]:
    """Return the latest run of each experiment that the store holds, and that can be measured."""
    found = {}
    for name in SHOWN:
        try:
            found[name] = report(store, find_run(store, name))
        except StoreError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return found


# What is written of a run


def section(name: str, one: Report, pictures: Iterable[tuple[str, str, str]]) -> str:
    """Return the section of a run; `pictures` are label, file and sentence."""
    parts = [one.partial, _levels(one)]
    if name in WITH_MECHANISM:
        parts.append(_mechanism(one))
    parts += [f"![{label}](figures/{file})\n\n{plain(says)}" for label, file, says in pictures]
    if one.beside.rows:
        parts += ["Beside the paper:", _beside(one.beside.rows)]
    if apart := [row for row in one.beside.rows if row.verdict is Verdict.DIFFERS]:
        parts += ["Where it does not agree:", _rows(apart)]
    return "\n\n".join(part.strip() for part in parts if part)


def _levels(one: Report) -> str:
    """Return the means, with the difference from the baseline; bold where it excludes zero."""
    results, body = one.results, []
    known = [name for name in METRICS_SHOWN if name in one.main]
    for condition in results.conditions:
        row = [plain(condition)]
        for name in known:
            mean, own = results.means[name].get(condition), results.comparison(name, condition)
            cell = number(mean.mean) if mean else "–"
            if own:
                shown = with_ends(own.difference, signed=True)
                cell += f"<br>**{shown}**" if own.difference.excludes_zero else f"<br>{shown}"
            row.append(cell)
        body.append(row)
    return table(["Condition", *(_head(name) for name in known)], body)


def _head(metric: str) -> str:
    return f"{METRICS[metric].label} {METRICS[metric].direction.arrow}".strip()


def _mechanism(one: Report) -> str:
    """Return what XTC did in each condition; without XTC, what lies below its τ all the same."""
    body = []
    for condition in one.results.conditions:
        if (own := one.results.observed.get(condition)) is not None:
            values = [own.whole.values[name] for name in MECHANISM]
            body.append([plain(condition), *("–" if v is None else number(v) for v in values)])
    labels = {quantity.name: quantity.label for quantity in QUANTITIES}
    return table(["Over all steps", *(plain(labels[name]) for name in MECHANISM)], body)


def _beside(rows: Sequence[Row]) -> str:
    """Return how many statements of each place and metric have which verdict."""
    counts: dict[tuple[str, str, str, str], Counter[Verdict]] = {}
    for row in rows:
        at, metric = row.statement.at, row.statement.metric
        star = "" if metric.agrees is Agreement.YES else "\\*"
        key = (at.place, at.title, at.model, f"{metric.called}{star}")
        counts.setdefault(key, Counter())[row.verdict] += 1
    body = []
    for (place, title, model, called), own in counts.items():
        verdicts = [f"{verdict} {own[verdict]}" for verdict in Verdict if own[verdict]]
        body.append([f"{place}: {plain(title)} ({plain(model)})", called, "; ".join(verdicts)])
    return table(["The paper", "Metric", "Verdicts"], body, words=3)


def _rows(rows: Sequence[Row]) -> str:
    body = [
        [
            f"{row.statement.at.place}: {plain(row.statement.metric.called)}, "
            f"{plain(row.condition)} against {plain(row.against)}",
            {1: "more", -1: "less"}[row.statement.direction],
            f"{number(row.base.mean)} → {number(row.level.mean)}",
            with_ends(row.difference, signed=True),
        ]
        for row in rows
    ]
    return table(["Of", "The paper", "Here", "Difference"], body, words=2)


def head(found: Mapping[str, Report]) -> str:
    """Return what was run, and what came of it beside the paper, in short."""
    said = {row.statement: row.verdict for one in found.values() for row in one.beside.rows}
    known = [verdict for verdict in Verdict if verdict in said.values()]
    body = []
    for name, one in found.items():
        counts, experiment = one.beside.counts(), one.results.experiment
        size = f"{len(one.results.prompts)} × {len(experiment.conditions)} × {experiment.samples}"
        shown = [str(counts.get(verdict, 0)) for verdict in known]
        body.append([name, size, str(experiment.length), f"{one.done:,}", *shown])
    once = Counter(said.values())
    body.append(["each statement once", "", "", "", *(f"**{once[one]}**" for one in known)])
    first = next(iter(found.values()))
    identity = first.run.identity
    versions = ", ".join(f"{name} {own}" for name, own in first.versions.items())
    made = time.strftime("%Y-%m-%d", time.localtime(max(one.made for one in found.values())))
    verdicts = table(
        ["Experiment", "Prompts × conditions × samples", "Tokens at most", "Texts",
         *(str(verdict).capitalize() for verdict in known)], body
    )  # fmt: skip
    return (
        f"{plain(identity.name)} ({identity.parameters or 0:,} parameters, {identity.dtype}, "
        f"weights {identity.weights}), seed {first.results.experiment.seeds[0]}; measured on "
        f"{made} with {plain(versions)}. Meaning is measured by "
        f"{plain(first.results.embedder)}.\n\n{verdicts}"
    )


# The page


def put(text: str, sections: Mapping[str, str]) -> str:
    """Return a page with these sections between their marks; a mark without one stays empty.

    Raises:
        KeyError: there is no mark for a section.
    """
    for name in sections:
        if f"<!-- {name} -->" not in text:
            raise KeyError(name)

    def fill(match: re.Match[str]) -> str:
        own = sections.get(match[1], "Not run.")
        return f"<!-- {match[1]} -->\n\n{own}\n\n<!-- /{match[1]} -->"

    return re.sub(r"<!-- ([\w-]+) -->.*?<!-- /\1 -->", fill, text, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.replication",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--store", type=Path, required=True, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="write the page and its figures")
    options = parser.parse_args()
    with Store(options.store, create=False) as store:
        found = reports(store)
    if not found:
        parser.error("the store holds none of the experiments that the page shows")
    pictures = {
        f"{name}-{drawn.name.replace('_', '-')}": drawn
        for name, one in found.items()
        for drawn in one.figures
        if drawn.name in SHOWN[name]
    }
    sections = {"head": head(found)}
    for name, one in found.items():
        own = [
            (drawn.label, f"{file}.svg", drawn.sentence)
            for file, drawn in pictures.items()
            if any(drawn is each for each in one.figures)
        ]
        sections[name] = section(name, one, own)
    if not options.write:
        print("\n\n".join(sections.values()))
        return
    FIGURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        for file, svg in svgs({name: one.figure for name, one in pictures.items()}, playwright):
            (FIGURES / f"{file}.svg").write_text(svg, encoding="utf-8")
            print(json.dumps({"figure": file, "kB": round(len(svg) / 1000, 1)}))
    PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), sections), encoding="utf-8")


if __name__ == "__main__":
    main()
