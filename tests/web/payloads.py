"""What Python says to the page, as it says it: real answers about runs of the fake model, as JSON.

`python -m tests.web.payloads FOLDER` writes them for the tests of the page's modules in node. They
are asked for as the page asks: runs as a stream of messages, all else by the server's questions.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

import numpy as np

from tests.audit.simulated import drawn
from tests.ui.driven import asked, questions, stream
from tests.ui.factories import thinker
from xtc_viz.audit.verdict import Claim, judge
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui import controls
from xtc_viz.ui.access import May, OpenTo
from xtc_viz.ui.lab.cell import cell_question
from xtc_viz.ui.lab.questions import Lab, lab_questions
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.service import Service

LENGTH = 60
CANDIDATES = 10
OTHER = {"rho": 1.0, "tau": 0.05, "strategy": "keep_least"}
NUMBERS = {
    "values": [0.4, 0.3, 0.15, 0.15],
    "logits": False,
    "sampler": {"xtc": {"rho": 0.5, "tau": 0.1, "protected": [1]}},
}
PROTECT = {"eos": True, "newline": "all", "texts": [" Lily", " dragons"]}

Types = dict[str, str]
TYPES: Types = {
    "specification": "Spec",
    "stream": "Message[]",
    "refusal": "Message[]",
    "whole": "Message",
    "thinking": "Message[]",
    "spread": "SpreadMessage[]",
    "finding": "AuditFinding",
    "audit": "AuditMessage[]",
    "blocks": "Block[]",
    "imagined": "Block",
    "stages": "StageView[]",
    "engines": "EnginesView[]",
    "engine_stages": "StageView",
    "engines_along": "EnginesAlong",
    "engines_typed": "EnginesTyped",
    "what_if": "WhatIfAnswer",
    "strength": "StrengthGrid",
    "tokens": "ProtectedTokens",
    "becomes": "NamedTokens | null",
    "take_home": "TakenHome",
    "bring_here": "BroughtHere",
    "hello": "ModelState",
    "models": "CatalogAnswer",
    "lab_choices": "LabChoices",
    "lab_forecast": "LabForecast",
    "lab_status": "LabStatus[]",
    "lab_runs": "LabRun[]",
    "lab_numbers": "LabNumbers[]",
    "lab_prompts": "LabPromptValue[]",
    "lab_figures": "LabFigureInfo[]",
    "lab_samples": "LabSamples",
    "lab_compare": "LabComparison",
    "cell": "Message",
}
"""Each answer's type in `assets/web/types.d.ts`, or in `assets/web/lab/types.d.ts`."""


class Server:
    """A server that a page could talk to, on one model."""

    def __init__(self, model: FakeModel) -> None:
        self.service = Service(ModelHost(model), may=May.ALL)
        self.questions = {question.__name__: question for question in questions(self.service)}

    def ask(self, name: str, *values: object) -> Any:
        return json.loads(self.questions[name](list(values)))

    def run(self, request: dict[str, Any]) -> list[Any]:
        return [json.loads(message) for message in stream(self.service, request, "", None, May.ALL)]


def late(specification: dict[str, Any]) -> dict[str, Any]:
    """Return a lane whose temperature comes behind XTC, and thus the order is not the default."""
    sampler = specification["baseline"]["sampler"]
    last = ["xtc", "temperature"]
    order = [name for name, _ in specification["order"] if name not in last] + last
    values = {"temperature": 1.3, "top_p": 0.95, "presence_penalty": 0.5, "order": order}
    xtc = sampler["xtc"] | {"rho": 0.5, "tau": 0.05}
    return {"name": "Late", "sampler": sampler | values | {"xtc": xtc}}


