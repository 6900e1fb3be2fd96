"""From flags to a page that is served: the model's owner, what visitors may do, gradio's launch."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from xtc_viz.errors import ModelError, SettingsError, StoreError, shown
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import LoaderByKind
from xtc_viz.models.local import zerogpu
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel, leave_a_core
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.remote.address import is_address, parse_address
from xtc_viz.models.remote.key import key_of
from xtc_viz.models.remote.loader import RemoteLoader
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.models.spec import ModelSpec
from xtc_viz.runs.worker import decode_of, rows_of
from xtc_viz.ui.access import May, OpenTo, default_lab, default_may
from xtc_viz.ui.agents.protocol import MISSING, is_installed
from xtc_viz.ui.app import build, launch_options
from xtc_viz.ui.flags import FAKE
from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.lab.laboratory import check_store
from xtc_viz.ui.lab.questions import Lab
from xtc_viz.ui.limits import LIMITS, Limits
from xtc_viz.ui.refusals import Page
from xtc_viz.ui.servers import Servers


def make_host(options: argparse.Namespace, limits: Limits) -> ModelHost:
    """Return the owner of the model, which loads in the background.

    On ZeroGPU the model is loaded when this returns, and stays: workers are forked with it.
    """
    lent = is_lent(options)
    model: LanguageModel | None = FakeModel(delay=0.02) if options.model == FAKE else None
    spec = spec_of(options)
    if isinstance(spec, LocalSpec) and lent and model is None:
        # The platform stands in for CUDA in this thread alone: transformers must use no other.
        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        model = LocalModel.load(spec)
    rest = limits.idle_minutes
    host = ModelHost(
        model,
        LoaderByKind({LocalSpec: LocalLoader(), RemoteSpec: RemoteLoader()}),
        max_waiting=limits.max_waiting,
        max_per_visitor=limits.max_per_visitor,
        rest_after=None if rest is None or lent else 60.0 * rest,
    )
    if model is None:
        host.load_in_background(spec)
    return host


def is_lent(options: argparse.Namespace) -> bool:
    """Whether a GPU is lent to each decode: a server needs none."""
    return zerogpu.here() and not is_address(options.model)


def spec_of(options: argparse.Namespace) -> ModelSpec:
    """Return the model that these flags name."""
    if is_address(options.model):
        return RemoteSpec(options.model, key=key_of(), tokenizer=options.tokenizer)
    names = ("revision", "device", "dtype", "quantization", "attention", "max_memory")
    return LocalSpec(options.model, **{name: getattr(options, name) for name in names})


def servers_of(options: argparse.Namespace) -> Servers:
    """Return the servers that these flags name; the key and the tokenizer are for them."""
    own = [options.model] if is_address(options.model) else []
    named = (parse_address(address) for address in (*own, *(options.servers or ())))
    return Servers(tuple(dict.fromkeys(named)), key=key_of(), tokenizer=options.tokenizer)


def page(options: argparse.Namespace) -> Page:
    """Return the page that these flags ask for."""
    limits = Limits(**{name: getattr(options, name) for name in LIMITS})
    servers = servers_of(options)
    host = make_host(options, limits)
    if is_lent(options):
        with host.turn() as turn:
            turn.wait()
            own = turn.model
            return build(host, May.FIXED, limits, decode_of(own), rows_of(own), mcp=options.mcp)
    opened = options.share or bool(options.root_path)
    may = options.models or default_may(options.host, opened)
    lab = lab_of(options, host)
    return build(host, may, limits, servers=servers, lab=lab, mcp=options.mcp)


def lab_of(options: argparse.Namespace, host: ModelHost) -> Lab | None:
    """Return the laboratory that these flags ask for, None for none.

    Raises:
        StoreError: its store cannot be one.
    """
    opened = options.share or bool(options.root_path)
    open_to = options.lab or default_lab(options.host, opened)
    if open_to is OpenTo.NOBODY:
        return None
    path = Path(options.lab_store)
    check_store(path)
    return Lab.at(host, path, open_to)


def launch(options: argparse.Namespace) -> None:
    """Serve the page until the process ends.

    Raises:
        SystemExit: a model that cannot be, or an address at which nothing can listen.
    """
    if options.mcp and not is_installed():
        raise SystemExit(MISSING)
    leave_a_core()
    try:
        blocks = page(options)
    except (ModelError, SettingsError, StoreError) as error:
        raise SystemExit(str(error)) from error
    entrance = Entrance.of(
        options.host,
        options.allowed_hosts or (),
        options.trusted_proxies,
        share=options.share,
        root_path=options.root_path,
    )
    try:
        blocks.launch(
            server_name=options.host,
            server_port=options.port,
            root_path=options.root_path,
            share=options.share,
            **launch_options(entrance, blocks.agents) | {"quiet": False},
        )
    except OSError as error:
        where = f"port {options.port}" if options.port else "none of the ports from 7860 on"
        raise SystemExit(
            f"The page cannot listen at {shown(options.host or 'localhost')}, {where}: another "
            "program listens there, or the address is not one of this machine. --port and --host "
            "name others."
        ) from error
