"""What a real vLLM answered, kept beside the tests so that all of them can read it.

    XTC_VIZ_VLLM_PYTHON=.venv-vllm/bin/python python -m tests.models.remote.recording

records it anew, with the story model in a server that shows 20 candidates, and the one answer of
a server that shows logits that is another one. `vllm.json` says of which version it is.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.models.remote.agreement import settings
from tests.models.remote.hostile import Raw, answering
from tests.vllmserver import serving_vllm
from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import ServerError
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.runs import presets
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request

FILE = Path(__file__).with_name("vllm.json")
CAP = 20
LENGTH = 6
REQUEST = Request(
    "Once upon a time",
    settings(*(lane.sampler for lane in presets.DEFAULT_LANES), length=LENGTH),
)
Taken = dict[str, tuple[int, Any]]
"""Questions to statuses and answers."""


def question(path: str, values: Any) -> str:
    return f"{path} {json.dumps(values, sort_keys=True)}" if values is not None else path


def recorded() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return values


@contextmanager
def taking(address: str, taken: Taken) -> Iterator[str]:
    """Stand in front of a server, and keep what it answers."""
    with httpx.Client(base_url=address, timeout=300) as client:

        def answer(path: str, values: Any) -> Raw:
            reply = client.get(path) if values is None else client.post(path, json=values)
            taken[question(path, values)] = reply.status_code, reply.json()
            return Raw(reply.content, reply.status_code)

        with answering(answer) as front:
            yield front


def main() -> None:
    log = Path(tempfile.mkdtemp()) / "log"
    taken: Taken = {}
    with serving_vllm(log, "--max-logprobs", str(CAP)) as address, taking(address, taken) as front:
        model = RemoteModel.connect(RemoteSpec(front, tokenizer=str(STORY_MODEL)))
        record(model, REQUEST)
    logits: Taken = {}
    with (
        serving_vllm(log, "--logprobs-mode", "raw_logits") as address,
        taking(address, logits) as front,
    ):
        try:
            RemoteModel.connect(RemoteSpec(front, tokenizer=str(STORY_MODEL)))
        except ServerError as error:
            print(error)
    last = [*logits][-1]
    values = {
        "version": taken["/version"][1]["version"],
        "answers": taken,
        "logits": {last: logits[last]},
    }
    FILE.write_text(json.dumps(values, indent=0, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
