"""Imports point one way: each module may know only what its rule allows (see README, "The files").

Every import statement counts, those inside functions and type-checking blocks too.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "xtc_viz"
ANY = frozenset({"*"})


class Rule(NamedTuple):
    """What a module may import beside the standard library; names cover what lies under them."""

    third_party: frozenset[str]
    own: frozenset[str]


def rule(third_party: str = "", own: str = "") -> Rule:
    return Rule(frozenset(third_party.split()), frozenset(own.split()))


CORE = "engines.known errors knob knobs settings texts"
STAGES = f"{CORE} sampling.stages"
RULE = f"{STAGES} sampling.dialect sampling.rule sampling.plan"
RECORDS = f"{RULE} records"
SAMPLING = f"{RECORDS} sampling"
# What any model needs, wherever it runs; where each runs is a folder of its own.
HOSTING = "errors records.modelinfo models.base models.load models.prompts models.spec"
# The longest name that fits decides; a module that fits none is an error, so none goes unheld.
RULES: dict[str, Rule] = {
    "xtc_viz": rule(own="settings sampling.operator runs.protection"),
    "xtc_viz.threads": rule(),
    "xtc_viz.assets": rule(),
    "xtc_viz.cli": rule(
        own="errors threads ui audit.command engines.command engines.vectors.command lab.command"
    ),
    "xtc_viz.errors": rule(),
    "xtc_viz.parts": rule(),
    "xtc_viz.texts": rule(own="errors"),
    "xtc_viz.tablecell": rule(own="texts"),
    "xtc_viz.sideprocess": rule(own="errors sideprocess"),
    "xtc_viz.knob": rule(own="errors"),
    "xtc_viz.knobs": rule(own="knob sampling.stages"),
    "xtc_viz.settings": rule(own="engines.known errors knobs sampling.dialect sampling.stages"),
    "xtc_viz.engines": rule(),
    "xtc_viz.engines.base": rule(own="sampling.dialect"),
    "xtc_viz.engines.known": rule(own="engines.base sampling.dialect"),
    "xtc_viz.engines.reasons": rule(own="parts sampling.dialect settings"),
    "xtc_viz.engines.leaves": rule(own=f"{RECORDS} engines sampling.stageview"),
    "xtc_viz.engines.origin": rule("numpy", SAMPLING),
    "xtc_viz.engines.chain": rule(own=f"{SAMPLING} engines parts"),
    "xtc_viz.engines.along": rule(own=f"{RECORDS} engines sampling.whatif"),
    "xtc_viz.engines.vectors": rule(own=f"{CORE} engines sampling.dialect __version__"),
    "xtc_viz.engines.forms": rule(own="engines.forms"),
    "xtc_viz.engines.syntax": rule("yaml", "engines.forms errors"),
    "xtc_viz.engines.unlike": rule(own="engines.base sampling.dialect settings"),
    "xtc_viz.engines.values": rule(),
    "xtc_viz.engines.reader": rule(
        own=f"{STAGES} engines.forms engines.readorder engines.values sampling.dialect"
    ),
    "xtc_viz.engines.readorder": rule(own=f"{CORE} engines.forms engines.values"),
    "xtc_viz.engines.reading": rule(
        own="engines.forms engines.reader engines.syntax errors settings"
    ),
    "xtc_viz.engines.writing": rule(own=f"{STAGES} engines"),
    "xtc_viz.engines.command": rule(own="engines errors"),
    "xtc_viz.sampling": rule("torch numpy", SAMPLING),
    "xtc_viz.sampling.dialect": rule(),
    "xtc_viz.sampling.rule": rule(own=f"{CORE} sampling.dialect"),
    "xtc_viz.sampling.plan": rule(own=f"{STAGES} sampling.dialect"),
    "xtc_viz.sampling.stages": rule("numpy", "knob sampling.stages"),
    "xtc_viz.records": rule(own=f"{RECORDS} __version__"),
    "xtc_viz.models": rule(own=HOSTING),
    "xtc_viz.models.base": rule("torch", "records.modelinfo sampling.distribution"),
    "xtc_viz.models.host": rule(
        own=f"{HOSTING} models.idle models.occupancy models.queue models.state"
    ),
    "xtc_viz.models.occupancy": rule(own=f"{HOSTING} models.queue models.state"),
    "xtc_viz.models.fake": rule("torch numpy", f"{HOSTING} sampling.distribution"),
    "xtc_viz.models.local": rule("torch", f"{HOSTING} models.local models.tokentable"),
    "xtc_viz.models.local.apart": rule(
        "torch", f"{HOSTING} models.local models.tokentable sideprocess"
    ),
    "xtc_viz.models.local.loader": rule("torch", f"{HOSTING} models.local assets"),
    "xtc_viz.models.local.otherside": rule(
        "transformers", "models.local.folder models.local.tokens models.tokentable"
    ),
    "xtc_viz.models.tokentable": rule(),
    "xtc_viz.models.remote": rule(own=f"{HOSTING} models.remote models.tokentable"),
    "xtc_viz.models.remote.address": rule(own="errors"),
    "xtc_viz.models.remote.key": rule(),
    "xtc_viz.models.remote.kinds": rule(
        own=f"{HOSTING} models.remote.kinds models.remote.tokenizer models.remote.values "
        "models.remote.wire models.tokentable sampling.distribution"
    ),
    "xtc_viz.models.remote.model": rule(
        "numpy", f"{HOSTING} models.remote models.tokentable sampling.distribution"
    ),
    "xtc_viz.models.remote.tokenizer": rule(
        own="errors models.load models.local.apart models.tokentable"
    ),
    "xtc_viz.models.remote.values": rule(
        "numpy", "errors models.remote.wire sampling.distribution"
    ),
    "xtc_viz.models.remote.deadline": rule(),
    "xtc_viz.models.remote.wire": rule("httpx orjson", "errors models.remote.deadline"),
    "xtc_viz.models.local.placement": rule("torch transformers", "errors models.local.spec"),
    "xtc_viz.models.local.folder.download": rule(
        "huggingface_hub", f"{HOSTING} models.local.folder.files models.local.spec"
    ),
    "xtc_viz.models.local.folder.files": rule(
        own="errors models.local.folder.headers models.local.folder.jsonfile"
    ),
    "xtc_viz.models.local.folder.headers": rule(own="errors models.local.folder.jsonfile"),
    "xtc_viz.models.local.folder.jsonfile": rule(own="errors"),
    "xtc_viz.models.local.folder.memory": rule("torch", "errors models.catalog"),
    "xtc_viz.models.local.folder.reader": rule(
        "torch transformers safetensors", f"{HOSTING} models.catalog models.local"
    ),
    "xtc_viz.models.local.folder.rehearsal": rule(
        "torch transformers", "errors models.catalog models.local.folder"
    ),
    "xtc_viz.models.local.fingerprint": rule("torch"),
    "xtc_viz.models.local.layers": rule("torch transformers"),
    "xtc_viz.models.local.steps": rule("torch transformers", f"{HOSTING} models.local"),
    "xtc_viz.models.local.steps.cache": rule("torch transformers"),
    "xtc_viz.models.local.steps.fixed": rule(
        "torch transformers", "models.local.steps.cache models.local.steps.forward"
    ),
    "xtc_viz.models.local.steps.forward": rule("torch"),
    "xtc_viz.models.local.tokens.detokenize": rule(own="models.tokentable"),
    "xtc_viz.models.local.tokens.tokenizer": rule(
        "transformers", "errors models.local.folder models.local.tokens models.tokentable"
    ),
    "xtc_viz.models.local.tokens.vocabulary": rule(own="models.local.tokens.detokenize"),
    "xtc_viz.models.local.zerogpu": rule("spaces", "errors"),
    "xtc_viz.rows": rule("torch numpy", f"{SAMPLING} models.base models.prompts rowtext"),
    "xtc_viz.rowtext": rule("torch", "models.base records.trace"),
    "xtc_viz.decode": rule("torch", f"{RECORDS} models.base models.prompts rows"),
    "xtc_viz.runs": rule(),
    "xtc_viz.runs.presets": rule(own=f"{CORE} assets"),
    "xtc_viz.runs.reasoning": rule(own="records.trace"),
    "xtc_viz.runs.stats": rule(own="records.step runs.reasoning sampling.rule"),
    "xtc_viz.runs.breakers": rule("torch", "models.base settings"),
    "xtc_viz.runs.protection": rule(
        "torch", "errors texts models.base models.local.tokens.vocabulary records.modelinfo"
    ),
    "xtc_viz.runs.request": rule(
        "torch",
        "errors settings texts models.base records.modelinfo runs.breakers runs.chain "
        "runs.protection",
    ),
    "xtc_viz.runs.chain": rule(own="engines.known errors knobs records.modelinfo settings"),
    "xtc_viz.runs.branching": rule("torch", f"{CORE} models.base records.trace runs.protection"),
    "xtc_viz.runs.explained": rule(
        "numpy",
        "models.remote.kinds records.step runs.chain sampling.stack",
    ),
    "xtc_viz.runs.served": rule(
        "torch",
        "decode errors models.base models.prompts models.remote records.step records.trace rowtext "
        "runs.chain runs.explained settings",
    ),
    "xtc_viz.runs.editing": rule(own="errors records.step records.trace"),
    "xtc_viz.runs.recorder": rule("torch", f"{RECORDS} decode models.base runs.protection"),
    "xtc_viz.runs.worker": rule("torch", f"{CORE} decode models.base models.local.zerogpu rows"),
    "xtc_viz.runs.jobs": rule(
        "torch",
        f"{CORE} decode models.base records.modelinfo records.trace runs.branching runs.editing "
        "runs.recorder runs.request runs.served runs.worker",
    ),
    "xtc_viz.runs.record": rule(
        "torch",
        "decode models.base records.trace runs.jobs runs.recorder runs.request runs.worker",
    ),
    "xtc_viz.lab.words": rule(),
    "xtc_viz.lab.ngrams": rule("numpy"),
    "xtc_viz.lab.bleu": rule("numpy", "lab.ngrams"),
    "xtc_viz.runs.seeds": rule(
        "torch",
        "decode knobs models.base models.prompts records.step records.trace rows runs.jobs "
        "runs.recorder runs.worker",
    ),
    "xtc_viz.lab.tagging": rule("textblob"),
    "xtc_viz.lab.embedding": rule("numpy scipy sentence_transformers", "errors lab.words"),
    "xtc_viz.lab.samples": rule(
        "numpy", "lab.embedding lab.generation lab.ngrams lab.tagging lab.words"
    ),
    "xtc_viz.lab.metrics": rule(
        "numpy scipy rapidfuzz",
        "errors lab.bleu lab.checks lab.embedding lab.metrics lab.ngrams lab.samples lab.words "
        "records.trace",
    ),
    "xtc_viz.lab.mechanism": rule(
        "numpy", "records.columns records.packed records.step sampling.rule settings"
    ),
    "xtc_viz.lab.comparison": rule(
        "numpy", "errors lab.generation lab.metrics lab.samples lab.statistics"
    ),
    "xtc_viz.lab.results": rule(
        "numpy",
        "errors lab.comparison lab.experiment lab.generation lab.mechanism lab.metrics lab.reading "
        "lab.samples lab.statistics lab.store lab.suite settings",
    ),
    "xtc_viz.lab.spread": rule(
        "numpy",
        "lab.generation lab.mechanism lab.metrics lab.samples lab.statistics records.packed "
        "records.step records.trace runs.reasoning sampling.whatif settings",
    ),
    "xtc_viz.lab.spreadwords": rule(own="lab.spread lab.statistics settings"),
    "xtc_viz.lab.wording": rule(own="lab.comparison lab.statistics"),
    "xtc_viz.lab.against": rule(
        "numpy",
        "errors lab.comparison lab.experiment lab.generation lab.metrics lab.reading lab.results "
        "lab.statistics lab.store",
    ),
    "xtc_viz.lab.table": rule(
        own="lab.against lab.comparison lab.metrics lab.results lab.statistics lab.wording"
    ),
    "xtc_viz.lab.figures": rule(
        "plotly numpy",
        "errors figures.labels figures.theme lab.comparison lab.correlation lab.experiment "
        "lab.figures lab.mechanism lab.metrics lab.results lab.statistics lab.suite lab.wording "
        "settings",
    ),
    "xtc_viz.lab.paper": rule(own="assets settings"),
    "xtc_viz.lab.beside": rule(
        "numpy",
        "lab.builtin lab.experiment lab.metrics lab.paper lab.results lab.statistics settings",
    ),
    "xtc_viz.lab.report": rule(
        "jinja2 markupsafe plotly",
        "__version__ assets lab.beside lab.builtin lab.experiment lab.figures lab.mechanism "
        "lab.metrics lab.paper lab.reading lab.report lab.results lab.store lab.suite lab.table "
        "lab.tomlfile lab.wording records.modelinfo texts",
    ),
    "xtc_viz.lab.printing": rule(own="lab.code.judging lab.news lab.runner lab.store texts"),
    "xtc_viz.lab.statistics": rule("numpy scipy", "lab.generation"),
    "xtc_viz.lab.correlation": rule("numpy", "lab.statistics"),
    "xtc_viz.lab": rule(),
    "xtc_viz.lab.generation": rule(own="lab.checks records.step records.trace runs.reasoning"),
    "xtc_viz.lab.checks": rule(own="errors lab.words"),
    "xtc_viz.lab.suite": rule(own="assets errors lab.checks texts"),
    "xtc_viz.lab.experiment": rule(own=f"{CORE} runs.protection"),
    "xtc_viz.lab.tomlfile": rule(own="errors lab.experiment"),
    "xtc_viz.lab.builtin": rule(own="lab.experiment settings"),
    "xtc_viz.lab.identity": rule(own="models.base"),
    "xtc_viz.lab.cell": rule(own="lab.experiment lab.identity lab.suite settings"),
    "xtc_viz.lab.store": rule(
        own="errors lab.identity lab.store records.modelinfo records.tracefile"
    ),
    "xtc_viz.lab.news": rule(own="lab.store"),
    "xtc_viz.lab.writer": rule(
        "torch",
        f"{RECORDS} lab.cell lab.experiment lab.news lab.store lab.suite models.base rows "
        "runs.protection runs.request",
    ),
    "xtc_viz.lab.workers": rule(
        "torch",
        "errors lab.cell lab.experiment lab.identity lab.news lab.writer lab.workers models.base "
        "records.modelinfo",
    ),
    "xtc_viz.lab.workers.desk": rule(own="lab.cell lab.news"),
    "xtc_viz.lab.workers.post": rule("torch", "errors lab.identity lab.news models.remote"),
    "xtc_viz.lab.workers.patient": rule(
        "torch",
        "errors lab.cell lab.experiment lab.identity lab.news lab.workers.post lab.writer "
        "models.remote records.modelinfo",
    ),
    "xtc_viz.lab.workers.servers": rule(
        "torch",
        "errors lab.cell lab.experiment lab.identity lab.news lab.workers.desk lab.workers.post "
        "lab.writer models.remote records.modelinfo",
    ),
    "xtc_viz.lab.workers.cluster": rule(
        "ray",
        "__version__ errors lab.cell lab.experiment lab.identity lab.news lab.writer models.base "
        "records.modelinfo",
    ),
    "xtc_viz.lab.runner": rule(
        "torch",
        "errors lab.cell lab.experiment lab.news lab.store lab.suite lab.workers models.base",
    ),
    "xtc_viz.lab.reading": rule(
        own=f"{RECORDS} lab.cell lab.checks lab.experiment lab.generation lab.store lab.suite "
        "runs.protection",
    ),
    "xtc_viz.lab.code": rule(),
    "xtc_viz.lab.code.child": rule(),
    "xtc_viz.lab.code.sandbox": rule(own="errors"),
    "xtc_viz.lab.code.answers": rule(own="errors lab.checks lab.code.sandbox"),
    "xtc_viz.lab.code.judging": rule(
        own="lab.cell lab.checks lab.code lab.reading lab.store lab.suite"
    ),
    "xtc_viz.lab.export": rule("pyarrow", "errors lab.cell lab.checks lab.store tablecell"),
    "xtc_viz.lab.command": rule(
        own="assets errors figures.export lab models.base models.fake models.local models.remote "
        "records.tracefile"
    ),
    "xtc_viz.plugins": rule(),
    "xtc_viz.plugins.transformers": rule(
        "torch transformers", "knobs runs.protection sampling.operator settings"
    ),
    "xtc_viz.plugins.vllm.ondevice": rule("torch"),
    "xtc_viz.plugins.vllm.parameters": rule(own="errors knobs"),
    "xtc_viz.plugins.vllm.slots": rule("torch", "plugins.vllm sampling.randomness"),
    "xtc_viz.plugins.vllm.v1": rule("torch vllm", "plugins.vllm"),
    "xtc_viz.plugins.vllm.v2": rule("torch vllm", "plugins.vllm"),
    "xtc_viz.audit": rule("numpy", "audit"),
    "xtc_viz.audit.asking": rule("numpy", "errors audit models.remote"),
    "xtc_viz.audit.coins": rule(
        "numpy", "errors models.remote records.step runs.chain runs.explained settings"
    ),
    "xtc_viz.audit.command": rule(own="errors settings audit models.remote"),
    "xtc_viz.figures": rule("plotly", f"{SAMPLING} figures"),
    "xtc_viz.ui": Rule(ANY, ANY),
    "xtc_viz.ui.limits": rule(own=CORE),
    "xtc_viz.ui.access": rule(own="ui.gate.names"),
    "xtc_viz.ui.flags": rule(
        own=f"{CORE} __version__ assets lab.command.base models.local.spec models.remote.address "
        "ui.access ui.gate ui.limits"
    ),
    "xtc_viz.ui.gate": rule("fastapi starlette", "errors ui.gate"),
    "app": rule(own="cli"),
    "setup": rule("setuptools"),
}


# These import all modules of their folder, whose own rules hold them.
for folder in (
    "xtc_viz.engines.forms",
    "xtc_viz.engines.known",
    "xtc_viz.sampling.stages",
    "xtc_viz.lab.command",
    "xtc_viz.lab.figures",
    "xtc_viz.lab.metrics",
):
    RULES[folder] = Rule(RULES[folder].third_party | {"an unknown module"}, RULES[folder].own)


def sources() -> dict[str, str]:
    """Return the source of every module of the app by its dotted name."""
    found: dict[str, str] = {}
    for path in [*sorted(ROOT.glob("*.py")), *sorted((ROOT / PACKAGE).rglob("*.py"))]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def imports(source: str, known: Mapping[str, object]) -> Iterator[str]:
    """Yield the dotted name of everything that `source` imports, as deep as it can be told.

    `from xtc_viz import settings` is `xtc_viz.settings`, for every name that the root gives.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "." * node.level + (node.module or "")
                continue
            module = node.module or ""
            for alias in node.names:
                full = f"{module}.{alias.name}"
                yield full if full in known or module == PACKAGE else module
        elif isinstance(node, ast.Call) and _is_dynamic(node.func):
            first = node.args[0] if node.args else None
            yield str(first.value) if isinstance(first, ast.Constant) else "an unknown module"


