"""A run as plain values: what was decided at every step of every lane.

Everything a view needs is here or follows from here (`stages`, `whatif`); nothing here needs the
model. The file format is in `tracefile`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from xtc_viz.sampling.rule import Outcome
from xtc_viz.settings import LaneSettings, RunSettings


class FinishReason(StrEnum):
    """Why a lane ended."""

    EOS = "eos"
    STOP = "stop"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a page or a trace says about a model.

    `eos_ids` are all the tokens that end a text; `newline_ids` those whose text holds a newline.
    `vocab_size` is the width of the logits, `context_length` the most positions (prompt and new
    tokens together). `has_thinking_switch` says that the chat template can leave the thought out.
    """

    name: str
    revision: str
    dtype: str
    device: str
    parameters: int
    vocab_size: int
    context_length: int
    eos_ids: tuple[int, ...]
    newline_ids: tuple[int, ...]
    has_chat_template: bool
    has_thinking_switch: bool = False


class Candidate(NamedTuple):
    """One token of a step's distribution: p before XTC, as XTC received it."""

    token: int
    p: float


@dataclass(frozen=True, slots=True)
class Step:
    """One decoded position of one lane. Probabilities are float32 values, entropy is in nats.

    `ids` and `probs` are the K most probable tokens of the distribution that XTC received, in
    falling order (equal ones by rising id), and after them the drawn and the counterfactual token
    where they lie outside; the first `eligible` of them clear τ. With `eligible` at most K this
    is all that XTC looked at.

    `text` is the text that became certain with this token: the texts of a lane add up to it.
    `counterfactual` is what the same noise draws without XTC. `p` and `q` are the drawn token's
    probabilities before XTC and at the end of the stack, `rank` its 1-based place in p.
    `log_z_raw` is the logsumexp of the model's own logits and `log_z` that after penalties and
    temperature. `kept` is the mass that is left after each truncation stage that is on, in order;
    `cut_ids`, `cut_probs` are the most probable tokens that they dropped, with their p before
    truncation, and `cut_by` says by which of those stages. `log_z_final` is the log of Σ p^(1/T)
    over what XTC left, where temperature comes after XTC; else log(1 - removed mass). `forced`
    says that a person chose the token, not the dice.
    """

    token: int
    text: str
    counterfactual: int
    outcome: Outcome
    coin: float
    eligible: int
    removed: tuple[int, ...]
    removed_mass: float
    removable_mass: float
    entropy: float
    p: float
    q: float
    rank: int
    log_z_raw: float
    log_z: float
    log_z_final: float
    ids: array[int] = field(repr=False)
    probs: array[float] = field(repr=False)
    kept: tuple[float, ...] = ()
    cut_ids: array[int] = field(repr=False, default_factory=lambda: array("i"))
    cut_probs: array[float] = field(repr=False, default_factory=lambda: array("f"))
    cut_by: array[int] = field(repr=False, default_factory=lambda: array("b"))
    forced: bool = False

    @property
    def fired(self) -> bool:
        return self.outcome is Outcome.FIRED

    @property
    def changed(self) -> bool:
        """XTC fired and the same random numbers would have drawn another token without it."""
        return self.fired and not self.forced and self.token != self.counterfactual

    @property
    def kept_mass(self) -> float:
        """The mass of what truncation kept, 1 without truncation."""
        return self.kept[-1] if self.kept else 1.0

    @property
    def underdog(self) -> int | None:
        """The least probable eligible token, ties to the lowest id."""
        if not self.eligible:
            return None
        least = self.probs[self.eligible - 1]
        return min(self.ids[i] for i in range(self.eligible) if self.probs[i] == least)

    @property
    def tail_mass(self) -> float:
        """The mass of all tokens that are not recorded, so that the bars add up to 1."""
        return max(0.0, 1.0 - sum(self.probs))

    def candidates(self) -> Iterator[Candidate]:
        """The recorded tokens, most probable first."""
        return map(Candidate._make, zip(self.ids, self.probs, strict=True))


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a lane came from: its first `position` steps are those of lane `lane`, and at the
    next one a person chose the token."""

    lane: int
    position: int


@dataclass(frozen=True, slots=True)
class LaneTrace:
    """One lane of a run, its steps as a tuple or packed (`steps.Steps`).

    `finish` is None while the lane is being written or when it was stopped.
    """

    settings: LaneSettings
    steps: Sequence[Step] = ()
    finish: FinishReason | None = None
    branch: Branch | None = None

    @property
    def text(self) -> str:
        return "".join(step.text for step in self.steps)


@dataclass(frozen=True, slots=True)
class Trace:
    """A run: model, prompt, settings, and its lanes of steps.

    `vocabulary` holds the text of every token id that occurs anywhere in the trace, the prompt's
    own included. `seconds` is the time the decoding took.
    """

    model: ModelInfo
    prompt: str
    prompt_ids: tuple[int, ...]
    settings: RunSettings
    lanes: tuple[LaneTrace, ...]
    vocabulary: dict[int, str] = field(repr=False)
    system: str = ""
    chat: bool = False
    seconds: float = 0.0


def token_ids(steps: Iterable[Step]) -> set[int]:
    """Return every token id that these steps name: what a trace's vocabulary has to hold."""
    ids: set[int] = set()
    for step in steps:
        ids.update(step.ids, step.cut_ids)
    return ids
