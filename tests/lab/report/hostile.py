"""A stored run full of hostile texts: of a model, of prompts, and as names."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.runner import run
from xtc_viz.lab.suite import Suite
from xtc_viz.models.fake import FakeModel
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings

OWNED = "document.title='owned'"
TEXTS = (
    f"</script><script>{OWNED}</script> and so on, and so on, and so on",
    f'<img src=x onerror="{OWNED}"> & <b>bold</b> &lt;i&gt;',
    f"{{{{ 7*7 }}}} {{% raw %}} ]]> --> <!-- javascript:{OWNED} '\"><svg onload={OWNED}>",
    "\u202eright to left\u202c \u2066a\u2069 \u200f\ufeff\x00\x07\x1b[31m\x85\u2028 ends \ud800 "
    "\udc00",
    "a | pipe\nand a line\r\n\n| a | row |\n|---|---|\n# heading ``` fence",
    "[link](javascript:alert(1)) ![x](http://evil.example/x.png) www.evil.example a@b.example",
)
NAMES = (
    f"</script><script>{OWNED}</script>",
    "a|b\n# c `d` *e* [f](javascript:g) <b>",
    f'"><img src=x onerror={OWNED}> \u202e',
)
HOSTILE = Experiment(
    name=f"</title><script>{OWNED}</script>|x",
    question=f"Does it <script>{OWNED}</script> | work?\n\n# No \u202e",
    suite="hostile",
    conditions=tuple(
        LaneSettings(name, SamplerSettings(xtc=XTCSettings(rho=rho)))
        for name, rho in zip(NAMES, (0.0, 0.5, 1.0), strict=True)
    ),
    samples=2,
    length=12,
)
SUITE = Suite.from_dict(
    {
        "name": "hostile",
        "prompts": [
            {
                "id": f"p{i}",
                "genre": f"genre {i} </h3><script>{OWNED}</script>",
                "kind": "continue",
                "openness": "open",
                "prompt": text.replace("\ud800", "").replace("\udc00", ""),
            }
            for i, text in enumerate(TEXTS)
        ],
    }
)


def write(path: Path) -> None:
    """Run it into a store, and put the hostile texts in place of what the model wrote."""
    from xtc_viz.lab.store import Store

    with Store(path) as store:
        for _ in run(HOSTILE, SUITE, FakeModel(), store):
            pass
    with sqlite3.connect(path) as database:
        names = [row[0] for row in database.execute("SELECT name FROM cells ORDER BY name")]
        for i, name in enumerate(names):
            text = f"{TEXTS[i % len(TEXTS)]} {i}"
            kept = text.encode("utf-8", "surrogatepass")
            database.execute("UPDATE cells SET text = ? WHERE name = ?", (kept, name))
    database.close()


STORY = replace(EXPERIMENTS["main"], suite="story", prompts=6, samples=2, length=24)
"""A plain run, quickly."""
