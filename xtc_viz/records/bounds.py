"""How much a trace may hold, so that all that is ever made of it is bounded too.

A small file may name a long text a thousand times. What counts is therefore what a trace comes to
when each token is replaced by its text. No run that this program writes reaches these bounds, but
one with a tokenizer of such texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xtc_viz.errors import TraceError

if TYPE_CHECKING:
    from xtc_viz.records.trace import Trace

LANES = 64
STEPS = 100_000  # of all lanes together: four times the longest run of the page
CANDIDATES = 2_000  # of a step: twice as many as can be asked for
TOKEN = 10_000  # characters of one token's text
TEXT = 8_000_000  # characters of a prompt, and of all texts of one kind together
NAME = 4_096  # characters of a model's name, which may be a path
LABEL = 1_000  # characters of a lane's name, which stands in every row of a table
STOPS = 1_000
PROMPT = 1_000_000  # tokens
TOKENS = 2_000_000  # in a list of tokens, or in a vocabulary
UNKNOWN = 64  # columns of a newer program,
VALUES = 1_000_000  # and values in them, those within lists and objects counted


def hold_lanes(lengths: Sequence[int]) -> None:
    """Raise `TraceError` for too many lanes, or too many steps in them; see `hold`."""
    _at_most("lanes", len(lengths), LANES)
    _at_most("steps in all its lanes", sum(lengths), STEPS)


def hold(trace: Trace) -> None:
    """Raise `TraceError`, naming what there is too much of."""
    model = trace.model
    place = model.placement
    hold_lanes([len(lane.steps) for lane in trace.lanes])
    _at_most("texts to stop at", len(trace.settings.stop), STOPS)
    _hold_texts("its texts to stop at", trace.settings.stop)
    for number, lane in enumerate(trace.lanes, 1):
        own = lane.settings
        _at_most(f"characters in the name of lane {number}", len(own.name), LABEL)
        for kinds in (own.sampler.xtc.protected, own.sampler.dry_breakers):
            _at_most(f"tokens in a list of lane {number}", len(kinds), TOKENS)
    served = model.served
    names = (
        *((place.dtype, place.device) if place else ()),
        *((served.kind, served.version) if served else ()),
    )
    for text in (model.name, model.revision, *names):
        _at_most("characters in a name of its model", len(text), NAME)
    for ids in (model.eos_ids, model.newline_ids):
        _at_most("tokens in a list of its model", len(ids), TOKENS)
    for what, text in (("prompt", trace.prompt), ("system message", trace.system)):
        _at_most(f"characters in its {what}", len(text), TEXT)
    _at_most("tokens in its prompt", len(trace.prompt_ids), PROMPT)
    _at_most("texts in its vocabulary", len(trace.vocabulary), TOKENS)
    _hold_texts("its vocabulary", trace.vocabulary.values())
    _hold_texts("its prompt's tokens", _texts(trace.prompt_ids, trace.vocabulary))
    for number, lane in enumerate(trace.lanes, 1):
        _at_most(f"unknown columns in lane {number}", len(lane.unknown), UNKNOWN)
    written = removed = 0
    for number, lane in enumerate(trace.lanes, 1):
        for position, step in enumerate(lane.steps, 1):
            where = f"lane {number}, step {position}"
            rows = (step.ids, step.cut_ids, step.removed, step.kept, step.log_zs)
            _at_most(f"candidates in {where}", max(map(len, rows)), CANDIDATES)
            _at_most(f"characters in one text of {where}", len(step.text), TOKEN)
            written += len(step.text)
            # What a table writes out, by its texts.
            tokens = (*step.removed, step.counterfactual)
            removed += sum(map(len, _texts(tokens, trace.vocabulary)))
    _at_most("characters in the texts of its steps", written, TEXT)
    _at_most("characters in the texts of the tokens removed in its steps", removed, TEXT)
    hold_values(column for lane in trace.lanes for column in lane.unknown.values())


def hold_values(data: Iterable[object]) -> None:
    """Raise `TraceError` for JSON of more than `VALUES` values."""
    left: list[Any] = [*data]
    count = len(left)
    while left:
        value = left.pop()
        if isinstance(value, str):
            count += len(value) // 8
        elif isinstance(value, (list, tuple, dict)):
            count += len(value)
            left.extend(value.values() if isinstance(value, dict) else value)
        _at_most("values in its unknown columns", count, VALUES)


def _texts(ids: Iterable[int], vocabulary: Mapping[int, str]) -> Iterable[str]:
    return (vocabulary.get(token, "") for token in ids)


def _hold_texts(where: str, texts: Iterable[str]) -> None:
    total = 0
    for text in texts:
        length = len(text)
        if length > TOKEN:
            _at_most(f"characters in one text of {where}", length, TOKEN)
        total += length
    _at_most(f"characters in the texts of {where}", total, TEXT)


def _at_most(what: str, count: int, most: int) -> None:
    if count > most:
        raise TraceError(f"A trace has at most {most:,} {what}; this one has {count:,}.")
