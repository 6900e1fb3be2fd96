"""What each engine leaves of a step, and along a lane, as the page draws it.

Engines that leave the same stand together, that of the lane first. Of all candidates only so many
are sent as a strip of bars has room for: the most probable, and those that engines disagree about.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xtc_viz.engines.along import Along, Differences, along
from xtc_viz.engines.chain import Both, at_step, of_numbers
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import Answer, Left, Question
from xtc_viz.engines.reasons import called
from xtc_viz.errors import SettingsError
from xtc_viz.parts import Part
from xtc_viz.records.step import Step
from xtc_viz.records.trace import LaneTrace
from xtc_viz.settings import SamplerSettings, XTCSettings
from xtc_viz.ui import payload
from xtc_viz.ui.dialects import CAUSES, LABELS
from xtc_viz.ui.payload import TokenText, rounded

SAME = 1e-5  # probabilities closer than this are the same: the records are float32
SHOWN = 9  # tokens of a strip
FIRST = 5  # of these, the most probable; the others are the least probable that matter
MOST_NUMBERS = 64

Json = dict[str, Any]


def of_step(
    step: Step,
    sampler: SamplerSettings,
    context: Sequence[int],
    top_candidates: int,
    token_text: TokenText,
) -> Json:
    """Return what all engines leave of a recorded step; the arguments are those of `at_step`."""
    both = at_step(step, sampler, context, top_candidates)
    return _both(both, sampler.xtc, (step.token,), token_text)


def stages_of_step(
    step: Step,
    sampler: SamplerSettings,
    context: Sequence[int],
    top_candidates: int,
    engine: object,
    token_text: TokenText,
) -> Json:
    """Return one engine's chain stage by stage, as if XTC fired, for the view of stages."""
    if not isinstance(engine, str) or engine not in ENGINES:
        raise SettingsError("engine", f"one of {', '.join(ENGINES)}", engine)
    one = {engine: ENGINES[engine]}
    chain = at_step(step, sampler, context, top_candidates, one).chain
    left = chain.answers[0].fired
    order = sampler.order if engine == chain.chosen else ENGINES[engine].order
    dialect = ENGINES[engine].dialect
    theirs = replace(sampler, order=order, xtc=replace(sampler.xtc, dialect=dialect))
    keep = _shown(chain, [left])
    ids = [chain.ids[i] for i in keep]
    return {
        "ids": ids,
        "texts": {v: token_text(v) for v in ids},
        "token": step.token,
        "eligible": list(left.eligible),
        "removed": list(left.removed),
        "stages": payload.stages_of(left.stages, keep, theirs),
    }


def of_lane(lane: LaneTrace, xtc: XTCSettings | None, top_candidates: int) -> Json:
    """Return at how many steps of a lane each engine decides otherwise than the lane's own, or
    than `xtc` would have."""
    sampler = replace(lane.settings.sampler, xtc=xtc) if xtc else lane.settings.sampler
    every = along(lane.steps, sampler, top_candidates).values()
    return {
        "chosen": sampler.xtc.dialect.name,
        "steps": len(lane.steps),
        "engines": [_along(one) for one in every],
    }


def _along(one: Along) -> Json:
    return {
        "engine": one.engine,
        "exact": one.exact,
        "own": _differences(one.own),
        "fired": _differences(one.fired),
    }


def _differences(found: Differences) -> Json:
    causes = [[CAUSES.get(cause, cause), count] for cause, count in found.causes.items()]
    return {"steps": list(found.steps), "causes": causes}


def of_typed(data: object) -> Json:
    """Return what all engines leave of numbers that somebody typed in; token i is the i-th.

    Raises:
        SettingsError: naming the value that cannot be.
    """
    if not isinstance(data, Mapping):
        raise SettingsError("numbers", "an object with named values", data)
    given = dict(data)
    values, logits = given.pop("values", None), given.pop("logits", False)
    sampler = SamplerSettings.from_dict(given.pop("sampler", {}))
    if given:
        raise SettingsError(next(iter(given)), "one of values, logits, sampler", data)
    probs = _probabilities(values, logits)
    answer = _both(of_numbers(probs, sampler, 0.0), sampler.xtc, (), str)
    return {**answer, "given": [rounded(p) for p in probs]}


def _probabilities(values: object, logits: object) -> list[float]:
    """Return numbers as probabilities: logits by a softmax, weights of more than 1 scaled to 1."""
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_NUMBERS:
        raise SettingsError("values", f"a list of 1 to {MOST_NUMBERS} numbers", values)
    for value in values:
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not plain or not abs(value) <= 1e6 or (value < 0 and not logits):
            bounds = "a number" if logits else "a number >= 0"
            raise SettingsError("values", f"{bounds}, at most 1,000,000, each", value)
    if logits:
        top = max(values)
        values = [math.exp(value - top) for value in values]
    total = math.fsum(values)
    if total == 0.0:
        raise SettingsError("values", "numbers of which one is above 0", values)
    return [value / total for value in values] if logits or total > 1.0 else values