def _is_dynamic(func: ast.expr) -> bool:
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name in ("import_module", "__import__")


def violations(modules: Mapping[str, str]) -> list[str]:
    """Return one line for every import that a rule forbids."""
    return [
        f"{name} imports {target}: {reason}"
        for name, source in modules.items()
        for target in sorted(set(imports(source, modules)))
        if (reason := _forbidden(name, target))
    ]


def rule_of(name: str) -> Rule | None:
    """Return the rule that holds for a module."""
    fitting = [prefix for prefix in RULES if name == prefix or _under(name, prefix)]
    # The root's rule is for its `__init__` alone: a new module needs a rule of its own.
    fitting = [prefix for prefix in fitting if prefix != PACKAGE or name == PACKAGE]
    return RULES[max(fitting, key=len)] if fitting else None


def _forbidden(name: str, target: str) -> str:
    """Say why `name` must not import `target`; empty when it may."""
    allowed = rule_of(name)
    if allowed is None:
        return "this module has no rule"
    if target.startswith("."):
        return "imports are written in full"
    top = target.partition(".")[0]
    if top == PACKAGE:
        inner = target.removeprefix(f"{PACKAGE}.")
        fits = allowed.own == ANY or any(inner == a or _under(inner, a) for a in allowed.own)
        return "" if fits else "its rule does not allow it"
    if top in sys.stdlib_module_names:
        return ""
    return "" if allowed.third_party == ANY or top in allowed.third_party else "third-party"


