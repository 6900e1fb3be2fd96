"""Two runs compared, condition by condition, such as one experiment on two models.

    first, second = measured(store, run, store, other)
    for one in against(first, second).shifts: ...

The dice of a cell come from seed, prompt and sample, and from nothing else: two models that give
nearly the same probabilities, such as a model and its quantized self, write nearly the same texts.
So the runs are paired by prompt, condition and seed, as conditions are within one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xtc_viz.errors import SettingsError, shown
from xtc_viz.lab.comparison import Comparison, Values, of_pairs
from xtc_viz.lab.experiment import Experiment, effective
from xtc_viz.lab.generation import Group
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.reading import generations
from xtc_viz.lab.results import DICE, Results, results
from xtc_viz.lab.statistics import Pairs, by_prompt
from xtc_viz.lab.store import RunRecord, Store

MUST = ("length", "samples", "stop", "protect")
"""What must be one in both experiments; their conditions and prompts may differ in part."""


@dataclass(frozen=True)
class Against:
    """Two runs, `first` and `second`, with the names by which they are told apart.

    `shifts` has, for each metric and condition that both have, what the second run differs by from
    the first. `effects` has, for each condition but the baseline, how much its difference from the
    baseline is another in the second run: 0 where a condition does the same to both models. In
    both, the `baseline` of a comparison is what is subtracted.
    """

    first: Results
    second: Results
    names: tuple[str, str]
    shifts: Sequence[Comparison]
    effects: Sequence[Comparison]

    def shift(self, metric: str, condition: str) -> Comparison | None:
        return _find(self.shifts, metric, condition)

    def effect(self, metric: str, condition: str) -> Comparison | None:
        return _find(self.effects, metric, condition)


def measured(
    store: Store,
    run: RunRecord,
    other_store: Store,
    other: RunRecord,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
    *,
    embedder: str = "lsa",
) -> tuple[Results, Results]:
    """Measure two runs with the same embedder, fitted on the texts of both.

    Raises:
        SettingsError: as `results.results` does.
        StoreError: a store cannot be read.
    """
    texts = [
        [one.text for one in generations(*place)] for place in ((store, run), (other_store, other))
    ]
    first = results(store, run, metrics, baseline, embedder=embedder, also=texts[1])
    second = results(other_store, other, metrics, baseline, embedder=embedder, also=texts[0])
    return first, second


def against(first: Results, second: Results) -> Against:
    """Compare two runs whose experiments have conditions and prompts in common.

    Raises:
        SettingsError: their texts are not to be compared; what differs is named.
    """
    names = _common(first, second)
    labels = _labels(first.run, second.run)
    shifts, effects = [], []
    for metric in [name for name in first.scores if name in second.scores]:
        sign = METRICS[metric].direction.sign
        pairs = {name: _pairs(first, second, metric, name) for name in names}
        shifts += of_pairs(metric, labels[0], pairs, sign, DICE)
        others = [name for name in names if name != first.baseline]
        changes = {name: _changes(first, second, metric, name) for name in others}
        # Whether a larger effect is a better one depends on the effect: no side is taken.
        effects += of_pairs(metric, f"effect on {labels[0]}", changes, 0, DICE)
    return Against(first, second, labels, tuple(shifts), tuple(effects))


def _find(rows: Sequence[Comparison], metric: str, condition: str) -> Comparison | None:
    fitting = (one for one in rows if (one.metric, one.condition) == (metric, condition))
    return next(fitting, None)


def _common(first: Results, second: Results) -> list[str]:
    """Return the names of the conditions that both runs have. Raises `SettingsError`."""
    for name in MUST:
        own, other = (getattr(each.experiment, name) for each in (first, second))
        if own != other:
            raise SettingsError("against", f"a run whose `{name}` is {shown(own)} too", other)
    if first.baseline != second.baseline:
        raise SettingsError("against", f"a run with the baseline {first.baseline}", second.baseline)
    for name, prompt in first.prompts.items():
        other = second.prompts.get(name)
        if other is not None and (other.text, other.system, other.kind) != (
            prompt.text, prompt.system, prompt.kind,
        ):  # fmt: skip
            raise SettingsError("against", "a run with the same prompts", name)
    if not first.prompts.keys() & second.prompts.keys():
        raise SettingsError("against", "a run with the same prompts", second.run.suite["name"])
    samplers = [_samplers(each.experiment) for each in (first, second)]
    names = [name for name, own in samplers[0].items() if samplers[1].get(name) == own]
    if first.baseline not in names:
        bounds = f"a run whose condition {first.baseline} has the same settings"
        raise SettingsError("against", bounds, second.run.name)
    return names


def _samplers(experiment: Experiment) -> Mapping[str, object]:
    return {one.name: effective(one.sampler) for one in experiment.conditions}


def _pairs(first: Results, second: Results, metric: str, condition: str) -> Pairs:
    table = _table(first.scores[metric], second.scores[metric], [condition])
    prompts, values = table
    return Pairs(prompts, values[:, 0], values[:, 1])


def _changes(first: Results, second: Results, metric: str, condition: str) -> Pairs:
    """Return what a condition does in each run: its difference from the baseline, by prompt."""
    wanted = [condition, first.baseline]
    prompts, values = _table(first.scores[metric], second.scores[metric], wanted)
    return Pairs(prompts, values[:, 0] - values[:, 1], values[:, 2] - values[:, 3])


def _table(
    first: Values, second: Values, conditions: Sequence[str]
) -> tuple[tuple[str, ...], np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """Return the prompts that both have in all these conditions, and their values (n, 2 · k): of
    the first run, then of the second."""
    both: dict[Group, float | None] = {}
    for number, values in enumerate((first, second)):
        both |= _renamed(values, conditions, number)
    names = [_name(number, one) for number in (0, 1) for one in conditions]
    return by_prompt(both, names)


def _renamed(
    values: Values, conditions: Sequence[str], number: int
) -> Mapping[Group, float | None]:
    def rows() -> Iterator[tuple[Group, float | None]]:
        for group, value in values.items():
            if group.condition in conditions:
                yield group._replace(condition=_name(number, group.condition)), value

    return dict(rows())


def _name(number: int, condition: str) -> str:
    return f"{number} {condition}"


def _labels(first: RunRecord, second: RunRecord) -> tuple[str, str]:
    """Return two names that tell two runs apart: of their models, and what else differs."""
    models = first.identity, second.identity
    for parts in (("name",), ("name", "dtype"), ("name", "dtype", "revision")):
        labels = [", ".join(filter(None, (getattr(one, p) for p in parts))) for one in models]
        if labels[0] != labels[1]:
            return labels[0], labels[1]
    return f"{models[0].name}, run {first.name}", f"{models[1].name}, run {second.name}"
