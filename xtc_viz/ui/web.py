"""The page's own JavaScript and CSS, from `assets/web`.

The sources are plain ES modules, so that linters and editors understand them, and there is no
build step: they are joined here into one script, each module a function of its own that returns
what it exports. One script can be handed to gradio and to the offline replay as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from xtc_viz.assets import asset

FOLDER = asset("web")

_IMPORT = re.compile(r'^import\s*(\{[^}]*\})\s*from\s*"\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


def _module(name: str) -> str:
    return "module_" + name.replace("-", "_")


def _ordered(entry: str, seen: dict[str, str]) -> Iterable[str]:
    """Yield the modules that `entry` needs, each once, after those that it needs itself."""
    if entry in seen:
        return
    seen[entry] = source = (FOLDER / f"{entry}.js").read_text(encoding="utf-8")
    for match in _IMPORT.finditer(source):
        yield from _ordered(match.group(2), seen)
    yield entry


def _wrapped(name: str, source: str) -> str:
    """Return one module as a function that is called at once."""
    exported = ", ".join(_EXPORT.findall(source))
    body = _IMPORT.sub(lambda m: f"const {m.group(1)} = {_module(m.group(2))};\n", source)
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    return f"const {_module(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


@cache
def script(entry: str) -> str:
    """Return the module `entry` and all that it imports as one script.

    Its exports are in `module_<entry>`.
    """
    seen: dict[str, str] = {}
    names = list(_ordered(entry, seen))
    return "\n".join(_wrapped(name, seen[name]) for name in names)


@cache
def style() -> str:
    """Return all style sheets: `base`, which the others build on, then these by their names."""
    sheets = sorted(FOLDER.glob("*.css"), key=lambda path: (path.stem != "base", path.name))
    return "\n".join(path.read_text(encoding="utf-8") for path in sheets)
