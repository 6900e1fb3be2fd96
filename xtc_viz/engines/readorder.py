"""The order of stages that a text in a program's form asks for."""

from __future__ import annotations

from typing import NamedTuple

from xtc_viz.engines.forms.base import Form, OrderField, Raw
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.values import yes
from xtc_viz.errors import shown
from xtc_viz.settings import ORDER, TEMPERATURE

DYNAMIC = "dynamic_temperature"


class OrderRead(NamedTuple):
    """An order of stages. Stages in `out` are not in the program's list, named `name`, and so never
    act there; `problems` are sentences about what was not understood."""

    order: tuple[str, ...]
    name: str = ""
    out: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_order(form: Form, raw: Raw, *, dynamic: bool) -> OrderRead:
    """Read the order; without a word about it, it is the engine's own.

    `dynamic` says whether the temperature follows the entropy, for which some have another word.
    """
    engine = ENGINES.get(form.engine)
    read = OrderRead(engine.order if engine else ORDER)
    one = next((one for one in form.orders if raw.get(one.name) is not None), None)
    if one:
        read = _listed(one, raw[one.name], read.order, dynamic)
    if form.temperature_last and yes(raw.get(form.temperature_last)):
        read = read._replace(order=temperature_last(read.order, form))
    return read


def temperature_last(order: tuple[str, ...], form: Form) -> tuple[str, ...]:
    """Return an order with temperature behind all but what is last in any case."""
    others = [stage for stage in order if stage != TEMPERATURE]
    before = [stage for stage in others if stage not in form.behind_last]
    return (*before, TEMPERATURE, *(stage for stage in others if stage in form.behind_last))


def _listed(one: OrderField, value: object, usual: tuple[str, ...], dynamic: bool) -> OrderRead:
    """Return the order that a list names; what has no word there keeps its place before or behind
    all that have."""
    if isinstance(value, str):
        value = [word.strip() for word in value.replace("\n", ";").replace(",", ";").split(";")]
    if not isinstance(value, list) or len(value) > 100:
        return OrderRead(usual, problems=(f"`{one.name}` is no list of stages.",))
    stages: list[str] = []
    problems: list[str] = []
    for word in value:
        known = one.also.get(str(word), word) if isinstance(word, (str, int)) else None
        if known is None or known not in one.words:
            if word != "":
                problems.append(f"`{one.name}` names {shown(word)}, which is not known here.")
            continue
        # Where temperature has two words, one for each kind, only its own counts.
        twice = DYNAMIC in one.words and TEMPERATURE in one.words[known]
        if twice and (known == DYNAMIC) != dynamic:
            continue
        stages += [stage for stage in one.words[known] if stage not in stages]
    missing = [stage for stage in usual if stage in one.stages and stage not in stages]
    if one.whole:
        stages, missing = stages + missing, []
    order = _with_fixed(stages, usual, one.stages)
    return OrderRead(order, one.name, tuple(missing), tuple(problems))


def _with_fixed(stages: list[str], usual: tuple[str, ...], free: frozenset[str]) -> tuple[str, ...]:
    """Return an order of free stages with those that have a fixed place around it."""
    first = min((i for i, stage in enumerate(usual) if stage in free), default=0)
    fixed = [(i, stage) for i, stage in enumerate(usual) if stage not in free]
    before = [stage for i, stage in fixed if i < first]
    after = [stage for i, stage in fixed if i > first]
    return (*before, *stages, *after)
