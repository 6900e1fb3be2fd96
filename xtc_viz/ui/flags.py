"""The flags of the page, each with its environment variable. Light to import, so help is quick."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from typing import Any

from xtc_viz import __version__
from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import SettingsError, shown
from xtc_viz.lab.command.base import STORE
from xtc_viz.models.local.spec import ATTENTIONS, QUANTIZATIONS
from xtc_viz.models.remote.address import parse_address
from xtc_viz.ui.access import May, OpenTo
from xtc_viz.ui.gate.entrance import ANY
from xtc_viz.ui.gate.names import host_name
from xtc_viz.ui.limits import LIMITS, Limit, Limits

FAKE = "fake"
MOST_PROXIES = 9


def parser() -> argparse.ArgumentParser:
    """Return the command line. Every flag can be given by an environment variable instead."""
    flags = argparse.ArgumentParser(
        description="See what XTC does to every single token.",
        epilog="Each flag's environment variable stands in brackets; the flag goes first.",
    )

    def add(name: str, words: str, default: object = None, **options: Any) -> None:
        variable = "XTC_VIZ_" + name.upper().replace("-", "_")
        value = os.environ.get(variable, default)
        flags.add_argument(f"--{name}", default=value, help=f"{words} [{variable}]", **options)

    add("host", "address to listen on (default: this machine only)", metavar="ADDRESS")
    add(
        "port",
        "port to listen on (default: 7860 or the next that is free)",
        type=_port,
        metavar="NUMBER",
    )
    add(
        "model",
        "hub id or folder of a causal language model, or the address of a server that runs one, "
        "such as http://127.0.0.1:8080 (default: the embedded story model); "
        f"`{FAKE}` is word salad that needs no weights",
        str(STORY_MODEL),
    )
    add("revision", "branch, tag or commit of a hub model")
    add("device", "auto, cpu, cuda or cuda:1 (default: auto)", "auto")
    add("dtype", "auto, float32, bfloat16 or float16 (default: auto)", "auto")
    add("quantization", f"{', '.join(QUANTIZATIONS)} (default: none)", "none")
    add("attention", f"{', '.join(ATTENTIONS)} (default: auto)", "auto")
    add(
        "models",
        "which models visitors may load: all (any hub id or folder), catalog, fixed (none) or own "
        "(all, but none for who comes through a proxy); default: own on a page for this machine "
        "only, else fixed",
        type=_may,
        metavar="WHICH",
    )
    add(
        "servers",
        "addresses of servers that visitors may choose too, where they may choose at all, such as "
        "http://box:8080,https://llm.example.org; a page for this machine only takes any. The key "
        "that they want is taken from XTC_VIZ_SERVER_KEY",
        type=_servers,
        metavar="ADDRESSES",
    )
    add(
        "tokenizer",
        "folder with the tokenizer.json of the model in these servers, for those that do not tell "
        "their tokens (vLLM)",
        "",
        metavar="FOLDER",
    )
    add(
        "lab",
        "whom the laboratory at /lab is open to: own (who sits at this machine), all or off; "
        "default: own on a page for this machine only, else off",
        type=_open_to,
        metavar="WHOM",
    )
    add(
        "lab-store",
        "the file that keeps the laboratory's texts, the same as that of `xtc-viz lab` "
        f"(default: {STORE})",
        STORE,
        metavar="FILE",
    )
    add(
        "max-memory",
        "what each device may hold of a model that is spread over several, such as "
        "0=20GiB,1=20GiB,cpu=60GiB",
        type=_memory,
        metavar="LIMITS",
    )
    add(
        "allowed-hosts",
        "names by which the page is reached beside its address, such as xtc.example.org,box.local; "
        "* is any (default: any on a Space, else this machine's)",
        type=_names,
        metavar="NAMES",
    )
    add(
        "trusted-proxies",
        "how many proxies of yours are in front of the page, each adding to X-Forwarded-For "
        "(default: 0, on a Space as it is there)",
        type=_count,
        metavar="N",
    )
    add(
        "root-path",
        "path under which a proxy shows the page, such as /xtc",
        type=_root_path,
        metavar="PATH",
    )
    ours = Limits.default()
    for limit in LIMITS.values():
        value = getattr(ours, limit.name)
        add(
            limit.flag,
            f"{limit.help}: {limit.bounds} (default: none, on a Space {limit.public:g})",
            None if value is None else str(value),
            type=_limit(limit),
            metavar="N",
        )
    flags.add_argument(
        "--mcp",
        action="store_true",
        default=_is_on(os.environ.get("XTC_VIZ_MCP", "")),
        help="tools for agents at /gradio_api/mcp: a run, what-if along it, and the audit of the "
        "servers that --model and --servers name (default: none; docs/agents.md) [XTC_VIZ_MCP]",
    )
    flags.add_argument("--share", action="store_true", help="a public link by gradio's relay")
    flags.add_argument("--version", action="version", version=f"xtc_viz {__version__}")
    return flags


def _is_on(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on")


def _may(name: str) -> May:
    try:
        return May(name)
    except ValueError:
        known = ", ".join(May)
        raise argparse.ArgumentTypeError(f"must be one of {known}, but is {name!r}") from None


def _open_to(name: str) -> OpenTo:
    try:
        return OpenTo(name)
    except ValueError:
        known = ", ".join(OpenTo)
        raise argparse.ArgumentTypeError(f"must be one of {known}, but is {name!r}") from None


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name != ANY and (host_name(name) is None or ":" in name):
            words = f"must be names such as xtc.example.org without a port, or *, but is {name!r}"
            raise argparse.ArgumentTypeError(words)
    return names


def _servers(text: str) -> tuple[str, ...]:
    try:
        return tuple(parse_address(own) for own in text.split(",") if own.strip())
    except SettingsError as error:
        raise argparse.ArgumentTypeError(f"must be {error.bounds}") from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_PROXIES:
        words = f"must be an integer in [0, {MOST_PROXIES}], but is {text!r}"
        raise argparse.ArgumentTypeError(words)
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.strip().isdigit() and 1 <= int(text[:20]) <= 65535):
        words = f"must be an integer in [1, 65535], but is {shown(text)}"
        raise argparse.ArgumentTypeError(words)
    return int(text)


def _root_path(text: str) -> str:
    """A path from the root, or a whole address of the web."""
    if text and not re.fullmatch(r"(https?://[\w.:\[\]-]+)?(/[\w.~%+-]+)*/?", text, re.ASCII):
        words = f"must be a path such as /xtc, but is {shown(text)}"
        raise argparse.ArgumentTypeError(words)
    return text


def _memory(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(device.strip() and size.strip() for device, _, size in pairs):
        words = f"must be such as 0=20GiB,cpu=60GiB, but is {text!r}"
        raise argparse.ArgumentTypeError(words)
    return {device.strip(): size.strip() for device, _, size in pairs}


def _limit(limit: Limit) -> Callable[[str], float | None]:
    def parse(text: str) -> float | None:
        try:
            return limit.parse(text)
        except SettingsError as error:
            words = f"must be {error.bounds}, but is {error.value!r}"
            raise argparse.ArgumentTypeError(words) from None

    return parse
