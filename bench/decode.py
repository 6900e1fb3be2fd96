"""Two instrumented lanes in one run, one thread.

Our side: baseline and XTC over shared random numbers, the whole stack, the counterfactual, the
full record. The reference: the same two settings one after the other through `model.generate`
with the published, sort-based XTC in float32, recording nothing. On the embedded story model and
on a random Llama of 135M parameters (30 layers, 576 wide, vocabulary 49,152), in two dtypes;
with XTC alone, and with temperature 0.9, top-p 0.95 and min-p 0.02 besides. And what a second
lane costs.

No step is shorter than it takes to read the weights once, which `generate` needs for each of the
two runs: so the 135M model in float32 can be twice as fast and little more. How near a step comes
to that is told as a share of the bandwidth that a sum over as many bytes reaches in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from transformers import PreTrainedModel

from bench.models import (
    dtype_of,
    plain_random_135m,
    plain_story_model,
    random_135m,
    story_model,
)
from bench.references import PublishedXTC
from bench.timing import Result, against, alternating, main, relative
from xtc_viz.decode import decode_lanes
from xtc_viz.models.local.model import LocalModel
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

PROMPT = 32
XTC = XTCSettings(0.5, 0.1)
XTC_ALONE = SamplerSettings()
STACKS = {
    "XTC alone": XTC_ALONE,
    "usual stack": SamplerSettings(temperature=0.9, top_p=0.95, min_p=0.02),
}


def measure() -> list[Result]:
    results = []
    story, plain = story_model(), plain_story_model()
    for name, stack in STACKS.items():
        what = f"decode, story model, {name}: faster than two runs of generate"
        results.append(lanes_against_generate(what, story, plain, stack, (128, 7), at_least=2))
    plain = plain_random_135m()
    for dtype, stacks, limit in (
        (torch.float32, STACKS, 2.0),
        (torch.bfloat16, {"XTC alone": XTC_ALONE}, 2.5),
    ):
        model = random_135m(dtype)
        for name, stack in stacks.items():
            what = f"decode, 135M {dtype_of(model.model)}, {name}: faster than two runs of generate"
            results.append(lanes_against_generate(what, model, plain, stack, (32, 3), limit))
        results.append(second_lane(model))
    return [*results, same_eligible(torch.bfloat16)]


def prompt_ids(model: LocalModel) -> list[int]:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(300, model.info.vocab_size, (PROMPT,), generator=generator).tolist()


def run(model: LocalModel, lanes: list[SamplerSettings], tokens: int) -> None:
    """Decode these lanes side by side, and record everything."""
    settings = RunSettings(
        lanes=tuple(LaneSettings(str(i), lane) for i, lane in enumerate(lanes)),
        max_new_tokens=tokens,
    )
    prompt = prompt_ids(model)
    recorder = Recorder(blank_trace(model, "", prompt, settings))
    for column in decode_lanes(model, prompt, settings):
        recorder.add(column, model.token_text)
    assert all(len(lane.steps) == tokens for lane in recorder.trace().lanes)


def generate(
    model: PreTrainedModel, prompt: list[int], stack: SamplerSettings, rho: float, tokens: int
) -> None:
    """Write one lane's worth of tokens with `generate` and sort-based XTC."""
    ids = torch.tensor([prompt])
    output = model.generate(  # type: ignore[operator]
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        do_sample=True,
        max_new_tokens=tokens,
        min_new_tokens=tokens,
        temperature=stack.temperature,
        top_k=stack.top_k,
        top_p=stack.top_p,
        min_p=stack.min_p or None,
        logits_processor=[PublishedXTC(rho, XTC.tau, torch.Generator().manual_seed(0))],
        pad_token_id=0,
    )
    assert output.shape[1] == PROMPT + tokens


def lanes_against_generate(
    what: str,
    ours: LocalModel,
    reference: PreTrainedModel,
    stack: SamplerSettings,
    size: tuple[int, int],
    at_least: float,
) -> Result:
    """Compare `size` = (tokens, rounds) of both ways, and ours with reading its weights."""
    tokens, rounds = size
    weights = sum(parameter.nbytes for parameter in ours.model.parameters())
    as_many = torch.ones(weights // 4)

    def naive() -> None:
        for rho in (0.0, XTC.rho):
            generate(reference, prompt_ids(ours), stack, rho, tokens)

    lanes = [stack, replace(stack, xtc=XTC)]
    cases: dict[str, Callable[[], object]] = {
        "ours": lambda: run(ours, lanes, tokens),
        "generate": naive,
        "read": as_many.sum,
    }
    times = alternating(cases, rounds)
    step = times["ours"] / tokens
    result = against(what, step, times["generate"] / tokens, "generate", at_least=at_least)
    share = (
        f"{100 * times['read'] / step:.0f}% of the bandwidth "
        f"({weights / step / 1e9:.1f} of {weights / times['read'] / 1e9:.1f} GB/s)"
    )
    return replace(result, detail=f"{result.detail}; {share}")


def second_lane(model: LocalModel) -> Result:
    stack = SamplerSettings(xtc=XTC)
    cases = {
        "one": lambda: run(model, [stack], 32),
        "two": lambda: run(model, [SamplerSettings(), stack], 32),
    }
    times = {name: time / 32 for name, time in alternating(cases, 5).items()}
    what = f"decode, 135M {dtype_of(model.model)}: two lanes as a multiple of one"
    return relative(what, times["two"], times["one"], "one lane", at_most=1.15)


def same_eligible(dtype: torch.dtype) -> Result:
    """How often E at τ = 0.1 is the one of float32, along a text of the story model."""
    exact, rounded = story_model(), story_model()
    rounded.model.to(dtype)
    prompt = exact.encode("Once upon a time")
    settings = RunSettings(lanes=(LaneSettings("", SamplerSettings(xtc=XTC)),), max_new_tokens=250)
    written = [column.steps[0] for column in decode_lanes(exact, prompt, settings)]
    ids = torch.tensor([[*prompt, *(step.token for step in written if step)]])
    with torch.inference_mode():
        eligible = [
            torch.softmax(model.model(ids).logits[0].float(), dim=-1) >= XTC.tau
            for model in (exact, rounded)
        ]
    same = (eligible[0] == eligible[1]).all(dim=-1).float().mean()
    what = f"story model {str(dtype).removeprefix('torch.')}: steps with the E of float32"
    return Result(what, 100 * float(same), "%")


if __name__ == "__main__":
    main(measure, __doc__)
