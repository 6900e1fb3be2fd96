"""The audit of a real server of llama.cpp: what it does, under right and wrong claims."""

from __future__ import annotations

import json

import pytest

from xtc_viz.audit.asking import LENGTH, PROMPTS, observed, source, verdicts
from xtc_viz.audit.coins import coins
from xtc_viz.audit.command import main
from xtc_viz.audit.observation import Place
from xtc_viz.audit.verdict import Claim, Verdict
from xtc_viz.errors import PromptError, ServerError
from xtc_viz.models.remote.kinds.base import OwnXTC
from xtc_viz.models.remote.kinds.llamacpp import LlamaCpp
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.settings import XTCSettings

pytestmark = [pytest.mark.engines, pytest.mark.slow]


def finding(remote: RemoteModel, asked: Claim, claimed: Claim) -> Verdict:
    *_, last = verdicts(source(remote, asked), claimed, frozenset(remote.info.eos_ids), 5000)
    return last


@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_a_server_that_does_as_it_is_asked(remote: RemoteModel, rho: float) -> None:
    found = finding(remote, Claim(rho, 0.1), Claim(rho, 0.1))
    assert found.known
    assert found.as_claimed
    assert found.place is Place.BEFORE
    assert found.floors == (0.1, 0.1)
    assert found.steps < (500 if rho == 1.0 else 4500)


def test_a_server_that_does_nothing(remote: RemoteModel) -> None:
    found = finding(remote, Claim(0.0, 0.1), Claim(0.5, 0.1))
    assert (found.acts, found.as_claimed) == (False, False)
    assert found.best.through > 100
    assert finding(remote, Claim(0.0, 0.1), Claim(0.0, 0.1)).as_claimed


@pytest.mark.parametrize(("rho", "tau"), [(0.5, 0.3), (0.5, 0.05), (1.0, 0.1), (0.2, 0.1)], ids=str)
def test_a_wrong_claim_is_found_out(remote: RemoteModel, rho: float, tau: float) -> None:
    found = finding(remote, Claim(0.5, 0.1), Claim(rho, tau))
    assert (found.acts, found.as_claimed) == (True, False)
    assert found.best.low <= 0.5 <= found.best.high
    assert found.floors[0] <= 0.1 <= found.floors[1]


def test_the_end_of_a_text_is_among_the_steps(remote: RemoteModel) -> None:
    """Left out, the steps at which an end was drawn would be missing on one side only."""
    assert isinstance(remote.server, LlamaCpp)
    text = remote.server.draw(remote.encode(PROMPTS[0]), 600, 20, OwnXTC(0.0, 0.1, 1.0, 1))
    assert len(text) < 600
    assert text[-1].token in remote.info.eos_ids
    step = observed(text[0], 1.0)
    assert len(step.ids) == len(step.probs) == 20
    assert list(step.probs) == sorted(step.probs, reverse=True)


def test_another_kind_of_server_is_refused(address: str) -> None:
    known = RemoteModel.connect(address)

    class Plain:
        """It shows what llama.cpp's server does and has no XTC."""

        kind = "plain"
        slots = 1
        facts = known.server.facts
        still = known.server.still
        piece = known.server.piece
        candidates = known.server.candidates
        tokenize = known.server.tokenize
        chat = known.server.chat

    model = RemoteModel(known.spec, Plain(), known.wire)
    with pytest.raises(ServerError, match="is plain, which has no XTC of its own"):
        source(model, Claim(0.5, 0.1))
    with pytest.raises(ServerError, match="dice of plain are not known"):
        coins(model, XTCSettings(0.5, 0.1), PROMPTS)


def test_a_prompt_must_leave_room(remote: RemoteModel) -> None:
    room = remote.info.context_length - LENGTH
    for prompt in ("", "word " * (room + 1)):
        with pytest.raises(PromptError, match=f"1 to {room} tokens"):
            source(remote, Claim(0.5, 0.1), [prompt])


def test_the_coins_are_draws(remote: RemoteModel) -> None:
    found = coins(remote, XTCSettings(0.5, 0.1), PROMPTS)
    assert found.known
    assert found.tokens > 2000
    assert found.foretold >= found.tokens - 5
    # Of what the server wrote: after a low draw no removable token, after others every second.
    assert found.low > 200
    assert found.low_through == 0
    assert found.high_through > 100


def test_the_command(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([address, "--rho", "1", "--json"]) == 0
    values = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert values[-1]["as_claimed"] is True
    assert values[-1]["place"] == "before temperature"
    assert main([address, "--steps", "256", "--prompt", "Once"]) == 3
    said = capsys.readouterr()
    assert "more would tell" in said.out
    assert "256 steps" in said.err
    assert main([address, "--coins"]) == 0
    assert "XTC fired" in capsys.readouterr().out


def test_the_command_refuses_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["http://127.0.0.1:9", "--tau", "0.7"], ["ftp://box"], ["http://a@b"]):
        assert main(wrong) == 2
    assert main(["http://127.0.0.1:9"]) == 4
    said = capsys.readouterr().err
    assert "`tau` must be in [0.001, 0.5]" in said
    assert "nothing listens there" in said