def _both(both: Both, xtc: XTCSettings, marked: Sequence[int], token_text: TokenText) -> Json:
    answer: Json = {"chosen": both.rule.chosen}
    tokens: set[int] = set()
    for name, question in (("rule", both.rule), ("chain", both.chain)):
        answer[name] = {}
        for which in ("own", "fired"):
            strips = _strips(question, which, marked)
            answer[name][which] = strips
            tokens.update(strips["ids"])
            for group in strips["groups"]:
                said = (part for reason in group["reasons"] for part in reason)
                tokens.update(part for part in said if isinstance(part, int))
    texts = {token: token_text(token) for token in tokens}
    return answer | {"texts": texts, "guarded": sorted(tokens & xtc.protected)}


def _strips(question: Question, which: str, marked: Sequence[int]) -> Json:
    """Return the engines in groups that leave the same, and the candidates to show of them."""
    groups: list[list[tuple[Answer, Left]]] = []
    answers = sorted(question.answers, key=lambda answer: answer.engine != question.chosen)
    for answer in answers:
        left: Left = getattr(answer, which)
        alike = next((group for group in groups if _alike(group[0][1], left)), None)
        if alike is None:
            groups.append([(answer, left)])
        else:
            alike.append((answer, left))
    keep = _shown(question, [group[0][1] for group in groups], marked)
    probs = [question.probs[i] for i in keep]
    return {
        "ids": [question.ids[i] for i in keep],
        "probs": [rounded(p) for p in probs],
        "rest": _rest(probs),
        "groups": [_group(group, question, keep) for group in groups],
    }


def _rest(probs: Sequence[float]) -> float:
    """Return what the candidates that are shown leave of 1, if it is more than rounding."""
    rest = 1.0 - math.fsum(probs)
    return rounded(rest) if rest > SAME else 0.0


def _alike(one: Left, other: Left) -> bool:
    """Whether two engines leave the same, whatever they call it."""
    pairs = zip((*one.probs, one.rest), (*other.probs, other.rest), strict=True)
    gone = set(one.removed) == set(other.removed)
    return gone and all(abs(p - q) < SAME for p, q in pairs)


def _shown(question: Question, lefts: Sequence[Left], marked: Sequence[int] = ()) -> list[int]:
    """Return the places of the candidates to show, in falling order."""
    order = sorted(range(len(question.ids)), key=lambda i: (-question.probs[i], question.ids[i]))
    matter = set(marked)
    for left in lefts:
        matter.update(left.removed, left.underdogs)
    first = [i for i in order if question.probs[i] > 0.0]
    needed = [i for i in first if question.ids[i] in matter]
    if len(needed) > SHOWN:
        return [*needed[:FIRST], *needed[FIRST - SHOWN :]]
    others = [i for i in first if i not in needed][: SHOWN - len(needed)]
    return [i for i in first if i in needed or i in others]


def _group(group: Sequence[tuple[Answer, Left]], question: Question, keep: Sequence[int]) -> Json:
    left = group[0][1]
    probs = [left.probs[i] for i in keep]
    shown = {question.ids[i] for i in keep}
    return {
        "engines": [answer.engine for answer, _ in group],
        "effect": str(left.effect),
        "count": len(left.removed),
        "eligible": [v for v in left.eligible if v in shown],
        "removed": [v for v in left.removed if v in shown],
        "probs": [rounded(p) for p in probs],
        "rest": _rest(probs),
        "reasons": _reasons(group),
        "bound": any(bool(answer.bound) for answer, _ in group),
    }


def _reasons(group: Iterable[tuple[Answer, Left]]) -> list[list[Part]]:
    """Return why the engines of a group leave something else, one sentence for those alike."""
    alike: dict[tuple[Part, ...], list[tuple[str, Left]]] = {}
    for answer, left in group:
        if left.reasons:
            words = (part for reason in left.reasons for part in reason.words)
            key = tuple(_unnamed(part, answer.engine) for part in words)
            alike.setdefault(key, []).append((answer.engine, left))
    return [_said(engines) for engines in alike.values()]


def _unnamed(part: Part, engine: str) -> Part:
    return part.replace(called(engine), "") if isinstance(part, str) else part


def _said(engines: Sequence[tuple[str, Left]]) -> list[Part]:
    (_, left), *others = engines
    parts: list[Part] = []
    for number, reason in enumerate(left.reasons):
        parts += [*("; " for _ in range(min(number, 1))), *reason.words]
    parts.append(".")
    if others:
        *most, last = (LABELS.get(engine, engine) for engine, _ in others)
        names = f"{', '.join(most)} and {last}" if most else last
        parts.append(f" The same holds for {names}.")
    if isinstance(parts[0], str) and parts[0].startswith("the "):
        parts[0] = "T" + parts[0][1:]
    return parts
