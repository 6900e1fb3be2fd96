"""What a text may hold: characters of Unicode, and so no half of one.

JSON can write half of a surrogate pair (`"\\ud800"`), and Python keeps it; UTF-8 has no bytes for
it. So a text that somebody types is refused with one, and in what comes from a file or a model it
becomes U+FFFD, the sign for what is no character, where it is sent or shown.
"""

from __future__ import annotations

import re

from xtc_viz.errors import SettingsError, Words

_HALF = re.compile("[\ud800-\udfff]")


def valid(name: str, text: str) -> str:
    """Return a text; raise `SettingsError` for half a character, with its place."""
    if not text.isascii() and (half := _HALF.search(text)):
        found = f"half of a pair (U+{ord(half[0]):04X}) at character {half.start() + 1:,}"
        raise SettingsError(name, "a text of whole characters", Words(found))
    return text


def mended(text: str) -> str:
    """Return a text that UTF-8 can hold."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)
