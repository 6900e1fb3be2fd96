"""Which servers visitors may let the page call: on a public page those that its owner named, on a
page for this machine any."""

from __future__ import annotations

from dataclasses import dataclass, field

from xtc_viz.errors import SettingsError, Words
from xtc_viz.models.remote.address import parse_address
from xtc_viz.models.remote.spec import RemoteSpec


@dataclass(frozen=True, slots=True)
class Servers:
    """The addresses that are `named`, and whether `every` other one may be given too.

    `key` is for those that are named, and is sent to no other.
    """

    named: tuple[str, ...] = ()
    every: bool = False
    key: str = field(default="", repr=False)

    def choose(self, name: str, key: str = "") -> RemoteSpec:
        """Return what to load for an address that a page sent, with the key that was typed.

        Raises:
            SettingsError: it is no address, or none that may be called.
        """
        address = parse_address(name)
        named = address in self.named
        if not named and not self.every:
            words = "one of the servers that the owner of this page has named"
            raise SettingsError("name", words, Words("another address"))
        return RemoteSpec(address, key=key or (self.key if named else ""))


NO_SERVERS = Servers()
