"""Which models the page may choose, and what it is told of the one in use and of loads.

Who may choose is decided when the server starts (`ui.access`) and held here, whatever a page asks
for.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import BusyError, ModelError, SettingsError, Words
from xtc_viz.models.catalog import catalog
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import Load
from xtc_viz.models.local.spec import ATTENTIONS, LocalSpec
from xtc_viz.models.remote.address import is_address
from xtc_viz.models.spec import ModelSpec
from xtc_viz.models.state import HostState, LoadState
from xtc_viz.ui import payload
from xtc_viz.ui.access import May
from xtc_viz.ui.offers import (
    AUTO,
    choices,
    devices,
    embedded,
    entries,
    one_of,
    precision_of,
)
from xtc_viz.ui.servers import NO_SERVERS, Servers

MAX_NAME = 300  # characters of a hub id, a folder or a revision
MAX_LOADS = 4  # that are not over; more than one waits for the one before it
MAX_KEPT = 100  # loads whose end is remembered for the pages that began them


def parse_choice(data: object, may: May, servers: Servers = NO_SERVERS) -> ModelSpec:
    """Return what a page chose to load: `name`, and `revision`, `precision`, `device`, `attention`,
    or the `key` and the `tokenizer` of a server, whose address then is the name.

    Raises:
        SettingsError: a value that cannot be, by its name.
        ModelError: visitors may not choose.
    """
    if may is May.FIXED:
        raise ModelError(
            "The model of this server is fixed. Who runs it can let visitors choose with "
            "--models catalog or --models all."
        )
    if not isinstance(data, Mapping):
        raise SettingsError("model", "an object with named values", data)
    names = ("name", "revision", "precision", "device", "attention", "key", "tokenizer")
    for key in data:
        if key not in names:
            raise SettingsError(str(key), f"one of {', '.join(names)}", key)
    name = _text("name", data.get("name", ""))
    revision = _text("revision", data.get("revision") or "") or None
    if is_address(name):
        folder = _text("tokenizer", data.get("tokenizer") or "")
        return servers.choose(name, _secret(data.get("key") or ""), folder)
    if not name:
        raise SettingsError("name", "a hub id, such as Qwen/Qwen3-0.6B, or a folder", name)
    listed = {embedded().id, *(model.id for model in catalog())}
    if may is May.CATALOG and name not in listed:
        raise SettingsError("name", "a model of the catalog on this server", name)
    if revision and (may is May.CATALOG or name == embedded().id):
        # Anyone may put a revision on the hub, as a pull request.
        raise SettingsError("revision", "empty for this model", revision)
    precision = precision_of(data.get("precision", AUTO))
    quantized = precision is not None and precision.quantized
    return LocalSpec(
        str(STORY_MODEL) if name == embedded().id else os.path.expanduser(name),
        revision=revision,
        device=one_of("device", data.get("device", AUTO), devices()),
        dtype=AUTO if precision is None or quantized else str(precision),
        quantization=str(precision) if precision and quantized else "none",
        attention=one_of("attention", data.get("attention", AUTO), ATTENTIONS),
    )


class LoadLog:
    """The loads that pages began, and how each of them ended."""

    def __init__(self, host: ModelHost) -> None:
        self._host = host
        self._loads: OrderedDict[str, Load] = OrderedDict()

    def begin(self, spec: ModelSpec) -> str:
        """Load a model in the background and return the load's id."""
        waiting = len(self._host.load_ids)
        if waiting >= MAX_LOADS:
            raise BusyError(f"{waiting} models are being loaded already: try again in a moment.")
        load = self._host.load_in_background(spec)
        self._loads[load.id] = load
        while len(self._loads) > MAX_KEPT:
            self._loads.popitem(last=False)
        return load.id

    def report(self, load_id: object) -> dict[str, Any] | None:
        """Return how a load is going, with the loads before it; None for an unknown one."""
        load = self._loads.get(load_id) if isinstance(load_id, str) else None
        if load is None:
            return None
        about = {"id": load.id, "name": load.name}
        if not load.wait(0):
            order = self._host.load_ids
            place = order.index(load.id) if load.id in order else 0
            return {**about, "state": "waiting" if place else "loading", "place": place}
        if load.error is None:
            return {**about, "state": "done"}
        return {**about, "state": "stopped" if load.stopped else "failed", "words": load.failure}


def state_of(state: HostState) -> dict[str, Any]:
    """Return what the page says about the model; `share` is in [0, 1] or null."""
    return {
        "model": payload.model_line(state.info) if state.info else None,
        "phase": state.phase,
        "resting": state.resting,
        "load": state.load.id if state.load else "",
        "share": state.load.share if state.load else None,
        "note": _progress(state.load) if state.load else state.failure,
    }


def _progress(load: LoadState) -> str:
    """Say how far a load is, such as `Downloading Qwen/Qwen3-0.6B · 42 %`."""
    words = load.words
    if load.name not in words:
        words = f"loading {load.name}" + (f", {words}" if words else "")
    share = "" if load.share is None else f" · {100 * load.share:.0f} %"
    return f"{words[0].upper()}{words[1:]}{share}"


def model_questions(
    host: ModelHost, may: May, servers: Servers = NO_SERVERS
) -> list[Callable[..., object]]:
    """Return what the page may ask about models, by the names of the functions."""
    log = LoadLog(host)

    def hello(load: object = None) -> object:
        """What the page says about the model, and about a load that it began."""
        return {
            **state_of(host.state),
            "may": str(may),
            "can_rest": may is not May.FIXED and host.can_rest,
            "own": log.report(load),
        }

    def models(precision: object = AUTO, device: object = AUTO) -> object:
        """The models to choose from, and how each fits."""
        if may is May.FIXED:
            return {"may": str(may)}
        return {
            "may": str(may),
            "choices": choices(),
            "servers": list(servers.named),
            "addresses": servers.every,
            **entries(precision, device),
        }

    def choose_model(data: object) -> object:
        """Begin to load another model; the answer is the load's id."""
        return log.begin(parse_choice(data, may, servers))

    def stop_model(load: object) -> object:
        """Stop one load, and no other; whether it was going."""
        _allow(may)
        return isinstance(load, str) and host.stop_load(load)

    def put_away_model() -> object:
        """Free the memory of the model in use until the next run."""
        _allow(may)
        host.rest()
        return hello()

    return [hello, models, choose_model, stop_model, put_away_model]


def _allow(may: May) -> None:
    if may is May.FIXED:
        raise ModelError("The model of this server is fixed.")


def _secret(value: object) -> str:
    """Return a key, which no message quotes."""
    if not isinstance(value, str) or len(value) > MAX_NAME:
        bounds = f"a line of at most {MAX_NAME} characters"
        raise SettingsError("key", bounds, Words("something else"))
    return value.strip()


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_NAME or not value.isprintable():
        long = isinstance(value, str) and len(value) > MAX_NAME
        shown = Words(f"{len(str(value)):,} characters") if long else value
        raise SettingsError(name, f"a line of at most {MAX_NAME} printable characters", shown)
    return value.strip()
