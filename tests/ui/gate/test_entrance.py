"""How a page is reached: the names it answers to, and who a visitor is behind proxies."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.ui.gate.entrance import Entrance

HOME = Entrance.of(environment={})
LAN = Entrance.of("0.0.0.0", ["box.local"], environment={})
SPACE = Entrance.of("0.0.0.0", environment={"SPACE_ID": "someone/xtc"})


@pytest.mark.parametrize(
    ("entrance", "host", "answers"),
    [
        (HOME, "localhost:7860", True),
        (HOME, "127.0.0.1:7860", True),
        (HOME, "127.0.0.2", True),
        (HOME, "[::1]:7860", True),
        (HOME, "127.evil.example", False),
        (HOME, "localhost.", False),
        (HOME, "evil.example:7860", False),
        (HOME, "", False),
        (LAN, "192.168.1.5:7860", True),
        (LAN, "box.local:7860", True),
        (LAN, "BOX.local", True),
        (LAN, f"{socket.gethostname()}:7860", True),
        (LAN, "evil.example:7860", False),
        (SPACE, "someone-xtc.hf.space", True),
        (SPACE, "not a name", False),
        (Entrance.of("myname.example", environment={}), "myname.example", True),
        (Entrance.of(allowed=["*"], environment={}), "whatever.example", True),
        (Entrance.of(share=True, environment={}), "0123.gradio.live", True),
        (Entrance.of(environment={"GRADIO_SERVER_NAME": "box"}), "box:7860", True),
    ],
)
def test_the_names_that_a_page_answers_to(entrance: Entrance, host: str, answers: bool) -> None:
    assert entrance.answers_to(host) is answers


@pytest.mark.parametrize(
    ("entrance", "public"),
    [
        (HOME, False),
        (LAN, True),
        (SPACE, True),
        (Entrance.of("127.0.0.2", environment={}), False),
        (Entrance.of(root_path="/xtc", environment={}), True),
        (Entrance.of(proxies=1, environment={}), True),
        (Entrance.of(share=True, environment={}), True),
    ],
)
def test_whether_a_page_is_for_strangers(entrance: Entrance, public: bool) -> None:
    assert entrance.public is public
    assert entrance.framed is (entrance is SPACE)


@pytest.mark.parametrize(
    ("proxies", "client", "forwarded", "visitor"),
    [
        # Nobody in front: what is written there is an invention.
        (0, "203.0.113.7", [], "203.0.113.7"),
        (0, "203.0.113.7", ["198.51.100.2"], "203.0.113.7"),
        # One of ours adds who came to it at the end.
        (1, "127.0.0.1", ["198.51.100.2"], "198.51.100.2"),
        (1, "127.0.0.1", ["1.1.1.1, 198.51.100.2"], "198.51.100.2"),
        (1, "127.0.0.1", ["1.1.1.1", "198.51.100.2"], "198.51.100.2"),
        (1, "127.0.0.1", ["198.51.100.2:4711"], "198.51.100.2"),
        (1, "127.0.0.1", ['"[2001:db8::1]:4711"'], "2001:db8::/64"),
        (1, "127.0.0.1", [], "127.0.0.1"),
        (2, "127.0.0.1", ["1.1.1.1, 198.51.100.2, 10.0.0.1"], "198.51.100.2"),
        (2, "127.0.0.1", ["198.51.100.2"], "198.51.100.2"),
        # As many private ones as there are.
        (None, "10.1.2.3", ["1.1.1.1, 9.9.9.9, 10.0.0.1"], "9.9.9.9"),
        (None, "10.1.2.3", ["unknown, 10.0.0.1"], "10.1.2.3"),
        (None, "10.1.2.3", [], "10.1.2.3"),
    ],
)
def test_who_a_visitor_is(
    proxies: int | None, client: str, forwarded: list[str], visitor: str
) -> None:
    assert Entrance(proxies=proxies).visitor(client, forwarded) == visitor


@given(st.lists(st.text(st.characters(codec="latin-1"), max_size=30), max_size=4))
def test_no_header_makes_a_visitor_another_one(invented: list[str]) -> None:
    """Whatever someone writes there, a trusted proxy adds the true address after it."""
    one = Entrance(proxies=1).visitor("127.0.0.1", [*invented, "198.51.100.2"])
    space = Entrance(proxies=None).visitor("10.0.0.9", [*invented, "9.9.9.9, 10.0.0.1"])
    direct = Entrance(proxies=0).visitor("198.51.100.2", invented)
    assert (one, space, direct) == ("198.51.100.2", "9.9.9.9", "198.51.100.2")
