"""Results made by hand: scores and mechanisms as they are wanted, without a store or a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xtc_viz.lab.comparison import compare, levels
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.generation import Group
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.mechanism import QUANTITIES, Floats, by_label, by_position, pooled
from xtc_viz.lab.results import Observed, Results
from xtc_viz.lab.store import RunRecord
from xtc_viz.lab.suite import Kind, Openness, Prompt, Suite
from xtc_viz.settings import LaneSettings

Score = Callable[[int, int, int], float | None]
"""The value of a metric for a condition's number, a prompt's number, and a seed."""


def suite(prompts: int = 6, genres: int = 3) -> Suite:
    """Return prompts in pairs of a genre, open and narrow in turn."""
    openness = (Openness.OPEN, Openness.NARROW)
    own = (
        Prompt(f"p{i:03}", f"genre {i // 2 % genres}", Kind.CONTINUE, "Once", openness[i % 2])
        for i in range(prompts)
    )
    return Suite("made", tuple(own))


def made(
    conditions: Sequence[LaneSettings],
    score: Score,
    *,
    prompts: int = 6,
    metrics: Sequence[str] = ("distinct_2", "repeated_trigrams"),
    baseline: str = "",
    only: Sequence[str] | None = None,
    observed: Mapping[str, Observed] | None = None,
    embedder: str = "",
) -> Results:
    """Return results whose every metric has these scores; `only` names the conditions that have
    any."""
    experiment = Experiment("made", "made", tuple(conditions), samples=2)
    own = suite(prompts)
    identity = Identity("a model", "", "", "float32", 1000, 100)
    run = RunRecord("f00d", experiment.to_dict(), own.to_dict(), identity, 1, 0.0)
    base = baseline or conditions[0].name
    scores = {
        metric: {
            Group(prompt.id, condition.name, seed): score(i, j, seed)
            for i, condition in enumerate(conditions)
            if only is None or condition.name in only
            for j, prompt in enumerate(own.prompts)
            for seed in experiment.seeds
        }
        for metric in metrics
    }
    return Results(
        run=run,
        experiment=experiment,
        baseline=base,
        whole=tuple(prompt.id for prompt in own.prompts),
        scores=scores,
        means={name: levels(values, 0) for name, values in scores.items()},
        comparisons=compare(scores, base, 0),
        observed=observed or {},
        embedder=embedder,
    )


def watched(conditions: Sequence[LaneSettings], own: Suite, steps: int = 20) -> dict[str, Observed]:
    """Return random mechanisms: XTC fires the more, the larger its ρ."""
    rng = np.random.default_rng(1)
    found = {}
    for condition in conditions:
        tables: list[tuple[Prompt, Floats]] = []
        for prompt in own.prompts:
            table = rng.random((steps, len(QUANTITIES)))
            names = [quantity.name for quantity in QUANTITIES]
            fires = rng.random(steps) < condition.sampler.xtc.rho * rng.random()
            table[:, names.index("activation")] = fires
            table[:, names.index("removed_mass")] *= fires
            table[~fires, names.index("removed_mass_fired")] = np.nan
            tables.append((prompt, table))
        every = [table for _, table in tables]
        found[condition.name] = Observed(
            whole=pooled(every),
            by_position=by_position(every),
            by_genre=by_label((prompt.genre, table) for prompt, table in tables),
            by_openness=by_label((str(prompt.openness), table) for prompt, table in tables),
            by_prompt=by_label((prompt.id, table) for prompt, table in tables),
        )
    return found
