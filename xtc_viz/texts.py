"""What a text may hold: characters of Unicode, and so no half of one.

JSON can write half of a surrogate pair (`"\\ud800"`), and Python keeps it; UTF-8 has no bytes for
it. So a text that somebody types is refused with one, and in what comes from a file or a model it
becomes U+FFFD, the sign for what is no character, where it is sent or shown.

What does not show (control characters, marks that turn the direction of writing, half of a pair)
can make a text look like another one: `visible` writes it out.
"""

from __future__ import annotations

import re
import unicodedata

from xtc_viz.errors import SettingsError, Words

JOINERS = "\u200c\u200d"
"""They make words and emoji, and turn nothing."""
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


def is_silent(sign: str) -> bool:
    """Say whether a sign does not show: a control or format character, or half of a pair."""
    return unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp", "Cs")


def as_code(sign: str) -> str:
    """Return a sign as its code: `\\u202e`."""
    code = ord(sign)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str, keep: str = "\n") -> str:
    """Return a text in which everything shows: what is silent as its code, but for joiners, and for
    what is to be kept."""
    if text.isprintable():
        return text
    keep += JOINERS
    return "".join(as_code(c) if c not in keep and is_silent(c) else c for c in text)
