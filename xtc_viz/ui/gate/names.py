"""Addresses and names: what a Host header says, and which addresses are this machine's."""

from __future__ import annotations

import ipaddress
import re

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?", re.ASCII)


def host_name(header: str) -> str | None:
    """Return the name or the address in a Host header, in lower case, without brackets and port.

    None is no header that a browser would send.
    """
    match = _HOST.fullmatch(header)
    return match[1].strip("[]").lower() if match else None


def address(text: str) -> Address | None:
    """Return the IP address that a text is, None where it is another name."""
    try:
        found = ipaddress.ip_address(text.strip().strip("[]"))
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def is_this_machine(name: str) -> bool:
    """Whether a name or an address is reached from this machine only."""
    literal = address(name)
    return literal.is_loopback if literal else name == "localhost"


def network_of(text: str) -> str:
    """Return what a visitor at an address is told apart by.

    That is the address, of IPv6 the network of 64 bits that one customer gets as a whole.
    """
    literal = address(text)
    if literal is None:
        return text
    if literal.version == 6:
        return str(ipaddress.ip_network((literal, 64), strict=False))
    return str(literal)
