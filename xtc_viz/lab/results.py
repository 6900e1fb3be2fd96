"""What there is of a run, in numbers: what its table, figures and report are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xtc_viz.errors import SettingsError
from xtc_viz.lab.comparison import Comparison, Values, compare, levels, scores
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.generation import Generation
from xtc_viz.lab.mechanism import Floats, Mechanism, by_label, by_position, observe, pooled
from xtc_viz.lab.metrics import METRICS, chosen, fitting
from xtc_viz.lab.metrics.base import Family, Metric
from xtc_viz.lab.reading import (
    Filter,
    cells_of,
    entries,
    experiment_of,
    failures,
    generations,
)
from xtc_viz.lab.samples import NO_CONTEXT, Context, context
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.store import Failure, RunRecord, Store
from xtc_viz.lab.suite import Prompt, Suite
from xtc_viz.settings import LaneSettings

DICE = 0
"""The seed of the resamples and flips: the same run gives the same numbers."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What XTC did in one condition: over all steps, at each position, and by prompts' labels."""

    whole: Mechanism
    by_position: Sequence[Mechanism]
    by_genre: Mapping[str, Mechanism]
    by_openness: Mapping[str, Mechanism]
    by_prompt: Mapping[str, Mechanism]


@dataclass(frozen=True)
class Results:
    """What there is of a run.

    `scores` has a metric's value for each group of samples, `means` its mean over prompts in each
    condition, `comparisons` what each condition differs by from `baseline`; metrics and conditions
    by their names. Only whole groups count, all samples of a prompt, condition and seed; `whole`
    are the prompts that the baseline has such groups of. `observed` is what XTC did in each
    condition, empty where it was not asked for. `embedder` names what measured meaning, "" where
    nothing did; `tagged` says that templates are of parts of speech and not of words. `failures`
    say why cells are missing, where that is known.
    """

    run: RunRecord
    experiment: Experiment
    baseline: str
    whole: Sequence[str]
    scores: Mapping[str, Values]
    means: Mapping[str, Mapping[str, Interval]]
    comparisons: Sequence[Comparison]
    observed: Mapping[str, Observed]
    embedder: str = ""
    tagged: bool = False
    failures: Sequence[Failure] = ()

    @cached_property
    def prompts(self) -> Mapping[str, Prompt]:
        """The prompts that the run takes, by id, in their order."""
        suite = Suite.from_dict(self.run.suite).take(self.experiment.prompts)
        return {prompt.id: prompt for prompt in suite.prompts}

    @property
    def conditions(self) -> Mapping[str, LaneSettings]:
        """All conditions of the experiment by name, in its order."""
        return {condition.name: condition for condition in self.experiment.conditions}

    def comparison(self, metric: str, condition: str) -> Comparison | None:
        """Return what a condition differs by from the baseline; None where nothing is there."""
        return self._compared.get((metric, condition))

    @cached_property
    def _compared(self) -> Mapping[tuple[str, str], Comparison]:
        return {(one.metric, one.condition): one for one in self.comparisons}


def results(
    store: Store,
    run: RunRecord,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
    *,
    mechanism: bool = False,
    embedder: str = "lsa",
    also: Iterable[str] = (),
) -> Results:
    """Measure what is there of a run.

    `metrics` None are all that such a run can have, `baseline` None is the run's first condition.
    `mechanism` reads all steps too, which takes about a second for 1,000 texts. `embedder` is one
    of `embedding.FITTED`, or a sentence-transformers model's name; `also` are texts of other runs
    with which meaning is to be compared, as one that is fitted sees all of them first.

    Raises:
        SettingsError: there is no such metric, condition or embedder, or nothing to compare yet.
        StoreError: the store cannot be read.
        TraceError: the steps of a cell are broken.
    """
    wanted = chosen(fitting(judged=judged(run)) if metrics is None else metrics)
    experiment = experiment_of(run)
    names = [condition.name for condition in experiment.conditions]
    base = names[0] if baseline is None else baseline
    if base not in names:
        raise SettingsError("baseline", f"one of {', '.join(names)}", base)
    texts = list(generations(store, run))
    # An embedder has to see all texts of the run first.
    needed = {metric.family for metric in wanted} & {Family.MEANING, Family.TEMPLATES}
    every = sorted([*(one.text for one in texts), *also])
    fitted = context(every, embedder) if needed and texts else NO_CONTEXT
    values = scores(texts, wanted, fitted, samples=experiment.samples)
    groups = next(iter(values.values()), {})
    whole = tuple(dict.fromkeys(group.prompt for group in groups if group.condition == base))
    if not whole:
        raise SettingsError("run", "one with all samples of a prompt under its baseline", run.name)
    return Results(
        run=run,
        experiment=experiment,
        baseline=base,
        whole=whole,
        scores=values,
        means={name: _within(METRICS[name], levels(own, DICE)) for name, own in values.items()},
        comparisons=compare(values, base, DICE),
        observed=observed(store, run) if mechanism else {},
        embedder=_embedder(fitted),
        tagged=fitted.tagger is not None,
        failures=failures(store, run),
    )


def judged(run: RunRecord) -> bool:
    """Whether some prompt of a run says what is a right answer."""
    return any(prompt.get("check") for prompt in run.suite["prompts"])


def _within(metric: Metric, means: Mapping[str, Interval]) -> dict[str, Interval]:
    """Return intervals that end where the metric does: of few prompts they may reach beyond it."""
    low, high = metric.low, metric.high
    return {
        name: replace(one, low=max(one.low, low), high=min(one.high, high))
        for name, one in means.items()
    }


def _embedder(fitted: Context) -> str:
    return fitted.embedder.label if fitted.embedder else ""


def observed(store: Store, run: RunRecord) -> dict[str, Observed]:
    """Return what XTC did in each condition that has texts.

    Raises:
        StoreError: the store cannot be read.
        TraceError: the steps of a cell are broken.
    """
    experiment = experiment_of(run)
    prompts = {prompt.id: prompt for prompt in Suite.from_dict(run.suite).prompts}
    by_condition = {}
    for condition in experiment.conditions:
        wanted = Filter(conditions=(condition.name,))
        first = next(entries(store, cells_of(run, wanted)), None)
        if first is None:
            continue
        # With the ids that were protected when it was decoded.
        data = {"name": condition.name, "sampler": store.read(first[0].name)[0].sampler}
        xtc = LaneSettings.from_dict(data).sampler.xtc
        texts = generations(store, run, wanted, steps=True)
        tables = [(one, observe(one.steps, xtc)) for one in texts if one.steps]
        if tables:
            by_condition[condition.name] = _observed(tables, prompts)
    return by_condition


def _observed(
    tables: Sequence[tuple[Generation, Floats]], prompts: Mapping[str, Prompt]
) -> Observed:
    every = [table for _, table in tables]
    labelled = ((str(prompts[one.prompt].openness or ""), table) for one, table in tables)
    return Observed(
        whole=pooled(every),
        by_position=by_position(every),
        by_genre=by_label((one.genre, table) for one, table in tables),
        by_openness=by_label((label, table) for label, table in labelled if label),
        by_prompt=by_label((one.prompt, table) for one, table in tables),
    )
