"""What every trace promises, checked: a view may then rely on it, wherever the trace came from."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from operator import ge

from xtc_viz.errors import TraceError
from xtc_viz.records import bounds
from xtc_viz.records.step import Step
from xtc_viz.records.trace import LaneTrace, Trace
from xtc_viz.sampling.dialect import PAPER
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.rule import Outcome

_ROUNDING = 1e-3
"""How far a sum of float32 probabilities may lie above 1."""
_MOST = 2**31 - 1

_UNIT = ("p", "q")
_MASSES = ("removed_mass", "removable_mass")
_FINITE = ("log_z_raw", "log_z", "log_z_final")


def check(trace: Trace) -> None:
    """Raise `TraceError`, naming lane and step (counted from 1), where `trace` is inconsistent."""
    bounds.hold(trace)
    size = trace.model.vocab_size
    if not 1 <= size <= _MOST:
        raise TraceError(f"The model's `vocab_size` must be in [1, {_MOST}], but is {size}.")
    _in_vocabulary("`vocabulary`", trace.vocabulary, size)
    _in_vocabulary("`eos_ids` of the model", trace.model.eos_ids, size)
    _in_vocabulary("`newline_ids` of the model", trace.model.newline_ids, size)
    _in_vocabulary("`prompt_ids`", trace.prompt_ids, size)
    _have_texts("`prompt_ids`", trace.prompt_ids, trace)
    if not 0.0 <= trace.seconds < float("inf"):
        raise TraceError(f"`seconds` must be a time >= 0, but is {trace.seconds}.")
    if not trace.lanes:
        raise TraceError("A trace has at least one lane, but this one has none.")
    for number, lane in enumerate(trace.lanes):
        _check_branch(f"lane {number + 1}", number, trace.lanes)
        for name, column in lane.unknown.items():
            if len(column) != len(lane.steps):
                raise TraceError(
                    f"lane {number + 1}: column {name!r} has {len(column)} entries, "
                    f"but there are {len(lane.steps)} steps."
                )
        plan = plan_of(lane.settings.sampler)
        cut_once = len(plan.truncation_runs) < 2
        paper = plan.xtc.dialect == PAPER
        for position, step in enumerate(lane.steps, 1):
            if problem := _problem(step, trace.settings.top_candidates, size, cut_once, paper):
                raise TraceError(f"lane {number + 1}, step {position}: {problem}.")
            _have_texts(f"lane {number + 1}, step {position}: `ids`", step.ids, trace)
            _have_texts(f"lane {number + 1}, step {position}: `cut_ids`", step.cut_ids, trace)


def _in_vocabulary(where: str, ids: Sequence[int] | dict[int, str], size: int) -> None:
    for token in ids:
        if not 0 <= token < size:
            raise TraceError(f"{where}: token ids are in [0, {size}), but one is {token}.")


def _have_texts(where: str, ids: Sequence[int], trace: Trace) -> None:
    if not trace.vocabulary.keys() >= set(ids):
        token = next(token for token in ids if token not in trace.vocabulary)
        raise TraceError(f"{where}: token {token} is not in the vocabulary of this trace.")


def _check_branch(where: str, number: int, lanes: Sequence[LaneTrace]) -> None:
    branch = lanes[number].branch
    if branch is None:
        return
    if not 0 <= branch.lane < len(lanes) or branch.lane == number:
        raise TraceError(f"{where}: it branches from lane {branch.lane + 1}, which cannot be.")
    longest = len(lanes[branch.lane].steps)
    if not 0 <= branch.position <= longest:
        raise TraceError(
            f"{where}: it branches at position {branch.position} of a lane of {longest} steps."
        )


def _problem(step: Step, top: int, size: int, cut_once: bool, paper: bool) -> str | None:
    """Say what is wrong with a step, if anything.

    `cut_once` says that all tokens that truncation dropped are of one distribution, `paper` that
    the paper's rule decided.
    """
    falling = len(step.cut_ids) if cut_once else 0
    return (
        _wrong_number(step, size)
        or _wrong_distribution("", step.ids, step.probs, max(top, step.eligible), size)
        or _wrong_distribution("cut_", step.cut_ids, step.cut_probs, falling, size, cut_once)
        or _wrong_decision(step, paper)
        or _wrong_truncation(step)
        or _wrong_final(step)
    )


def _wrong_number(step: Step, size: int) -> str | None:
    for name in _UNIT:
        if not 0.0 <= getattr(step, name) <= 1.0:
            return f"`{name}` must be in [0, 1], but is {getattr(step, name)}"
    for name in _MASSES:
        if not -_ROUNDING <= getattr(step, name) <= 1.0 + _ROUNDING:
            return f"`{name}` must be in [0, 1], but is {getattr(step, name)}"
    for name in _FINITE:
        if not abs(getattr(step, name)) < float("inf"):
            return f"`{name}` must be finite, but is {getattr(step, name)}"
    if not 0.0 <= step.coin < 1.0:
        return f"`coin` must be in [0, 1), but is {step.coin}"
    if not 0.0 <= step.entropy < float("inf"):
        return f"`entropy` must be >= 0, but is {step.entropy}"
    if not 0.0 <= step.temperature < float("inf"):
        return f"`temperature` must be >= 0, but is {step.temperature}"
    if not 1 <= step.rank <= size:
        return f"`rank` must be in [1, {size}], but is {step.rank}"
    return None


def _wrong_distribution(
    prefix: str, ids: array[int], probs: array[float], falling: int, size: int, whole: bool = True
) -> str | None:
    """Check tokens with their probabilities; the first `falling` of them must be sorted.

    `whole` says that they are of one distribution.
    """
    if len(ids) != len(probs):
        return f"it has {len(ids)} `{prefix}ids`, but {len(probs)} `{prefix}probs`"
    if not ids:
        return None
    if not 0 <= min(ids) <= max(ids) < size:
        return f"`{prefix}ids` must be in [0, {size})"
    if len(set(ids)) < len(ids):
        return f"`{prefix}ids` names a token twice"
    if not all(0.0 <= p <= 1.0 for p in probs):
        return f"`{prefix}probs` must be in [0, 1]"
    head = probs[:falling]
    if not all(map(ge, head, islice(head, 1, None))):
        return f"`{prefix}probs` must fall, but some rise"
    if whole and sum(probs) > 1.0 + _ROUNDING:
        return f"`{prefix}probs` add up to {sum(probs):.4g}, which is more than 1"
    return None


def _wrong_decision(step: Step, paper: bool) -> str | None:
    for name in ("token", "counterfactual"):
        if getattr(step, name) not in step.ids:
            return f"`{name}` is {getattr(step, name)}, which is not among the candidates"
    if not 0 <= step.eligible <= len(step.ids):
        return (
            f"`eligible` must be in [0, {len(step.ids)}], the number of recorded candidates, "
            f"but is {step.eligible}"
        )
    if len(set(step.removed)) < len(step.removed):
        return "`removed` names a token twice"
    eligible = set(step.ids[: step.eligible])
    if stranger := [token for token in step.removed if token not in eligible]:
        return f"`removed` holds token {stranger[0]}, which is not eligible"
    if (step.outcome is Outcome.FIRED) != bool(step.removed):
        return f"its outcome is `{step.outcome}`, but {len(step.removed)} tokens are removed"
    # Elsewhere there may be nothing to remove of two: tied ones, or one that is protected.
    unambiguous = step.outcome is Outcome.UNAMBIGUOUS
    if unambiguous != (step.eligible < 2) and (paper or not unambiguous):
        return f"its outcome is `{step.outcome}`, but {step.eligible} tokens are eligible"
    return None


def _wrong_truncation(step: Step) -> str | None:
    if not all(0.0 <= mass <= 1.0 + _ROUNDING for mass in step.kept):
        return "`kept` must be masses in [0, 1]"
    if len(step.cut_by) != len(step.cut_ids):
        return f"it has {len(step.cut_ids)} `cut_ids`, but {len(step.cut_by)} `cut_by`"
    if step.cut_by and not 0 <= min(step.cut_by) <= max(step.cut_by) < len(step.kept):
        return f"`cut_by` must name one of {len(step.kept)} stages that are on"
    return None


def _wrong_final(step: Step) -> str | None:
    if not step.final:
        return None
    if len(step.final) != len(step.ids):
        return f"it has {len(step.ids)} `ids`, but {len(step.final)} `final`"
    if not all(0.0 <= q <= 1.0 + _ROUNDING for q in step.final):
        return "`final` must be in [0, 1]"
    return None
