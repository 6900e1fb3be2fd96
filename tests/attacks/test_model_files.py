"""Model folders made to harm: each is refused in our own words, nothing of it runs, little memory
is taken, and whatever it makes slow can be ended.

Issue 11, points 7 and 8. Most go to `make_view`, which every load goes through first; one of each
class goes through the page's own question, as a visitor would.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models import tiny
from tests.ui.test_models import Desk
from xtc_viz.errors import ModelError, PromptError
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local import apart
from xtc_viz.models.local.folder.files import CONFIG, INDEX, WEIGHTS, make_view
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.sideprocess import Cost

PATIENCE = 120.0  # seconds for a load: its process begins slowly on a busy machine
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save_model("llama", tmp_path_factory.mktemp("honest") / "mine")


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Path:
    """A tiny model of one's own, to turn into a hostile one."""
    return Path(shutil.copytree(honest, tmp_path / "mine"))


def edit(file: Path, **values: object) -> None:
    old = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(old | values))


def refusal(folder: Path) -> str:
    """Return in which words a folder is refused."""
    view = folder.parent / "view"
    shutil.rmtree(view, ignore_errors=True)
    view.mkdir()
    with pytest.raises(ModelError) as caught:
        make_view(folder, view, "mine")
    return str(caught.value)


def view_of(folder: Path) -> Path:
    view = folder.parent / "view"
    view.mkdir()
    make_view(folder, view, "mine")
    return view


