"""Texts as cells of a table: no program takes one for a formula, two cells or two rows.

A table is opened with another separator than ours where a country writes its numbers with a comma,
so what stands behind a separator within a text counts as the begin of a cell too. Nothing is lost:

- a backslash is written twice;
- what does not show (control characters, line ends, marks that turn the direction of writing) and
  half of a surrogate pair are written out: `\\n`, `\\r`, `\\t`, `\\u202e`;
- a sign with which a formula may begin gets a backslash in front where it begins a cell: `\\=`.

`text_of` reads a cell back.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from xtc_viz.texts import JOINERS, as_code, is_silent

_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}
_LONG = {written[1]: sign for sign, written in _SHORT.items()}
_SIGNS = "=+-@\u2212"
_SEPARATORS = ";|,\t\n\r"
"""Behind these a cell may begin for some program."""
_QUOTES = "\"'"
_WRITTEN = re.compile(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL)


@lru_cache(maxsize=4096)
def cell(text: str) -> str:
    """Return a text as a cell."""
    written, begins = [], True
    for sign in text:
        if begins and unicodedata.normalize("NFKC", sign)[0] in _SIGNS:
            written.append("\\")  # in any width: `＝` begins a formula where people type it so
        written.append(_shown(sign))
        if sign in _SEPARATORS:
            begins = True
        elif not (sign.isspace() or sign in _QUOTES or is_silent(sign)):
            begins = False
    return "".join(written)


def text_of(cell: str) -> str:
    """Return the text that a cell stands for."""

    def sign(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else _LONG.get(match[3], match[3])

    return _WRITTEN.sub(sign, cell)


def _shown(sign: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    return as_code(sign) if sign not in JOINERS and is_silent(sign) else sign
