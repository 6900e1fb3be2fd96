"""A lane's words with their marks: set in type of one width, so that no browser is asked how wide
a word is, and each word tells its step when it is pointed at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import combining, east_asian_width

import plotly.graph_objects as go

from xtc_viz.figures.labels import escaped, percent, token
from xtc_viz.figures.theme import LIGHT, Theme, layout
from xtc_viz.records.step import Step
from xtc_viz.records.trace import LaneTrace
from xtc_viz.sampling.rule import Outcome

MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SIZE = 14  # pixels of the type
CELL = 0.602 * SIZE  # width of a character in it
LINE = 34  # pixels from line to line: room for a sign above and a line below
MARGIN = 20
HEAD = 64  # pixels above the first line, for the legend


@dataclass(frozen=True, slots=True)
class Word:
    """Where a piece of text stands: its row and column, in characters, and what is to be seen."""

    text: str
    row: int
    column: int

    @property
    def width(self) -> int:
        return width(self.text)


def width(text: str) -> int:
    """How many cells a text takes: two for a full-width character, none for a combining one."""
    return sum(
        0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1
        for c in text
        if c.isprintable()
    )


def placed(pieces: Sequence[str], room: int) -> list[Word]:
    """Return where each piece stands in lines of `room` cells, white space around it left out.

    Lines break at white space, within a word only where it is longer than a line; a newline in a
    piece begins another line.
    """
    words: list[Word] = []
    row = column = 0
    for i, piece in enumerate(pieces):
        core = _core(piece)
        if not core:  # white space alone stands where it is met, and then takes effect
            words.append(Word("", row, column))
        before = piece[: len(piece) - len(piece.lstrip())]
        if "\n" in before:
            row, column = row + before.count("\n"), 0
        column += width(before.rpartition("\n")[2]) if column else 0
        begins = bool(before) or not i or pieces[i - 1][-1:].isspace()
        needed = _unit(pieces, i) if begins else width(core)
        if column and column + (needed if needed <= room else width(core)) > room:
            row, column = row + 1, 0
        if core:
            words.append(Word(core, row, column))
            column += width(core)
            after = piece[len(piece.rstrip()) :]
            if "\n" in after:
                row, column = row + after.count("\n"), 0
            column += width(after.rpartition("\n")[2]) if column else 0
    return words


def _core(piece: str) -> str:
    """A piece without the white space around it; a newline within it is a space."""
    return piece.strip().replace("\n", " ")


def _unit(pieces: Sequence[str], i: int) -> int:
    """The width of the word that begins at piece i, with all that belongs to it."""
    total = width(_core(pieces[i]))
    while not pieces[i][-1:].isspace() and i + 1 < len(pieces):
        i += 1
        if not pieces[i] or pieces[i][0].isspace():
            break
        total += width(_core(pieces[i]))
    return total


def text_figure(
    prompt: str,
    lane: LaneTrace,
    texts: Mapping[int, str],
    *,
    imagined: bool = False,
    pixels: int = 720,
    theme: Theme = LIGHT,
) -> go.Figure:
    """Draw the prompt and the words of a lane; `texts` are those of `Trace.vocabulary`.

    `pixels` is the figure's width. `imagined`: the steps are those of a what-if along the text, so
    that no word of it was changed by them.
    """
    room = max(8, int((pixels - 2 * MARGIN) / CELL))
    before = list(_words(prompt))
    pieces = [*before, *(step.text for step in lane.steps)]
    words = placed(pieces, room)
    own = [
        _seen(word, step, texts)
        for word, step in zip(words[len(before) :], lane.steps, strict=True)
    ]
    rows = max((word.row for word in words), default=0) + 1
    figure = go.Figure()
    _letters(figure, words[: len(before)], theme.ink_2, ["prompt"] * len(before))
    hovers = [_hover(i, step, texts, lane, imagined) for i, step in enumerate(lane.steps)]
    _letters(figure, own, theme.ink, hovers)
    for values in _marks(lane, own, imagined, theme):
        figure.add_scatter(**values)
    figure.update_layout(
        layout(
            theme,
            HEAD + LINE * rows + MARGIN,
            width=pixels,
            margin={"l": MARGIN, "r": MARGIN, "t": HEAD, "b": MARGIN},
            xaxis={
                "visible": False,
                "fixedrange": True,
                "range": [0, (pixels - 2 * MARGIN) / CELL],
            },
            yaxis={"visible": False, "fixedrange": True, "range": [rows - 0.5, -0.5]},
            hovermode="closest",
        )
    )
    return figure


def _seen(word: Word, step: Step, texts: Mapping[int, str]) -> Word:
    """Return a word with a sign in its place where it has no letters: a newline, an end of text."""
    if word.text:
        return word
    sign = "↵" if "\n" in step.text else "" if step.text else texts.get(step.token, "")
    return Word(sign, word.row, word.column)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a prompt, each with the white space before it."""
    start = 0
    for i in range(1, len(text)):
        if text[i].isspace() and not text[i - 1].isspace():
            yield text[start:i]
            start = i
    yield text[start:]


