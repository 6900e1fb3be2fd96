"""A model of a server: its address, the key that the server wants, and its tokenizer's folder."""

from __future__ import annotations

from dataclasses import dataclass, field

from xtc_viz.models.remote.address import parse_address
from xtc_viz.models.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class RemoteSpec(ModelSpec):
    """`name` is the server's address. The key is in no text that is made of this value.

    `tokenizer` is a folder of this machine with the tokenizer of the server's model, or "": some
    kinds of servers do not tell the bytes of their tokens.
    """

    key: str = field(default="", repr=False)
    tokenizer: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", parse_address(self.name))

    @property
    def holds_memory(self) -> bool:
        return False
