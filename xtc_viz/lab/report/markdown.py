"""A report as Markdown for a model card: short, and what strangers wrote is text and nothing else.

A sign that Markdown or HTML could read is written with a backslash or as an entity.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence

from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.report import again
from xtc_viz.lab.report.content import Report
from xtc_viz.lab.wording import with_ends
from xtc_viz.texts import visible

_SIGNS = re.compile(r"[\\`*_\[\]|~$]|(?<=www)\.|:(?=//)|@", re.IGNORECASE)
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_BEGINS = re.compile(r"(?:[-+#=:]|\d+[.)])")
"""With what a line begins that is a list, a heading or the like."""


def plain(text: str) -> str:
    """Return a text as one line of Markdown that reads as that very text."""
    line = " ".join(visible(text, keep="\n\t").split())
    escaped = _SIGNS.sub(r"\\\g<0>", line).translate(_ENTITIES)
    if begins := _BEGINS.match(escaped):
        escaped = f"{begins[0][:-1]}\\{escaped[begins.end() - 1 :]}"
    return escaped or "(empty)"


def table(head: Sequence[str], body: Iterable[Sequence[str]], words: int = 1) -> str:
    """Return a table, its first columns, of `words`, to the left; cells are Markdown already."""
    rule = [*["---"] * words, *["---:"] * (len(head) - words)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *body]) + "\n"


def markdown(report: Report) -> str:
    """Return what was run, the main metrics, what figures say, and how to run it again."""
    results, run = report.results, report.run
    experiment = results.experiment
    sizes = [
        f"{len(results.prompts)} prompts",
        f"{len(experiment.conditions)} conditions",
        *([f"{len(experiment.seeds)} seeds"] if len(experiment.seeds) > 1 else []),
        f"{experiment.samples} samples of up to {experiment.length} tokens",
    ]
    weights = f" (weights {run.identity.weights})" if run.identity.weights else ""
    parts = [
        f"## {plain(experiment.question or experiment.name)}",
        f"The experiment {plain(experiment.name)} of xtc\\_viz on {plain(run.identity.name)}"
        f"{weights}: "
        f"{' × '.join(sizes)}, {report.done:,} texts; prompts of {plain(experiment.suite)}.",
        plain(report.partial) if report.partial else "",
        _main(report),
        "Means over prompts with 95 % intervals, by prompt. ▲ better than "
        f"{plain(results.baseline)}, paired by prompt and seed, ▼ worse, ◆ different; hollow where "
        "it may be chance among so many; no sign: no difference shown. ↑ more is preferred, ↓ less "
        f"is.{_embedder(report)}",
        *_sentences(report),
        _paper(report),
        _again(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sentences(report: Report) -> list[str]:
    """Return what figures show; what several of them say stands once."""
    labels: dict[str, str] = {}
    for one in report.figures:
        labels.setdefault(one.sentence, one.label)
    return [f"- **{label}.** {plain(sentence)}" for sentence, label in labels.items()]


def _main(report: Report) -> str:
    results = report.results
    head = ["Condition"]
    head += [f"{METRICS[name].label} {METRICS[name].direction.arrow}".strip()
             for name in report.main]  # fmt: skip
    body = []
    for condition in results.conditions:
        row = [plain(condition)]
        for name in report.main:
            mean, one = results.means[name].get(condition), results.comparison(name, condition)
            cell = with_ends(mean) if mean else "–"
            row.append(f"{cell} {one.sign}".rstrip() if one else cell)
        body.append(row)
    return table(head, body)


def _embedder(report: Report) -> str:
    embedder = report.results.embedder
    return f" Meaning is measured by {plain(embedder)}." if embedder else ""


def _paper(report: Report) -> str:
    counts = report.beside.counts()
    if not counts:
        return ""
    said = "; ".join(f"{verdict} {n}" for verdict, n in counts.items())
    return f"Beside the XTC paper, of {len(report.beside.rows)} statements: {said}."


def _again(report: Report) -> str:
    run = report.run
    versions = ", ".join(f"{name} {own}" for name, own in report.versions.items())
    made = time.strftime("%Y-%m-%d", time.localtime(report.made))
    parts = ["To run it again:", fenced(again.command(run), "sh")]
    if again.needs_file(run):
        parts += [f"with this `{again.FILE}`:", fenced(again.toml(run), "toml")]
    return "\n\n".join([*parts, f"Run {run.name}; measured on {made} with {plain(versions)}."])


def fenced(code: str, language: str) -> str:
    """Return code in a fence that is longer than any in it."""
    longest = max((len(ticks) for ticks in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{visible(code).strip()}\n{fence}"
