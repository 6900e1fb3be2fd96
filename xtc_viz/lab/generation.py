"""One generation as it is measured, and the groups in which it is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from xtc_viz.lab.checks import Verdict, judge
from xtc_viz.records.step import Step
from xtc_viz.records.trace import FinishReason
from xtc_viz.runs.reasoning import answer_step


class Group(NamedTuple):
    """What generations share whose difference is chance alone; `samples` differ within it."""

    prompt: str
    condition: str
    seed: int


@dataclass(frozen=True, slots=True)
class Generation:
    """What one cell gave: `prompt` is the prompt's id, `condition` the name of its settings.

    `text` is what was generated, without the prompt; `tokens` its token ids; `finish` why it
    ended, None where it was stopped. `steps` are there where the mechanism is to be measured.
    `kind` and `check` are the prompt's, and say what its answer must be; `judged` are the verdicts
    that were stored, where they are costly to find.
    """

    prompt: str
    condition: str
    seed: int
    sample: int
    text: str
    genre: str = ""
    tokens: tuple[int, ...] = field(default=(), repr=False)
    finish: FinishReason | None = None
    steps: Sequence[Step] = field(default=(), repr=False)
    kind: str = ""
    check: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)
    judged: tuple[Verdict, ...] = ()

    @property
    def group(self) -> Group:
        return Group(self.prompt, self.condition, self.seed)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What the text was to be, and whether it is; nothing where nobody has judged it."""
        return self.judged or judge(self.kind, self.text, self.check)


def groups(generations: Iterable[Generation]) -> dict[Group, tuple[Generation, ...]]:
    """Return the samples of each (prompt, condition, seed), in rising order of `sample`."""
    members: dict[Group, list[Generation]] = {}
    for generation in generations:
        members.setdefault(generation.group, []).append(generation)
    return {
        group: tuple(sorted(samples, key=lambda one: one.sample))
        for group, samples in members.items()
    }


def answer(generation: Generation, *, thinking: bool = False) -> Generation:
    """Return a generation without the thought at its beginning, as the paper measures it.

    `thinking` says that the prompt opened one. It needs the steps, whose texts say where the
    thought ends; a generation without them stays as it is.
    """
    first = answer_step((step.text for step in generation.steps), thinking=thinking)
    if not first:
        return generation
    steps = generation.steps[first:]
    text = "".join(step.text for step in steps)
    return replace(generation, text=text, tokens=generation.tokens[first:], steps=steps)
