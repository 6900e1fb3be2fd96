"""The lanes of a run that the model's server draws by itself: each is one request, streamed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from time import perf_counter

from xtc_viz.decode import Column
from xtc_viz.errors import SettingsError, Words
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.prompts import check_prompts
from xtc_viz.models.remote.kinds.llamacpp import LlamaCpp
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.records.step import Step
from xtc_viz.records.trace import FinishReason
from xtc_viz.rowtext import RowText
from xtc_viz.runs.chain import Chain, chains_of
from xtc_viz.runs.explained import Explainer
from xtc_viz.settings import RunSettings

Written = Generator[tuple[Step, FinishReason | None], None, None]


def drawn_lanes(
    model: LanguageModel, prompt_ids: Sequence[int], settings: RunSettings
) -> Generator[Column, None, None]:
    """Let the server write all lanes, as many at once as it does, one column a step.

    A lane whose turn has not come has no step in a column. Closing the generator at any step stops
    the server.

    Raises:
        PromptError: the prompt is empty or leaves no room in the context.
        ServerError: it gives no answer, none that can be used, or ends in the middle of a text.
        SettingsError: the model is in no server that can do this, or a lane is none for it.
    """
    served, server = own_server(model)
    check_prompts([prompt_ids], model.info)
    chains = chains_of(settings)
    begin = perf_counter()
    position, going, waiting = 0, dict[int, Written](), list(range(len(chains)))
    with ExitStack() as stack:
        while waiting or going:
            while waiting and len(going) < server.slots:
                lane = waiting.pop(0)
                text = _written(served, server, prompt_ids, settings, chains[lane])
                going[lane] = stack.enter_context(closing(text))
            steps: list[Step | None] = [None] * len(chains)
            finishes: list[FinishReason | None] = [None] * len(chains)
            for lane, text in list(going.items()):
                steps[lane], finishes[lane] = next(text)
                if finishes[lane]:
                    going.pop(lane).close()
            yield Column(position, tuple(steps), tuple(finishes), perf_counter() - begin)
            position += 1


def own_server(model: LanguageModel) -> tuple[RemoteModel, LlamaCpp]:
    """Return the model and its server, which draws by itself with dice that are known here.

    Raises:
        ServerError: it has left, or runs another model by now.
        SettingsError: there is no such server.
    """
    if not isinstance(model, RemoteModel) or not isinstance(model.server, LlamaCpp):
        bounds = "false for a model that is in no server of llama.cpp"
        raise SettingsError("server_draws", bounds, Words("true"))
    model.check_same()
    return model, model.server


def _written(
    model: RemoteModel,
    server: LlamaCpp,
    prompt_ids: Sequence[int],
    settings: RunSettings,
    chain: Chain,
) -> Written:
    """Yield the steps of one text, each with why the text ends there, if it does."""
    text = RowText(model, prompt_ids, settings.max_new_tokens, settings.stop)
    explainer = Explainer(chain, settings.top_candidates)
    count = min(chain.top_k, model.info.vocab_size)
    with closing(server.stream(prompt_ids, text.room, count, chain.request())) as tokens:
        for drawn in tokens:
            step = explainer.explain(drawn).step
            words, finish = text.add(step.token)
            yield replace(step, text=words), finish
            if finish:
                return
    raise model.wire.error("ended a text before its end")
