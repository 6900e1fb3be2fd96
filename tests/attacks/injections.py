"""Texts that would run a script, wherever one of them is taken for more than text."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xtc_viz.models.fake import FIRST_WORD, WORDS, FakeModel
from xtc_viz.records import tracefile
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings

RAN = "xtcRan(1)"
"""What an injection calls; the page under attack notes it."""

_PLAIN = (
    "<script>{0}</script>", "<img src=x onerror={0}>", "<svg onload={0}>", "<svg/onload={0}//",
    "<iframe srcdoc='<script>parent.{0}</script>'></iframe>", "<body onload={0}>",
    "<details open ontoggle={0}>", "<input autofocus onfocus={0}>", "<video><source onerror={0}>",
    "<a href=javascript:{0}>x</a>", "<form><button formaction=javascript:{0}>x</button></form>",
    "<math><mtext></mtext><script>{0}</script></math>", "<object data='javascript:{0}'></object>",
    "<style>@import 'javascript:{0}';</style>", "<link rel=stylesheet href=http://evil.example/x>",
    "<meta http-equiv=refresh content='0;url=javascript:{0}'>", "<base href=http://evil.example/>",
    "<img src=http://evil.example/x>", "<template><script>{0}</script></template>",
    "{{{{{0}}}}}", "${{{0}}}", "#{{{0}}}", "<%= {0} %>", "[[{0}]]", "{{% {0} %}}", "`${{{0}}}`",
    "javascript:{0}", "data:text/html,<script>{0}</script>", "url(javascript:{0})",
    "expression({0})", "__proto__", "constructor.constructor('{0}')()", "';{0};//", '";{0};//',
    "\\\\';{0};//", "*/{0}/*", "-->{0}<!--", "</script><script>{0}</script>",
    "]]><script>{0}</script>", "</style><script>{0}</script>", "</textarea><script>{0}</script>",
    "</title><script>{0}</script>", "<!--<script>{0}</script>", "\u2028{0}\u2029",
    "<noscript><p title='</noscript><img src=x onerror={0}>'>",
    "=HYPERLINK(\"javascript:{0}\")", "=cmd|'/c calc'!A1", "%3Cscript%3E{0}%3C/script%3E",
    "&lt;script&gt;{0}&lt;/script&gt;", "&#60;script&#62;{0}&#60;/script&#62;",
    "<b>Plotly</b><a href='javascript:{0}'>x</a>", "<sub><img src=x onerror={0}></sub>",
)  # fmt: skip
_AROUND = (
    "{}",
    '"{}',
    "'{}",
    "'>{}",
    '">{}',
    "</div>{}",
    "\\{}",
    "{}\x00",
    "\n{}",
    " {} ",
    "\u202e{}",
)


def injections(seed: int, count: int) -> list[str]:
    """Return `count` injections: the known ways, each behind what may end a text or a mark."""
    dice = random.Random(seed)
    every = [around.format(plain.format(RAN)) for plain in _PLAIN for around in _AROUND]
    dice.shuffle(every)
    texts: dict[str, None] = {}
    for text in _varied(dice, every):
        if len(texts) == count:
            break
        texts[text] = None
    return list(texts)


def _varied(dice: random.Random, texts: Sequence[str]) -> Iterator[str]:
    """Yield the texts, and then for ever variants with other letters and blanks."""
    yield from texts
    for text in cycle(texts):
        letters = [c.upper() if dice.random() < 0.2 and c not in RAN else c for c in text]
        blank = dice.choice((" ", "\t", "\n", "/", "\x0c", "\u00a0"))
        yield "".join(letters).replace(" ", blank)


def _endless(ids: tuple[int, ...]) -> NDArray[np.float64]:
    """Logits of a model that never ends a text."""
    logits = np.random.default_rng(len(ids)).normal(0.0, 3.0, FIRST_WORD + len(WORDS))
    logits[:FIRST_WORD] = -np.inf
    return logits


def trace_of(texts: Sequence[str]) -> str:
    """Return a trace file in which every text that someone could choose is one of these."""
    lanes = tuple(LaneSettings(name) for name in ("one", "two"))
    settings = RunSettings(lanes, max_new_tokens=max(1, len(texts) // 2), seed=3)
    data: dict[str, Any] = json.loads(
        tracefile.dumps(record(FakeModel(logits=_endless), Request("Once", settings)))
    )
    every = cycle(texts)
    data["prompt"], data["system"] = next(every), next(every)
    data["model"]["name"], data["model"]["revision"] = next(every), next(every)
    data["vocabulary"]["texts"] = [next(every) for _ in data["vocabulary"]["texts"]]
    for lane in data["lanes"]:
        lane["settings"]["name"] = next(every)[:60]
        lane["steps"]["text"] = [next(every) for _ in lane["steps"]["text"]]
        lane["steps"][next(every)[:60]] = [0] * len(lane["steps"]["text"])
    for settings_of, lane in zip(data["settings"]["lanes"], data["lanes"], strict=True):
        settings_of["name"] = lane["settings"]["name"]
    return json.dumps(data)
