"""Host headers and addresses, as browsers write them and as attackers do."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from xtc_viz.ui.gate.names import address, host_name, is_this_machine, network_of


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost:7860", "localhost"),
        ("XTC.Example", "xtc.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]:7860", "::1"),
        ("localhost.", "localhost."),
        ("", None),
        ("[::1", None),
        ("a@127.0.0.1", None),
        ("127.0.0.1:7860/x", None),
        ("localhost:", None),
        ("localhost:123456", None),
        ("evil.example, localhost", None),
        ("localhost\n", None),
    ],
)
def test_the_name_in_a_host_header(header: str, name: str | None) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("127.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.", False),
        ("localhost.evil.example", False),
        ("10.0.0.1", False),
        ("0.0.0.0", False),
        ("", False),
    ],
)
def test_which_names_are_this_machine(name: str, here: bool) -> None:
    assert is_this_machine(name) is here


@given(st.ip_addresses())
def test_every_address_is_read_as_itself(
    literal: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    mapped = getattr(literal, "ipv4_mapped", None)
    assert address(str(literal)) == (mapped or literal)


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_a_customer_of_a_network_is_one_visitor(literal: ipaddress.IPv6Address, low: int) -> None:
    other = ipaddress.IPv6Address((int(literal) >> 64 << 64) | low)
    assume(not literal.ipv4_mapped and not other.ipv4_mapped)
    assert network_of(str(literal)) == network_of(str(other))


def test_a_visitor_without_an_address_is_called_as_it_is() -> None:
    assert network_of("unix") == "unix"
    assert network_of("::ffff:192.0.2.7") == network_of("192.0.2.7") == "192.0.2.7"
