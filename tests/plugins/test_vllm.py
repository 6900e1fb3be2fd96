"""The plug-in in a real vLLM: `make test-vllm`, which sets that up beside everything else."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tests.vllmserver import serving_vllm
from xtc_viz.sampling.operator import apply_xtc
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.settings import XTCSettings

pytestmark = pytest.mark.vllm
TOKENS, K = 120, 50


class Server:
    """A server with V1's plug-in."""

    def __init__(self, url: str) -> None:
        self._url = url

    def complete(self, **asked: Any) -> dict[str, Any]:
        """Ask for a completion and return its only choice."""
        body = {"model": "story", "prompt": "Once upon a time", "max_tokens": TOKENS} | asked
        request = urllib.request.Request(
            f"{self._url}/v1/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            choices = json.load(answer)["choices"]
        return dict(choices[0])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    pytest.importorskip("vllm")
    log = tmp_path_factory.mktemp("vllm") / "log"
    with serving_vllm(
        log, "--max-logprobs", str(K), "--logits-processors", "xtc_viz.plugins.vllm.v1:XTC"
    ) as url:
        yield Server(url)


def drawn(choice: dict[str, Any]) -> Iterator[tuple[int, dict[int, float]]]:
    """Return each token that was drawn with the K most probable ones, as ids and probabilities."""
    logprobs = choice["logprobs"]
    for token, top in zip(choice["token_ids"], logprobs["top_logprobs"], strict=True):
        probs = {int(name.removeprefix("token_id:")): float(np.exp(p)) for name, p in top.items()}
        yield token, probs


ASKED = {"logprobs": K, "return_token_ids": True, "return_tokens_as_token_ids": True}


@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_no_removed_token_is_ever_drawn(server: Server, rho: float) -> None:
    fired = ambiguous = kept = 0
    for seed in range(6):
        xtc = {"xtc_probability": rho, "xtc_threshold": 0.1, "xtc_seed": seed}
        choice = server.complete(temperature=1.0, seed=seed, vllm_xargs=xtc, **ASKED)
        dice = SharedRandomness(seed)
        for step, (token, probs) in enumerate(drawn(choice)):
            eligible = sorted((p, -i) for i, p in probs.items() if p >= 0.1)
            if len(eligible) < 2 or any(abs(p - 0.1) < 1e-4 for p in probs.values()):
                continue
            ambiguous += 1
            removed = {-i for _, i in eligible[1:]}
            if dice.coin(step) < rho:
                fired += 1
                assert token not in removed
            else:
                kept += token in removed
    assert fired > 30
    assert (fired == ambiguous) is (rho == 1.0)
    assert rho == 1.0 or kept > 10, "where the coin lost, all is as it was"


def test_temperature_and_cutoffs_act_in_front(server: Server) -> None:
    xtc = {"xtc_probability": 1.0, "xtc_threshold": 0.1, "xtc_min_p": 0.2}
    fired = 0
    for seed in range(3):
        choice = server.complete(temperature=1.5, seed=seed, vllm_xargs=xtc, **ASKED)
        for token, raw in drawn(choice):
            hot = {i: p ** (1 / 1.5) for i, p in raw.items()}
            most = max(hot.values())
            left = {i: p for i, p in hot.items() if p >= 0.2 * most}
            probs = {i: p / sum(left.values()) for i, p in left.items()}
            assert token in probs or min(hot.values()) >= 0.19 * most, "K tokens may be too few"
            eligible = sorted((p, -i) for i, p in probs.items() if p >= 0.1)
            near = any(abs(p - 0.1) < 1e-3 for p in probs.values())
            if len(eligible) > 1 and not near and min(hot.values()) < 0.2 * most:
                fired += 1
                assert token not in {-i for _, i in eligible[1:]}
    assert fired > 30


def test_a_request_beside_others_keeps_its_own(server: Server) -> None:
    from concurrent.futures import ThreadPoolExecutor

    cases = [
        {"seed": seed, "temperature": 1.0, "vllm_xargs": {"xtc_probability": rho, "xtc_seed": seed}}
        for seed in range(4)
        for rho in (0.0, 0.5, 1.0)
    ]
    alone = [server.complete(**case, **ASKED)["token_ids"] for case in cases]
    with ThreadPoolExecutor(8) as pool:
        together = pool.map(lambda case: server.complete(**case, **ASKED)["token_ids"], cases)
    same = [one == other for one, other in zip(alone, together, strict=True)]
    # A batch rounds otherwise than a single row: now and then a close draw falls otherwise.
    assert sum(same) >= len(cases) - 2


@pytest.mark.parametrize(
    ("xtc", "temperature", "words"),
    [
        ({"xtc_probability": 3}, 1.0, "`xtc_probability` must be in [0, 1], but is 3"),
        ({"xtc_threshold": "much"}, 1.0, "`xtc_threshold` must be in (0, 1)"),
        ({"xtc_tau": 0.1}, 1.0, "xtc_tau"),
        ({"xtc_probability": 0.5}, 0.0, "`temperature` must be above 0"),
    ],
)
def test_what_is_wrong_is_answered_with_400(
    server: Server, xtc: dict[str, Any], temperature: float, words: str
) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        server.complete(temperature=temperature, vllm_xargs=xtc)
    assert error.value.code == 400
    assert words in json.loads(error.value.read())["error"]["message"]
    assert server.complete(max_tokens=2)["text"], "the server lives on"


def test_v2_on_its_interface_s_own_terms() -> None:
    """Its runner needs a GPU; the class is driven as that runner drives it."""
    pytest.importorskip("vllm")
    from vllm import SamplingParams
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext

    from xtc_viz.plugins.vllm.v2 import XTC

    states: Any = SimpleNamespace(
        device=torch.device("cpu"), prompt_len=SimpleNamespace(np=np.array([4, 9, 6, 5]))
    )
    config: Any = SimpleNamespace(speculative_config=None)
    processor = XTC(config, states)
    arguments = {"xtc_probability": 0.5, "xtc_threshold": 0.05, "xtc_seed": 11}
    asked = SamplingParams(temperature=0.7, extra_args=arguments)
    assert processor.add_request(1, asked)
    assert not processor.add_request(2, SamplingParams(temperature=1.0))
    processor.apply_staged_writes()
    logits = torch.from_numpy(np.random.default_rng(3).normal(0, 3, (2, 300)).astype(np.float32))
    changed = 0
    for step in range(40):
        context = LogitsContext(
            expanded_idx_mapping=torch.tensor([2, 1]), idx_mapping=torch.tensor([2, 1]),
            idx_mapping_np=np.array([2, 1]), expanded_local_pos=torch.zeros(2),
            input_ids=torch.zeros(2), pos=torch.tensor([6 + step, 9 + step]) - 1,
            seq_lens_upper_bound_np=np.array([6 + step, 9 + step]),
        )  # fmt: skip
        result = processor.apply(logits.clone(), context)
        xtc = XTCSettings(0.5, 0.05)
        expected, _ = apply_xtc(logits[1:] / 0.7, [SharedRandomness(11).coin(step)], xtc)
        assert torch.equal(torch.isneginf(result[1]), torch.isneginf(expected[0]))
        assert torch.equal(result[0], logits[0])
        changed += bool(torch.isneginf(result[1]).any())
    assert 8 < changed < 32
    with pytest.raises(ValueError, match="xtc_probability"):
        XTC.validate_params(SamplingParams(extra_args={"xtc_probability": 9}))
    with pytest.raises(ValueError, match="speculative"):
        XTC(SimpleNamespace(speculative_config=object()), states)
