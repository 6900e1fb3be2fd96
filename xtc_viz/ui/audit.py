"""One press of "Audit": does the server of the model in use do XTC as it is asked to?"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from xtc_viz.audit.asking import FIRST, MOST, PROMPTS, check_claim, source, verdicts
from xtc_viz.audit.coins import coins
from xtc_viz.audit.observation import Observation
from xtc_viz.audit.verdict import Claim
from xtc_viz.errors import ModelError, SettingsError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.settings import XTCSettings
from xtc_viz.ui import payload
from xtc_viz.ui.access import May
from xtc_viz.ui.audience import Audience
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.service import Service, Waiting, in_turn, waits_for

Message = dict[str, Any]
NOT_YOURS = "Only who may choose the model here may audit its server."


def parse(data: Mapping[str, Any], may: May) -> Claim:
    """Return what the server is to be asked for.

    Raises:
        ModelError: visitors may not load models, so they may not keep a server busy either.
        SettingsError: naming the field.
    """
    if may is May.FIXED:
        raise ModelError(NOT_YOURS)
    return check_claim(*(_number(name, data.get(name)) for name in ("rho", "tau")))


async def messages(
    service: Service,
    data: Mapping[str, Any],
    visitor: str,
    stop: threading.Event,
    audience: Audience | None,
    may: May,
) -> AsyncGenerator[Message, None]:
    """Audit the server in the model's turn and yield messages, all but the name of the request in
    them. `found` is what is known so far, or `said` what there is to say of its dice, if asked; the
    last message says how it ended.

    Raises:
        XTCVizError: what is wrong with the request, a model that is in no server, one that fails.
    """
    audit = Audit(parse(data, may), most(service.limits))
    work = audit.dice if data.get("dice") is True else audit.work
    yield {"state": "starting"}
    async with aclosing(in_turn(service, work, visitor, stop, audience)) as every:
        async for event in every:
            if isinstance(event, Waiting):
                yield {"state": "waiting", "place": event.place, "note": waits_for(event.state)}
            else:
                yield {"state": "running", **event}
    yield {"state": "stopped" if stop.is_set() else "done"}


def most(limits: Limits) -> int:
    """Return how many tokens are looked at: for the public no more than a spread takes."""
    return max(FIRST, min(MOST, limits.max_spread or MOST))


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit of at most so many tokens."""

    claim: Claim
    most: int

    def work(
        self, model: LanguageModel, over: Callable[[], bool]
    ) -> Generator[Message, None, None]:
        """Yield what is found so far, until it is known or nobody wants more."""
        served = _served(model)
        ask = source(served, self.claim)

        def more(temperature: float) -> Sequence[Observation]:
            return () if over() else ask(temperature)

        for verdict in verdicts(more, self.claim, frozenset(model.info.eos_ids), self.most):
            yield {"found": verdict.to_dict()}

    def dice(
        self, model: LanguageModel, over: Callable[[], bool]
    ) -> Generator[Message, None, None]:
        """Yield what llama.cpp's coins and draws have in common."""
        xtc = XTCSettings(self.claim.rho, self.claim.tau)
        found = coins(_served(model), xtc, PROMPTS, over)
        rows = [payload.dice_row(*pair, model.token_text) for pair in found.first]
        yield {"said": found.sentence, "rows": rows if found.known else []}


def _served(model: LanguageModel) -> RemoteModel:
    if not isinstance(model, RemoteModel):
        raise ModelError(f"{model.info.name} runs in no server: there is nothing to audit.")
    return model


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SettingsError(name, "a number", value)
    return float(value)
