"""What a figure of the laboratory is. Each stands in a module of its own, as its `FIGURE`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from xtc_viz.errors import SettingsError
from xtc_viz.lab.figures.panels import fit_legend
from xtc_viz.lab.figures.view import USUAL, Options, View, defined
from xtc_viz.lab.figures.words import listed
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.results import Results

Choice = Callable[[Sequence[str], str], tuple[str, ...]]
"""Which metrics to show, of those that have values, where this one is chosen, or none ("")."""


def one_of(*usual: str) -> Choice:
    """Show the metric that is chosen, or else the first of these that has values."""

    def choose(known: Sequence[str], chosen: str) -> tuple[str, ...]:
        wanted = (chosen,) if chosen else usual
        return tuple(name for name in wanted if name in known)[:1] or tuple(known[:1])

    return choose


def all_of(*usual: str) -> Choice:
    """Show the metric that is chosen, or else all of these that have values."""

    def choose(known: Sequence[str], chosen: str) -> tuple[str, ...]:
        wanted = (chosen,) if chosen else usual
        return tuple(name for name in wanted if name in known) or tuple(known[:1])

    return choose


ANSWERS = ("passed", "parses")
"""Whether answers are right; only suites that check answers have them."""
TEXTS = (
    "distinct_2",
    "repeated_trigrams",
    "self_bleu",
    "embedding_distance",
    "self_repetition",
    "tokens",
)
MAIN = ANSWERS + TEXTS
"""The metrics of figures with several panels; the first of them where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabFigure:
    """A picture of results, and the sentence that its numbers allow.

    `label` is what it is called, `meaning` a line that says how to read it, `place` its place in
    reports. Its parts take a `View`: `lack` says why these results cannot have it ("" where they
    can), `picture` draws it, `words` says what it shows, on how many prompts, without a claim
    where an interval includes zero. `metrics` is None where it shows what XTC did and no metric.
    """

    name: str
    label: str
    place: int
    meaning: str
    lack: Callable[[View], str]
    picture: Callable[[View], go.Figure]
    words: Callable[[View], str]
    metrics: Choice | None = None

    def missing(self, results: Results, options: Options = USUAL) -> str:
        """Say in words why these results cannot have this figure; "" where they can.

        Raises:
            SettingsError: the options name what these results do not have.
        """
        view = self._view(results, options)
        if self.metrics is not None and not view.metrics:
            if options.metric and options.metric not in defined(results):
                label = METRICS[options.metric].label
                return f"{label} has no value here: it may need several samples of a prompt."
            return "The metrics that it takes have no values here."
        return self.lack(view)

    def needs(self, results: Results, options: Options = USUAL) -> bool:
        """Say whether these results have what it needs. Raises as `missing`."""
        return not self.missing(results, options)

    def choices(self, results: Results) -> tuple[str, ...]:
        """Return the metrics that `Options.metric` may name; none where it shows none."""
        return defined(results) if self.metrics is not None else ()

    def draw(self, results: Results, options: Options = USUAL) -> go.Figure:
        """Draw it, with `template` "none", for a window of the options' width or wider.

        Raises:
            SettingsError: as `missing`; or it cannot be drawn, with what is missing.
        """
        figure = self.picture(self._complete(results, options))
        fit_legend(figure, options.width)
        return figure

    def sentence(self, results: Results, options: Options = USUAL) -> str:
        """Return what it shows in plain words, as plain text. Raises as `draw`."""
        view = self._complete(results, options)
        words = self.words(view)
        if view.by_embedder and results.embedder:
            words += f" {listed(view.by_embedder)}: measured by {results.embedder}."
        return words

    def _view(self, results: Results, options: Options) -> View:
        known = defined(results)
        shown = () if self.metrics is None else self.metrics(known, options.metric)
        if options.metric and self.metrics is not None and options.metric not in known:
            shown = ()
        return View(results, options, shown)

    def _complete(self, results: Results, options: Options) -> View:
        if missing := self.missing(results, options):
            raise SettingsError("figure", f"one that this run can have ({missing})", self.name)
        return self._view(results, options)
