"""A link from anybody: what the page makes of it can be run, and what cannot be is named."""

from __future__ import annotations

import base64
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.values import changed, complaint, request
from xtc_viz.errors import SettingsError
from xtc_viz.ui import controls

ROOT = Path(__file__).parents[2]
READ = """
import { readFileSync } from "node:fs";
const { fromLink } = await import(process.argv[1] + "/assets/web/session/link.js");
const { spec, hashes } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(hashes.map((hash) => fromLink(hash, spec))));
"""
pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node")


def link(text: str) -> str:
    data = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass"))
    return f"#run={data.decode().rstrip('=')}"


def opened(hashes: list[str]) -> list[Any]:
    """Return what the page makes of these addresses."""
    command = ["node", "--input-type=module", "-e", READ, ROOT.as_uri()]
    sent = json.dumps({"spec": controls.specification(), "hashes": hashes})
    done = subprocess.run(
        command, input=sent, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    made: list[Any] = json.loads(done.stdout)
    return made


def refused_field(asked: object) -> str:
    """The field for which the server refuses a request, "" where it takes it."""
    try:
        controls.parse(asked)
    except SettingsError as error:
        return error.parameter
    return ""


def test_bad_links_become_requests_that_run() -> None:
    dice = random.Random(5)
    plain = {name: value for name, value in request().items() if name not in ("kind", "req")}
    whole = {"v": 1, "draft": plain, "selected": {"lane": 1, "i": 2}, "presenting": False}
    datas = [whole, *(changed(dice, whole) for _ in range(600))]
    named = 0
    [right, *others] = opened([link(json.dumps(data)) for data in datas])
    assert right == {"request": {k: whole[k] for k in whole if k != "v"}, "words": ""}
    for data, made in zip(datas[1:], others, strict=True):
        named += bool(made["words"])
        assert not made["words"] or not complaint(made["words"]), f"{data!r:.300}"
        if made["request"] is None:
            continue
        asked = made["request"]["draft"]
        # Said by the page at its field: an empty prompt, a temperature between 0 and 0.01.
        assert refused_field(asked) in ("", "prompt", "temperature"), f"{data!r:.300}"
        place = made["request"]["selected"]
        assert place is None or 0 <= place["lane"] < len(asked["settings"]["lanes"])
    assert named > 300


@pytest.mark.parametrize(
    "text", ["", "garbage", "{}", "null", "[]", '{"v": 2}', '{"v": 1}', '{"v": 1, "draft": 5}',
             '{"v": 1, "draft": {"prompt": "\ud800"}', "[" * 100_000]
)  # fmt: skip
@pytest.mark.slow
def test_a_link_that_holds_no_request_says_so(text: str) -> None:
    for hash in (link(text), f"#run={text}", f"#run=%{text}"):
        [made] = opened([hash])
        assert made["request"] is None
        assert made["words"].startswith("This link ")
    assert opened(["", "#other", "#"]) == [None, None, None]
