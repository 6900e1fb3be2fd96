"""Which servers visitors may let the page call: on a public page those that its owner named, on a
page for this machine any."""

from __future__ import annotations

from dataclasses import dataclass, field

from xtc_viz.errors import SettingsError, Words
from xtc_viz.models.remote.address import parse_address
from xtc_viz.models.remote.spec import RemoteSpec


@dataclass(frozen=True, slots=True)
class Servers:
    """The addresses that are `named`, and whether `every` other one may be given too, and with it
    a folder of this machine for its tokenizer.

    `key` and `tokenizer` are for those that are named; the key is sent to no other.
    """

    named: tuple[str, ...] = ()
    every: bool = False
    key: str = field(default="", repr=False)
    tokenizer: str = ""

    def choose(self, name: str, key: str = "", tokenizer: str = "") -> RemoteSpec:
        """Return what to load for an address that a page sent, with the key and the tokenizer's
        folder that were typed.

        Raises:
            SettingsError: it is no address, or none that may be called, or a folder is named where
                only the owner of the page may name one.
        """
        address = parse_address(name)
        named = address in self.named
        if not named and not self.every:
            words = "one of the servers that the owner of this page has named"
            raise SettingsError("name", words, Words("another address"))
        if tokenizer and not self.every:
            raise SettingsError("tokenizer", "empty on this page", Words("a folder"))
        if named:
            key, tokenizer = key or self.key, tokenizer or self.tokenizer
        return RemoteSpec(address, key=key, tokenizer=tokenizer)


NO_SERVERS = Servers()