def laboratory() -> dict[str, Any]:
    """Return what the laboratory answers about a small run of its own."""
    with TemporaryDirectory() as folder:
        lab = Lab.at(ModelHost(FakeModel()), Path(folder) / "lab.sqlite", OpenTo.OWN)
        every = [*lab_questions(lab), cell_question(lab, RunStore())]
        named = {one.__name__: asked(one) for one in every}

        def ask(name: str, *values: object) -> Any:
            return json.loads(named[name](list(values)))

        choice = {"experiment": "activation", "small": True}
        answers = {"lab_choices": ask("lab_choices"), "lab_forecast": ask("lab_forecast", choice)}
        status = [ask("lab_status"), ask("lab_start", choice)]
        lab.laboratory.join()
        status.append(ask("lab_status"))
        run = status[-1]["run"]
        numbers = [ask("lab_numbers", run, None, 0)]
        while not numbers[-1]["number"]:
            sleep(0.1)
            numbers = [numbers[0], ask("lab_numbers", run, None, 0)]
        numbers.append(ask("lab_numbers", run, None, numbers[-1]["number"]))
        samples = ask("lab_samples", run, "XTC medium", "", "baseline")
        answers |= {
            "lab_status": status,
            "lab_runs": ask("lab_runs"),
            "lab_numbers": numbers,
            "lab_prompts": ask("lab_prompts", run, None, "tokens", "XTC medium"),
            "lab_figures": ask("lab_figures", run, None, ""),
            "lab_samples": samples,
            "lab_compare": ask("lab_compare", run, run),
            "cell": ask("cell", [samples["rows"][0]["own"]["cell"]]),
        }
        lab.numbers.close()
    return answers


def payloads() -> dict[str, Any]:
    """Return every kind of answer by its name."""
    server = Server(FakeModel())
    specification = controls.specification(server.service.limits)
    lanes = [*specification["settings"]["lanes"], late(specification)]
    settings = specification["settings"] | {"lanes": lanes, "max_new_tokens": LENGTH}
    request = {"kind": "run", "req": 1, "prompt": "Once upon", "settings": settings}
    messages = server.run(request)
    run = messages[-1]["run"]
    rng = np.random.default_rng(0)
    return {
        "specification": specification,
        "stream": messages,
        "refusal": server.run({**request, "prompt": " "}),
        "whole": server.ask("open", run, []),
        "thinking": Server(thinker(12)).run({**request, "prompt": "Once"}),
        "spread": server.run({**request, "kind": "spread", "seeds": 9}),
        "finding": judge(list(islice(drawn(rng, 0.5, 0.1), 300)), Claim(0.5, 0.1)).to_dict(),
        "audit": server.run({"kind": "audit", "req": 1, "rho": 0.5, "tau": 0.1}),
        "blocks": [server.ask("block", run, k, 0, CANDIDATES, None) for k in range(len(lanes))],
        "imagined": server.ask("block", run, 1, 0, CANDIDATES, OTHER),
        "stages": [server.ask("stages", run, 2, i, CANDIDATES) for i in range(20)],
        "engines": [server.ask("engines", run, 2, i, OTHER) for i in range(8)],
        "engine_stages": server.ask("engine_stages", run, 2, 3, "llama.cpp", None),
        "engines_along": server.ask("engines_along", run, 1, OTHER),
        "engines_typed": server.ask("engines_typed", NUMBERS),
        "what_if": server.ask("what_if", run, 1, {**OTHER, "protect": PROTECT}),
        "strength": server.ask("strength", run, 1, OTHER),
        "tokens": server.ask("tokens", PROTECT),
        "becomes": server.ask("becomes", run, 1, 3, " a zebra"),
        "take_home": server.ask(
            "take_home", specification["baseline"], "text-generation-webui preset", PROTECT
        ),
        "bring_here": server.ask("bring_here", "--xtc-probability 0.5 --warmth 2 --port 1", None),
        "hello": server.ask("hello", None),
        "models": server.ask("models", "auto", "auto"),
        **laboratory(),
    }


def write(folder: Path) -> dict[str, Any]:
    """Write each answer to a file of its own, and return all of them."""
    answers = payloads()
    for name, answer in answers.items():
        (folder / f"{name}.json").write_text(json.dumps(answer), encoding="utf-8")
    return answers


def as_typescript(answers: dict[str, Any]) -> str:
    """Return a module in which each answer is a literal of its type: a field too many or too few,
    or of another kind, is an error of the type checker."""
    lines = (f"const {name}: {TYPES[name]} = {json.dumps(answers[name])};" for name in TYPES)
    return "\n".join([*lines, f"export {{ {', '.join(TYPES)} }};", ""])


if __name__ == "__main__":
    write(Path(sys.argv[1]))
