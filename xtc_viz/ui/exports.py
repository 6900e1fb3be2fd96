"""What can be taken away from the page: a table of steps, and a replay that needs no server."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import date
from html import escape

from xtc_viz import tablecell
from xtc_viz.records.columns import COLUMNS
from xtc_viz.records.trace import Trace
from xtc_viz.runs.reasoning import answer_step, begins_in_thought, prompt_end
from xtc_viz.settings import LaneSettings, SamplerSettings
from xtc_viz.texts import mended
from xtc_viz.ui import payload, web
from xtc_viz.ui.run import Run

ORIGIN = ("lane", "rho", "tau", "settings", "seed", "model", "prompt")
"""What a row must say of its lane and run, so that it can be read apart from them."""
CELLS = {column.name: column.cell for column in COLUMNS if column.cell}
OFF = "off"  # the outcome of every step of a lane whose ρ is 0
PROMPT = 200  # characters of the prompt in a row of the table
REPLAY_CANDIDATES = 25


def table(trace: Trace) -> str:
    """Return the steps of all lanes as CSV, one row a step: how it was written (`ORIGIN`), the
    columns of the records that have a cell, and what follows from them.

    The outcome of a lane whose ρ is 0 is `off`. Texts are cells as `tablecell` has them, in quotes.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    out.write(",".join((*ORIGIN, "position", *CELLS, "changed", "tail", "thought")) + "\n")
    writer.writerows(map(_guarded, row) for row in _rows(trace))
    return out.getvalue()


def _rows(trace: Trace) -> Iterator[tuple[object, ...]]:
    texts = trace.vocabulary
    thinking = begins_in_thought(prompt_end(trace))
    run = (trace.settings.seed, trace.model.name, _short(trace.prompt))
    for lane in trace.lanes:
        xtc = lane.settings.sampler.xtc
        origin = (lane.settings.name, xtc.rho, xtc.tau, _changes(lane.settings), *run)
        thought = answer_step(
            (step.text or texts[step.token] for step in lane.steps), thinking=thinking
        )
        for i, step in enumerate(lane.steps):
            values = {name: cell(getattr(step, name), texts) for name, cell in CELLS.items()}
            if xtc.rho == 0:
                values["outcome"] = OFF
            said = (step.changed, step.from_tail, i < thought)
            yield (*origin, i, *values.values(), *said)


def _short(prompt: str) -> str:
    """Return a prompt that may stand in every row."""
    return prompt if len(prompt) <= PROMPT else f"{prompt[: PROMPT - 1]}…"


def _guarded(cell: object) -> object:
    return tablecell.cell(cell) if isinstance(cell, str) else cell


def described(run: Run, day: date) -> str:
    """What a file must say of a run that is looked at much later: model, seed, day, settings."""
    lanes = "; ".join(f"{lane.settings.name} ({_changes(lane.settings)})" for lane in run.lanes)
    dice = "shared dice" if run.settings.shared_randomness else "dice of its own for each lane"
    if run.settings.server_draws:
        dice = "the dice of its server, which drew it"
    return (
        f"A run of {run.model.name} with seed {run.settings.seed} and {dice}, "
        f"kept on {day.isoformat()}. Lanes: {lanes}."
    )


def _changes(lane: LaneSettings) -> str:
    """Return a lane's settings that are not the defaults, by their names."""
    given, plain = lane.sampler.to_dict(), SamplerSettings().to_dict()
    xtc, off = given.pop("xtc"), plain.pop("xtc")
    acts = {k: v for k, v in xtc.items() if k in ("rho", "tau") or v != off.get(k)}
    acts.pop("protected", None)
    parts = {k: v for k, v in given.items() if v != plain[k]} | (acts if xtc["rho"] else {})
    return ", ".join(f"{name} {value}" for name, value in parts.items()) or "plain sampling"


def replay(run: Run, spec: dict[str, object], day: date) -> str:
    """Return a page of its own that shows a run offline: lanes, timeline and inspector.

    Its head says which model, seed and settings wrote it, and that it was kept on this `day`.
    """
    blocks = {
        f"{k}/{index}": run.block(k, index, REPLAY_CANDIDATES)
        for k, lane in enumerate(run.lanes)
        for index in range(-(-len(lane.steps) // payload.BLOCK))
    }
    content = {"spec": spec, "message": run.whole("replay"), "blocks": blocks}
    data = payload.encode({**content, "kept": day.isoformat()})
    data = data.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    # Within a script element only "<" could end it, and `encode` leaves none.
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n"
        f'<meta name="description" content="{escape(mended(described(run, day)))}">\n'
        f"<title>xtc_viz replay: {escape(mended(run.model.name))}, "
        f"seed {run.settings.seed}</title>\n"
        f"<style>{web.style()}</style></head>\n"
        '<body style="margin:0"><main class="xtc"></main>\n'
        f"<script>\n{web.script('replay')}\n"
        f"module_replay.startReplay(document.querySelector('.xtc'), {data});\n"
        "</script></body></html>\n"
    )
