"""The page's own JavaScript and CSS, from `assets/web`.

The sources are plain ES modules in folders by area, so that linters, type checkers and editors
understand them, and there is no build step: they are joined here into one script, each module a
function of its own that returns what it exports. One script can be handed to gradio and to the
offline replay as it is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from functools import cache

from xtc_viz.assets import asset

FOLDER = asset("web")
BASE = "core/base"  # the style sheet that all others build on
ROUTES = ("lab",)  # folders of routes of their own

_IMPORT = re.compile(r'^import\s*(\{[^}]*\})\s*from\s*"(\.[\w./-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)


def variable(name: str) -> str:
    """Return the variable that holds a module's exports: `core/dom` → `module_core_dom`."""
    return "module_" + re.sub(r"\W", "_", name)


def modules() -> list[str]:
    """Return the names of all modules: their paths below `FOLDER`, without `.js`."""
    paths = FOLDER.rglob("*.js")
    return sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in paths)


def _target(name: str, path: str) -> str:
    """Return the module that `name` means by a relative path: `page/page`, `../core/dom`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _ordered(name: str, sources: dict[str, str]) -> Iterable[str]:
    """Yield the modules that `name` needs, each once, after those that it needs itself."""
    if name in sources:
        return
    sources[name] = source = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    for _, path in _IMPORT.findall(source):
        yield from _ordered(_target(name, path), sources)
    yield name


def _wrapped(name: str, source: str) -> str:
    """Return one module as a function that is called at once."""

    def declared(match: re.Match[str]) -> str:
        names = match[1].replace(" as ", ": ")
        return f"const {names} = {variable(_target(name, match[2]))};\n"

    exports = ", ".join(_EXPORT.findall(source))
    body = re.sub(r"^export ", "", _IMPORT.sub(declared, source), flags=re.MULTILINE)
    return f"const {variable(name)} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"


@cache
def script(entry: str) -> str:
    """Return the module `entry` and all that it imports as one script.

    Its exports are in the variable of that name, for `gradio` in `module_gradio`.
    """
    sources: dict[str, str] = {}
    names = list(_ordered(entry, sources))
    return "\n".join(_wrapped(name, sources[name]) for name in names)


@cache
def sheet(name: str) -> str:
    """Return one style sheet: `lab/lab`."""
    return (FOLDER / f"{name}.css").read_text(encoding="utf-8")


@cache
def style() -> str:
    """Return all style sheets: the base, then the others by their paths. Those of a route of its
    own (`ROUTES`) come with it."""
    base = FOLDER / f"{BASE}.css"
    every = (path for path in FOLDER.rglob("*.css") if path.parent.name not in ROUTES)
    sheets = sorted(every, key=lambda path: (path != base, path.as_posix()))
    return "\n".join(path.read_text(encoding="utf-8") for path in sheets)
