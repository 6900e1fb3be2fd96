"""How the page is reached: by which names, through how many proxies, and whether by strangers."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from xtc_viz.ui.gate.names import address, host_name, is_this_machine, network_of

ANY = "*"


@dataclass(frozen=True, slots=True)
class Entrance:
    """How one server is reached.

    `names` are those that it answers to beside its addresses, None for any. `public` says that it
    is for strangers: pages of other sites may then call the public endpoint. `framed` says that
    another site shows it in a frame, as a Space's. `proxies` counts the trusted proxies in front of
    it, None where their number is not known but all of them have private addresses.
    """

    names: frozenset[str] | None = frozenset({"localhost"})
    public: bool = False
    framed: bool = False
    proxies: int | None = 0

    @classmethod
    def of(
        cls,
        listens: str | None = None,
        allowed: Iterable[str] = (),
        proxies: int | None = None,
        *,
        share: bool = False,
        root_path: str | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> Self:
        """Return the entrance of a page from what its owner said; `proxies` None is the default.

        A Space and gradio's relay are behind proxies that we do not know, under names that they
        choose.
        """
        hosted = bool(share or environment.get("SPACE_ID") or environment.get("GRADIO_SHARE"))
        name = listens or environment.get("GRADIO_SERVER_NAME") or "localhost"
        local = is_this_machine(name) and not hosted
        names = {"localhost", name.lower(), *(each.lower() for each in allowed)}
        if not local:
            names.add(socket.gethostname().lower())
        return cls(
            names=None if hosted or ANY in names else frozenset(names),
            public=not local or bool(root_path) or bool(proxies),
            framed=bool(environment.get("SPACE_ID")),
            proxies=(None if hosted else 0) if proxies is None else proxies,
        )

    def answers_to(self, host: str) -> bool:
        """Whether a Host header names this page.

        Any address does: a site that has its own name point here cannot make a browser send one.
        """
        name = host_name(host)
        if name is None:
            return False
        return self.names is None or name in self.names or address(name) is not None

    def forwards(self, host: str, *, by_name: bool = False) -> bool:
        """Whether to believe an X-Forwarded-Host: there is a trusted proxy, and the name is ours.

        Anybody can write the header. `by_name` asks for a name that the owner named.
        """
        name = host_name(host)
        if self.proxies == 0 or name is None:
            return False
        return name in (self.names or ()) if by_name else self.answers_to(host)

    def visitor(self, client: str, forwarded: Iterable[str]) -> str:
        """Return what a visitor is told apart by.

        `client` is who made the connection, `forwarded` the X-Forwarded-For headers. Each trusted
        proxy adds who came to it at their end; what stands before may be anybody's invention.
        """
        hops = [hop for line in forwarded for hop in map(_without_port, line.split(",")) if hop]
        if self.proxies is None:
            literals = [(hop, address(hop)) for hop in reversed(hops)]
            outside = [hop for hop, literal in literals if literal and not literal.is_private]
            return network_of(outside[0] if outside else client)
        if not self.proxies or not hops:
            return network_of(client)
        return network_of(hops[-min(self.proxies, len(hops))])


def _without_port(hop: str) -> str:
    """Return an address of X-Forwarded-For, which some proxies write with a port or in quotes."""
    text = hop.strip().strip('"')
    if address(text):
        return text.strip("[]")
    return host_name(text) or text