class Harm:
    """Runs when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


# What an index may name

OTHERS = [
    "pytorch_model.bin",
    "model.safetensors.bin",
    "../model.safetensors",
    "/etc/passwd",
    "sub/model.safetensors",
    "..\\model.safetensors",
    "C:\\model.safetensors",
    ".hidden.safetensors",
    "model.safetensors\x00.bin",
    "model.safetensors\n",
    "~/model.safetensors",
    "https://example.org/model.safetensors",
    "",
    None,
    7,
    ["model.safetensors"],
    {"file": "model.safetensors"},
]


@pytest.mark.parametrize("file", OTHERS, ids=repr)
def test_an_index_names_plain_safetensors_files_of_its_folder_only(
    folder: Path, file: object
) -> None:
    (folder / WEIGHTS).rename(folder.parent / WEIGHTS)  # there, should anyone follow
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Harm(folder.parent / "harm")))
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": {"a.weight": file}}))
    words = refusal(folder)
    assert "Only safetensors files of the same folder are read" in words
    assert len(words) < 400
    assert not (folder.parent / "harm").exists()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(max_size=40))
def test_no_other_name_gets_through(folder: Path, name: str) -> None:
    (folder / WEIGHTS).unlink(missing_ok=True)
    (folder / INDEX).write_text(json.dumps({"weight_map": {"a": name}}))
    words = refusal(folder)
    assert "Only safetensors files" in words or "is missing" in words


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"weight_map": []}', '{"weight_map": {}}'])
def test_an_index_without_a_map(folder: Path, content: str) -> None:
    (folder / WEIGHTS).unlink()
    (folder / INDEX).write_text(content)
    assert INDEX in refusal(folder)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("file", [CONFIG, WEIGHTS, "tokenizer.json", "generation_config.json"])
def test_no_link_leads_out_of_the_folder(folder: Path, file: str) -> None:
    outside = folder.parent / "outside"
    (folder / file).rename(outside)
    (folder / file).symlink_to(outside)
    assert refusal(folder) == f"{file} of mine is a link out of its folder, and is not followed."


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_the_links_of_the_hubs_cache_are_followed(folder: Path) -> None:
    repository = folder.parent / "models--a--b"
    snapshot = repository / "snapshots" / "0123abcd"
    (repository / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, file in enumerate(folder.iterdir()):
        file.rename(repository / "blobs" / str(number))
        (snapshot / file.name).symlink_to(Path("..", "..", "blobs", str(number)))
    view = folder.parent / "view"
    view.mkdir()
    assert make_view(snapshot, view, "b").size > 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
@pytest.mark.parametrize("file", [CONFIG, WEIGHTS, "tokenizer.json", "chat_template.jinja"])
def test_nobody_waits_for_a_pipe(folder: Path, file: str) -> None:
    (folder / file).unlink()
    os.mkfifo(folder / file)
    assert refusal(folder) == f"{file} of mine is no plain file."


# What else a folder may hold

BESIDE = {
    "adapter_config.json": '{"base_model_name_or_path": "somebody/else", "peft_type": "LORA"}',
    "modeling_own.py": "raise SystemExit('this must never run')",
    "custom_generate/generate.py": "raise SystemExit('this must never run')",
    "__0_0.distcp": "pickled",
    ".metadata": "pickled",
    "pytorch_model.bin": "pickled",
    "tekken.json": "{}",
    "config.4.0.0.json": "{}",
    "preprocessor_config.json": '{"auto_map": {"AutoProcessor": "own.P"}}',
}


def test_libraries_see_nothing_but_what_is_known_to_be_data(folder: Path) -> None:
    for name, content in BESIDE.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    seen = {path.name for path in view_of(folder).rglob("*")}
    assert seen == {
        CONFIG,
        WEIGHTS,
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "chat_template.jinja",
    }


def test_no_config_says_what_runs_or_where_else_something_lies(folder: Path) -> None:
    bad: dict[str, Any] = {
        "auto_map": {"AutoConfig": "own.Config"},
        "attn_implementation": "somebody/kernel",
        "_attn_implementation": "somebody/kernel@main:forward",
        "_attn_implementation_internal": "somebody/kernel",
        "experts_implementation": "somebody/kernel",
        "kernel_config": {"RMSNorm": "somebody/kernel:RMSNorm"},
        "use_kernels": True,
        "fusion_config": {"a": 1},
        "custom_generate": "somebody/else",
        "transformers_weights": "../other.safetensors",
        "configuration_files": ["config.4.0.0.json"],
        "tokenizer_file": "/etc/passwd",
        "vocab_file": "/etc/passwd",
        "gguf_file": "model.gguf",
        "name_or_path": "somebody/else",
        "_name_or_path": "somebody/else",
    }
    for file in (CONFIG, "generation_config.json", "tokenizer_config.json"):
        edit(folder / file, **bad, text_config=bad, inner=[bad])
    view = view_of(folder)
    for file in (CONFIG, "generation_config.json", "tokenizer_config.json"):
        values = json.loads((view / file).read_text())
        assert not bad.keys() & values.keys()
        assert values["text_config"] == {}
        assert values["inner"] == [{}]
    # What only looks like it stays.
    assert json.loads((view / CONFIG).read_text())["hidden_size"] == 32


@pytest.mark.parametrize("method", ["quanto", "hqq", "torchao", "fbgemm_fp8", "own", 7])
def test_weights_that_others_code_would_unpack(folder: Path, method: object) -> None:
    edit(folder / CONFIG, quantization_config={"quant_method": method})
    assert "others run code of their own" in refusal(folder)


# What heads and configs claim


def write_head(file: Path, head: Any, data: bytes = b"") -> None:
    content = head if isinstance(head, bytes) else json.dumps(head).encode()
    file.write_bytes(struct.pack("<Q", len(content)) + content + data)


def one(**fields: object) -> dict[str, Any]:
    return {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | fields}


HEADS: list[Any] = [
    b"",
    b"{",
    b"[]",
    b'{"a":' * 30_000,
    {"w": 1},
    {"w": {}},
    one(dtype="F99"),
    one(dtype=None),
    one(shape=[-2]),
    one(shape="2"),
    one(shape=[2.0]),
    one(shape=[True, 2]),
    one(shape=[1 << 70]),
    one(shape=[1] * 1000),
    one(shape=[1 << 40], data_offsets=[0, 1 << 42]),
    one(data_offsets=[8, 0]),
    one(data_offsets=[0]),
    one(data_offsets=[0, 16]),
    one(data_offsets=[4, 8]),
    one(data_offsets=None),
]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: str(head)[:60])
def test_a_head_is_held_against_its_file(folder: Path, head: Any) -> None:
    write_head(folder / WEIGHTS, head, b"\0" * 8)
    words = refusal(folder)
    assert WEIGHTS in words
    assert "mine" in words
    assert len(words) < 300


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff" * 8, struct.pack("<Q", 1 << 62) + b"{}"])
def test_a_file_that_ends_within_its_head(folder: Path, content: bytes) -> None:
    (folder / WEIGHTS).write_bytes(content)
    assert "ends within its head" in refusal(folder)


def test_a_head_is_not_read_at_any_length(folder: Path) -> None:
    with (folder / WEIGHTS).open("wb") as file:
        file.write(struct.pack("<Q", 1 << 33))
        file.truncate((1 << 33) + 8)  # takes no disk
    assert "has a head of 8,589,934,592 bytes" in refusal(folder)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200), data=st.binary(max_size=20))
def test_no_head_ends_in_another_librarys_words(folder: Path, content: bytes, data: bytes) -> None:
    write_head(folder / WEIGHTS, content, data)
    assert "mine" in refusal(folder)


@pytest.mark.parametrize(
    "key", ["num_hidden_layers", "n_layer", "num_layers", "n_layers", "depth", "decoder_layers"]
)
def test_more_layers_than_tensors(folder: Path, key: str) -> None:
    edit(folder / CONFIG, text_config={key: 2_000_000})
    assert refusal(folder) == (
        f"config.json of mine says {key}: 2,000,000, but its weights have 21 tensors in all."
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1]", b"null", b"\xff\xfe", b'{"a":' * 50_000, b'{"a": 1' + b"0" * 5000 + b"}"],
    ids=lambda content: str(content[:12]),
)
@pytest.mark.parametrize("file", [CONFIG, "generation_config.json", "tokenizer.json"])
def test_broken_json_names_its_file(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    words = refusal(folder)
    assert words.startswith(f"{file} of mine is broken: ")
    assert len(words) < 200


@pytest.mark.parametrize("file", [CONFIG, INDEX, "tokenizer.json", "chat_template.jinja"])
def test_files_are_bounded(folder: Path, file: str) -> None:
    (folder / WEIGHTS).rename(folder / "model-1.safetensors")
    (folder / INDEX).write_text(
        json.dumps({"weight_map": {"lm_head.weight": "model-1.safetensors"}})
    )
    with (folder / file).open("r+b") as stream:
        stream.truncate(1 << 33)
    assert file in (words := refusal(folder))
    assert "read" in words


# As a visitor, through the page


def told(folder: Path) -> str:
    """Return what a visitor is told who chose this folder."""
    desk = Desk(ModelHost(loader=LocalLoader()))
    load = desk.choose(folder)
    deadline = time.monotonic() + PATIENCE
    while desk.ask("hello", load)["own"]["state"] in ("loading", "waiting"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    answer = desk.ask("hello", load)["own"]
    assert answer["state"] == "failed", answer
    return str(answer["words"])


def missing_weights(folder: Path) -> None:
    edit(folder / CONFIG, num_hidden_layers=400, hidden_size=65_536, intermediate_size=262_144)


VISITS: dict[str, tuple[Callable[[Path], object], str]] = {
    "weights are missing": (
        lambda folder: edit(folder / CONFIG, num_hidden_layers=3),
        "incomplete: there is no model.layers.2.input_layernorm.weight (and 8 more)",
    ),
    "a huge model without weights": (missing_weights, "The weights of mine are"),
    "of another shape": (
        lambda folder: edit(folder / CONFIG, hidden_size=48),
        "is [437, 32], and should be [437, 48]",
    ),
    "of the wrong kind": (
        lambda folder: edit(folder / CONFIG, hidden_size="big"),
        "config.json of mine is broken: ",
    ),
    "of no known kind": (
        lambda folder: edit(folder / CONFIG, model_type="llamma"),
        "says `model_type` 'llamma', which is unknown to the installed transformers",
    ),
    "of no kind": (lambda folder: edit(folder / CONFIG, model_type=None), "says no `model_type`"),
    "no tokenizer": (
        lambda folder: (folder / "tokenizer.json").unlink(),
        "mine has no tokenizer: there is no tokenizer.json",
    ),
    "half a tokenizer": (
        lambda folder: edit(folder / "tokenizer.json", model={"type": "BPE"}),
        "The tokenizer of mine (tokenizer.json) cannot be used: ",
    ),
    "no token": (
        lambda folder: edit(folder / "generation_config.json", eos_token_id="x"),
        "generation_config.json of mine is broken: `eos_token_id` must be a token id, but is 'x'.",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("visit", VISITS, ids=str)
def test_it_is_told_which_file_and_what(folder: Path, visit: str) -> None:
    harm, words = VISITS[visit]
    harm(folder)
    with pytest.raises(ModelError) as caught:  # what a visitor is told, but sooner
        LocalModel.load(str(folder))
    assert words in (answer := str(caught.value))
    assert str(folder.parent) not in answer
    assert len(answer) < 400


@pytest.mark.slow
@pytest.mark.parametrize("visit", ["weights are missing", "no tokenizer", "no token"])
def test_a_visitor_is_told_the_same_by_the_page(folder: Path, visit: str) -> None:
    harm, words = VISITS[visit]
    harm(folder)
    assert words in (answer := told(folder))
    assert str(folder.parent) not in answer


@pytest.mark.slow
def test_a_model_that_the_machine_has_no_memory_for(folder: Path) -> None:
    """Its file is as large as it says, and takes no disk."""
    size = (1 << 37) // 4
    with (folder / WEIGHTS).open("r+b") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        head = json.loads(file.read(length))
    embedding = head["model.embed_tokens.weight"]
    rows = size // 32
    other = [end for key, value in head.items() if key != "__metadata__"
             for end in value["data_offsets"][1:]]  # fmt: skip
    end = max(other)
    for key in ("model.embed_tokens.weight", "lm_head.weight"):
        head[key] = {**embedding, "shape": [rows, 32], "data_offsets": [end, end + rows * 128]}
        end += rows * 128
    write_head(folder / WEIGHTS, head)
    with (folder / WEIGHTS).open("r+b") as file:
        file.truncate((folder / WEIGHTS).stat().st_size + end)
    edit(folder / CONFIG, vocab_size=rows)
    words = told(folder)
    assert "mine does not fit: its weights need 274.9 GB of memory, and this " in words


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of /proc")
def test_little_memory_is_taken_before_a_folder_is_refused(folder: Path) -> None:
    """The peak of the page's process and of the one that looks at the folder."""
    missing_weights(folder)
    code = f"""
        import resource
        from xtc_viz.errors import ModelError
        from xtc_viz.models.host import ModelHost
        from xtc_viz.models.local.loader import LocalLoader
        from xtc_viz.models.local.spec import LocalSpec

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            ModelHost(loader=LocalLoader()).load(LocalSpec({str(folder)!r}))
        except ModelError:
            own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            other = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            print(own >> 10, other >> 10)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True
    )
    own, other = map(int, run.stdout.split())
    assert own < 100, f"{own} MB"
    assert other < 1000, f"{other} MB"


# What a model's files make slow

LOOPS = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """One second for a text, so that the tests need not wait for five."""
    monkeypatch.setattr(apart, "TEXT", Cost(1.0, apart.TEXT.memory))


@pytest.mark.slow
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("template", ["{% for %}", "{{ m.x.y }}", "{{ raise_exception('no') }}"])
def test_a_template_that_is_broken(folder: Path, template: str) -> None:
    (folder / "chat_template.jinja").write_text(template)
    with pytest.raises(PromptError, match=r"^The chat template of mine does not take this: "):
        LocalModel.load(str(folder)).encode_chat("hello")


@pytest.mark.slow
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("template", [LOOPS, "{{ 'a' * 9999999999 }}"], ids=["loops", "memory"])
def test_a_template_that_never_ends(folder: Path, template: str) -> None:
    (folder / "chat_template.jinja").write_text(template)
    host = ModelHost(loader=LocalLoader())
    host.load(LocalSpec(str(folder)))
    model = host.resident
    assert model
    with pytest.raises(PromptError, match=r"^The chat template of mine "):
        model.encode_chat("hello")
    # The tokenizer is there again.
    assert model.encode("hello")


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_a_pattern_that_never_ends(folder: Path) -> None:
    pattern = {"type": "Split", "pattern": {"Regex": "(a|aa)+$"}, "behavior": "Isolated"}
    edit(folder / "tokenizer.json", pre_tokenizer=pattern | {"invert": False})
    host = ModelHost(loader=LocalLoader())
    host.load(LocalSpec(str(folder)))
    assert host.resident
    for text in ("a" * 60 + "b", ("a" * 24 + "b") * 300):
        with pytest.raises(PromptError, match=r"^The tokenizer of mine "):
            host.resident.encode(text)
    assert host.resident.encode("hello")


@pytest.mark.slow
def test_a_tokenizer_that_takes_minutes_is_stopped_at_once(folder: Path) -> None:
    values = json.loads((folder / "tokenizer.json").read_text())
    count = len(values["model"]["vocab"]) + len(values["added_tokens"])
    plain = dict.fromkeys(("special", "single_word", "lstrip", "rstrip", "normalized"), False)
    values["added_tokens"] += [
        {"id": count + i, "content": "a" * 21 + f"b{i}", **plain} for i in range(20_000)
    ]
    values["decoder"] = {"type": "Replace", "pattern": {"Regex": "(a|aa)+$"}, "content": "x"}
    edit(folder / "tokenizer.json", **values)
    host = ModelHost(loader=LocalLoader())
    load = host.load_in_background(LocalSpec(str(folder)))
    deadline = time.monotonic() + PATIENCE
    while not (host.state.load and "tokenizer" in host.state.load.words):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(2)
    assert not load.wait(0)
    begin = time.monotonic()
    host.stop_load(load.id)
    assert load.wait(PATIENCE)
    assert time.monotonic() - begin < 2
    assert load.failure == "Loading mine was stopped."
