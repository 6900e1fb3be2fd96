"""Suites: the prompts of an experiment, one JSON object a line.

    {"id": "pets-1", "genre": "pets", "kind": "continue", "prompt": "Anna had a little dog. It"}

`kind` says what is wanted of a model, and so what `check` must hold (`checks`). `openness` (open,
narrow or closed) and `system` (for a chat template) may be left out. Lines are counted from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from xtc_viz.assets import asset
from xtc_viz.errors import SettingsError, SuiteError, shortened, shown
from xtc_viz.lab.checks import check_code, check_fields, check_rules
from xtc_viz.texts import valid

E = TypeVar("E", bound=StrEnum)

MAX_BYTES = 64 * 2**20
MAX_TEXT = 100_000  # characters of a prompt
MAX_NAME = 100  # characters of an id, and of a genre


class Kind(StrEnum):
    """What is wanted of a model."""

    CONTINUE = "continue"
    """To go on from the prompt, without a chat template."""
    WRITE = "write"
    """To follow the prompt, with the chat template of a model that has one; so do all below."""
    JSON = "json"
    REWRITE = "rewrite"
    CODE = "code"


class Openness(StrEnum):
    """How much a prompt leaves to the writer."""

    OPEN = "open"
    NARROW = "narrow"
    CLOSED = "closed"


CHECKS = {Kind.JSON: check_fields, Kind.REWRITE: check_rules, Kind.CODE: check_code}
"""What looks at the `check` of a prompt of these kinds; others have none."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a suite; `check` is what a check of its texts needs (`checks`)."""

    id: str
    genre: str
    kind: Kind
    text: str
    openness: Openness | None = None
    system: str = ""
    check: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def chat(self) -> bool:
        """Whether it goes through a model's chat template."""
        return self.kind is not Kind.CONTINUE

    def to_dict(self) -> dict[str, Any]:
        """Return the object of a line; what is not there is left out."""
        values = {name: value for name, value in asdict(self).items() if value}
        values["prompt"] = values.pop("text")
        return values

    @classmethod
    def from_dict(cls, data: object) -> Prompt:
        """Return the prompt of a line. Raises `SettingsError`, naming the field."""
        if not isinstance(data, dict):
            raise SettingsError("line", "a JSON object", data)
        for name in data:
            if name not in _NAMES:
                raise SettingsError(str(name), f"one of {', '.join(_NAMES)}", name)
        kind = _choice("kind", Kind, data.get("kind"))
        openness = data.get("openness")
        check = data.get("check", {})
        if kind in CHECKS:
            CHECKS[kind](check)
        elif check != {}:
            raise SettingsError("check", f"left out for the kind {kind}", check)
        return cls(
            id=_text("id", data.get("id"), MAX_NAME),
            genre=_text("genre", data.get("genre"), MAX_NAME),
            kind=kind,
            text=_text("prompt", data.get("prompt"), MAX_TEXT),
            openness=None if openness is None else _choice("openness", Openness, openness),
            system=_text("system", data["system"], MAX_TEXT) if "system" in data else "",
            check=check,
        )


_NAMES = tuple("prompt" if f.name == "text" else f.name for f in fields(Prompt))


@dataclass(frozen=True, slots=True)
class Suite:
    """The prompts of an experiment, under a name."""

    name: str
    prompts: tuple[Prompt, ...]

    def __post_init__(self) -> None:
        if not self.prompts:
            raise SuiteError(f"suite {shown(self.name)}: it must hold at least one prompt")
        ids: set[str] = set()
        for prompt in self.prompts:
            if prompt.id in ids:
                raise SuiteError(
                    f"suite {shown(self.name)}: `id` must be another for each prompt, but two "
                    f"have {shown(prompt.id)}"
                )
            ids.add(prompt.id)

    def take(self, count: int) -> Suite:
        """Return a suite of `count` of these prompts, evenly spread; 0 or too many means all."""
        size = len(self.prompts)
        if not 0 < count < size:
            return self
        return Suite(self.name, tuple(self.prompts[i * size // count] for i in range(count)))

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "prompts": [prompt.to_dict() for prompt in self.prompts]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Suite:
        return cls(data["name"], tuple(Prompt.from_dict(prompt) for prompt in data["prompts"]))


def builtin_suites() -> dict[str, Path]:
    """Return the files of the suites that come with the app, by name."""
    return {path.stem: path for path in sorted(asset("prompts").glob("*.jsonl"))}


def load_suite(name: str) -> Suite:
    """Return a suite by its name, or that of a file.

    Raises:
        SuiteError: there is none, or its file is broken.
    """
    files = builtin_suites()
    path = files.get(name, Path(name))
    if name not in files and path.suffix != ".jsonl":
        raise SuiteError(
            f"no suite is called {shown(name)}: there are {', '.join(files)}, and files that end "
            "in .jsonl"
        )
    return read_suite(path)


def read_suite(path: Path) -> Suite:
    """Return the suite of a file, named after it.

    Raises:
        SuiteError: it cannot be read or is broken; file, line and field are named.
    """
    name = shortened(path.name)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SuiteError(f"{name}: it cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise SuiteError(f"{name}: a suite has at most {MAX_BYTES >> 20} MiB; this one has more")
    try:
        # Of all that `splitlines` takes for an end of line JSON lets half stand within a text.
        lines = data.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SuiteError(f"{name}, line {line}: it is not UTF-8") from error
    return Suite(path.stem, tuple(_prompts(name, lines)))


def parse_suite(name: str, lines: Iterable[str]) -> Suite:
    """Return the suite that these lines hold. Raises `SuiteError`, naming line and field."""
    return Suite(name, tuple(_prompts(name, lines)))


def _prompts(name: str, lines: Iterable[str]) -> Sequence[Prompt]:
    places: dict[str, int] = {}
    prompts = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            prompt = Prompt.from_dict(json.loads(line, parse_constant=_no_constant))
        except json.JSONDecodeError as error:
            words = f"{error.msg} in column {error.colno}"
            raise SuiteError(f"{where}: it is no JSON: {words}") from error
        except (SettingsError, RecursionError) as error:
            raise SuiteError(f"{where}: {shortened(str(error), 300)}") from error
        except ValueError as error:  # of Python, which reads no number of 5,000 digits
            raise SuiteError(f"{where}: it holds a number that is none, or too long") from error
        if prompt.id in places:
            raise SuiteError(
                f"{where}: `id` must be another for each prompt, but {shown(prompt.id)} is that "
                f"of line {places[prompt.id]} too"
            )
        places[prompt.id] = number
        prompts.append(prompt)
    if not prompts:
        raise SuiteError(f"{name}: it must hold at least one prompt, but is empty")
    return prompts


def _no_constant(name: str) -> None:
    raise SettingsError("line", "JSON without NaN and infinities", name)


def _text(name: str, value: object, longest: int) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise SettingsError(name, f"a text of 1 to {longest:,} characters", value)
    return valid(name, value)


def _choice(name: str, kind: type[E], value: object) -> E:
    try:
        return kind(str(value))
    except ValueError:
        raise SettingsError(name, f"one of {', '.join(kind)}", value) from None