def _under(name: str, prefix: str) -> bool:
    return name.startswith(f"{prefix}.")


def cycle(modules: Mapping[str, str]) -> list[str]:
    """Return the app's modules on one import cycle, in order, or nothing."""
    edges = {
        name: [t for t in sorted(set(imports(source, modules))) if t in modules and t != name]
        for name, source in modules.items()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for target in edges[name]:
            if found := visit(target, (*path, name)):
                return found
        done.add(name)
        return []

    return next((found for name in edges if (found := visit(name, ()))), [])


def test_the_house() -> None:
    assert violations(sources()) == []


def test_no_cycles() -> None:
    assert cycle(sources()) == []


def test_gradio_and_ui_stay_at_the_edge() -> None:
    for name, source in sources().items():
        if not f"{name}.".startswith("xtc_viz.ui."):
            targets = set(imports(source, {}))
            assert "gradio" not in {target.partition(".")[0] for target in targets}, name
            ui = {target for target in targets if f"{target}.".startswith("xtc_viz.ui.")}
            assert not ui or name == "xtc_viz.cli", name


def test_the_library_leaves_the_environment_alone_and_is_light() -> None:
    """Imported into somebody's program, it sets nothing, and brings torch and numpy at most."""
    code = (
        "import os, sys; before = dict(os.environ)\n"
        "from xtc_viz import XTCLogitsProcessor, XTCSettings, apply_xtc, protected_tokens\n"
        "from xtc_viz.decode import decode_lanes\n"
        "from xtc_viz.records import tracefile\n"
        "heavy = {'gradio', 'plotly', 'transformers', 'pandas', 'xtc_viz.ui'}\n"
        "print(dict(os.environ) == before, *heavy & sys.modules.keys())"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "True"), run.stderr


def test_what_needs_no_torch_imports_none() -> None:
    rules = {name: rule_of(name) for name in sources()}
    light = [name for name, own in rules.items() if own and not own.third_party]
    # The protocol names torch's tensors and needs no torch at run time.
    names = [*light, "xtc_viz.models.base"]
    assert {"xtc_viz.models.host", "xtc_viz.models.load", "xtc_viz.records.trace"} < {*names}
    code = f"import sys, {', '.join(names)}; print(*sys.modules.keys() & {{'torch', 'gradio'}})"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, ""), run.stderr


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("xtc_viz.settings", "import numpy", "numpy"),
        ("xtc_viz.settings", "def f():\n    import torch.nn", "torch.nn"),
        ("xtc_viz.records.trace",
         "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch", "torch"),
        ("xtc_viz.sampling.operator", "from transformers import LogitsProcessor", "transformers"),
        ("xtc_viz.sampling.stack", "from xtc_viz.models.base import LanguageModel",
         "xtc_viz.models.base"),
        ("xtc_viz.models.local.model", "from xtc_viz.sampling import stack",
         "xtc_viz.sampling.stack"),
        ("xtc_viz.models.host", "import torch", "torch"),
        ("xtc_viz.models.host", "from xtc_viz.models.local import model",
         "xtc_viz.models.local.model"),
        ("xtc_viz.models.local.newcomer", "import transformers", "transformers"),
        ("xtc_viz.decode", "from xtc_viz.models.local import model", "xtc_viz.models.local.model"),
        ("xtc_viz.decode", "import xtc_viz.ui.app", "xtc_viz.ui.app"),
        ("xtc_viz.figures.bars", "import gradio as gr", "gradio"),
        ("xtc_viz.figures.bars", "from xtc_viz.decode import Column", "xtc_viz.decode"),
        ("xtc_viz.sampling.rule", "from .settings import XTCSettings", ".settings"),
        ("xtc_viz.sampling.rule", "import importlib\nimportlib.import_module('torch')", "torch"),
        ("xtc_viz.sampling.rule", "name = 'x'\n__import__(name)", "an unknown module"),
        ("xtc_viz.newcomer", "import json", "json"),
        ("xtc_viz.runs.request", "from xtc_viz.ui.limits import Limits", "xtc_viz.ui.limits"),
        ("xtc_viz.runs.newcomer", "from xtc_viz.decode import Column", "xtc_viz.decode"),
        ("xtc_viz", "import xtc_viz.ui", "xtc_viz.ui"),
    ],
)  # fmt: skip
def test_an_offence_is_found(name: str, source: str, target: str) -> None:
    modules = {"xtc_viz.sampling.stack": "", "xtc_viz.models.local.model": ""} | {name: source}
    found = violations(modules)
    assert len(found) == 1
    assert found[0].startswith(f"{name} imports {target}: ")


def test_what_is_allowed_is_not_an_offence() -> None:
    modules = {
        "xtc_viz.records.tracefile": "import json\nfrom xtc_viz import __version__",
        "xtc_viz.models.fake": "from xtc_viz.models.base import Detokenizer\nimport torch",
        "xtc_viz.ui.app": "import gradio\nfrom xtc_viz.decode import decode_lanes",
        "app": "from xtc_viz.cli import main",
    }
    assert violations(modules) == []


def test_a_cycle_is_found() -> None:
    modules = {
        "xtc_viz.sampling.rule": "from xtc_viz.records import trace",
        "xtc_viz.records.trace": "import xtc_viz.sampling.rule",
    }
    assert cycle(modules) == [
        "xtc_viz.sampling.rule",
        "xtc_viz.records.trace",
        "xtc_viz.sampling.rule",
    ]
