"""Texts side by side: a few prompts, what each condition wrote, and where it first differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xtc_viz.lab.reading import Filter, cells_of, entries
from xtc_viz.lab.results import Results
from xtc_viz.lab.store import Entry, RunRecord, Store
from xtc_viz.lab.suite import Prompt

PROMPTS = 6


@dataclass(frozen=True, slots=True)
class Written:
    """A text in three parts: what it has in common with the baseline's, its first word that is
    another one, and the rest; `same` and `first` are empty in the baseline's own.

    `cell` is its name in the store, `finish` why it ended.
    """

    condition: str
    cell: str
    same: str
    first: str
    rest: str
    finish: str

    @property
    def text(self) -> str:
        return self.same + self.first + self.rest


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What the conditions wrote on a prompt with the same dice: the baseline first, then those with
    XTC, then the others."""

    prompt: Prompt
    seed: int
    sample: int
    texts: tuple[Written, ...]


def side_by_side(
    store: Store, run: RunRecord, results: Results, most: int = PROMPTS
) -> tuple[SideBySide, ...]:
    """Return the first sample of a few prompts, each of another genre, spread over all of them."""
    chosen = spread(_one_of_each_genre([results.prompts[name] for name in results.whole]), most)
    seed = results.experiment.seeds[0]
    wanted = Filter(prompts=[prompt.id for prompt in chosen], seeds=(seed,), samples=(0,))
    texts: dict[str, dict[str, Entry]] = {}
    for cell, entry in entries(store, cells_of(run, wanted)):
        texts.setdefault(cell.prompt.id, {})[cell.condition.name] = entry
    with_xtc = {name for name, one in results.conditions.items() if one.sampler.xtc.rho}
    rows = []
    for prompt in chosen:
        own = texts.get(prompt.id, {})
        base = own.pop(results.baseline, None)
        if base is not None:
            first = Written(results.baseline, base.name, "", "", base.text, base.finish)
            others = (
                Written(name, entry.name, *divided(base.text, entry.text), entry.finish)
                for name, entry in sorted(own.items(), key=lambda one: one[0] not in with_xtc)
            )
            rows.append(SideBySide(prompt, seed, 0, (first, *others)))
    return tuple(rows)


def divided(base: str, text: str) -> tuple[str, str, str]:
    """Return what a text has in common with `base`, its first word that differs, and the rest.

    The common part ends where a word begins. A text that is the same has no word that differs, nor
    has one that is a beginning of `base`.
    """
    pairs = zip(base, text, strict=False)
    shorter = min(len(base), len(text))
    n = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    if n == len(text):
        return text, "", ""
    start = n
    while start and not text[start - 1].isspace() and not text[start].isspace():
        start -= 1
    end = max(start, n) + 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[:start], text[start:end], text[end:]


def spread(prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    """Return at most so many, evenly spread."""
    if len(prompts) <= most:
        return list(prompts)
    return [prompts[i * len(prompts) // most] for i in range(most)]


def _one_of_each_genre(prompts: Sequence[Prompt]) -> list[Prompt]:
    found: dict[str, Prompt] = {}
    for prompt in prompts:
        found.setdefault(prompt.genre, prompt)
    return list(found.values())