def _letters(figure: go.Figure, words: Sequence[Word], ink: str, told: Sequence[str]) -> None:
    figure.add_scatter(
        x=[word.column for word in words], y=[word.row for word in words], mode="text",
        text=[escaped(word.text) for word in words], textposition="middle right",
        textfont={"family": MONO, "size": SIZE, "color": ink}, customdata=list(told),
        hovertemplate="%{customdata}<extra></extra>", cliponaxis=False, showlegend=False,
    )  # fmt: skip


def _hover(i: int, step: Step, texts: Mapping[int, str], lane: LaneTrace, imagined: bool) -> str:
    off = lane.settings.sampler.xtc.rho == 0
    parts = [
        f"token {i + 1}: <b>{token(step.text or texts.get(step.token, ''))}</b>",
        f"p {percent(step.p)}, rank {step.rank}",
        f"{step.eligible} eligible, " + ("XTC off" if off else str(step.outcome)),
    ]
    if step.removed:
        parts.append(f"removed {percent(step.removed_mass)}")
    if step.changed and not imagined:
        parts.append(f"without XTC: {token(texts.get(step.counterfactual, ''))}")
    return "<br>".join(parts)


def _marks(
    lane: LaneTrace, words: Sequence[Word], imagined: bool, theme: Theme
) -> Iterator[dict[str, Any]]:
    """Yield a sign over each word that XTC had a say in, and the line under those it changed."""
    if lane.settings.sampler.xtc.rho == 0:
        return
    both = list(zip(words, lane.steps, strict=True))
    cross = {"symbol": "x-thin", "size": 6, "line": {"color": theme.removed, "width": 2}}
    ring = {"symbol": "circle-open", "size": 6, "color": theme.removed, "line": {"width": 1.5}}
    kinds: list[tuple[list[Word], str, dict[str, Any]]] = [
        (
            [word for word, step in both if step.fired and not step.from_tail],
            "XTC would fire" if imagined else "XTC fired",
            {"marker": ring if imagined else cross},
        ),
        (
            [word for word, step in both if step.from_tail],
            "~ from below τ",
            {"mode": "text", "text": "~", "textfont": {"color": theme.removed, "size": 18}},
        ),
        (
            [word for word, step in both if step.outcome is Outcome.SKIPPED],
            "the coin said no",
            {"marker": ring | {"color": theme.skipped}},
        ),
        (
            [word for word, step in both if step.outcome is Outcome.PROTECTED],
            "protected",
            {"marker": {"symbol": "triangle-down", "size": 7, "color": theme.protected}},
        ),
    ]
    for own, name, look in kinds:
        if own:
            yield {
                "x": [word.column + max(1, word.width) / 2 for word in own],
                "y": [word.row - 0.4 for word in own],
                "mode": "markers", "name": name, "hoverinfo": "skip",
            } | look  # fmt: skip
    changed = [word for word, step in both if step.changed and not imagined]
    if changed:
        yield {
            "x": [x for w in changed for x in (w.column, w.column + w.width, None)],
            "y": [y for w in changed for y in (w.row + 0.32, w.row + 0.32, None)],
            "mode": "lines", "line": {"color": theme.changed, "width": 2.5, "dash": "dot"},
            "name": "… and changed the word", "hoverinfo": "skip",
        }  # fmt: skip
