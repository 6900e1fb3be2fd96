"""A model of a server, as the decoder sees it (the `LanguageModel` protocol).

The server gives distributions; stack, dice and draw are here, so lanes that share their dice stay
alike until XTC parts them, as at home. A step shows no more candidates than it needs: it begins
with `FIRST` and is asked again with `FACTOR` times as many for as long as more of them could change
what is drawn or decided. A row that often needs more is shown more at once, up to `STANDING`.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np

from xtc_viz.errors import PromptError
from xtc_viz.models.load import Progress, no_progress
from xtc_viz.models.prompts import check_prompts, check_room
from xtc_viz.models.remote.kinds import recognize
from xtc_viz.models.remote.kinds.base import Server
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.models.remote.values import Reader
from xtc_viz.models.remote.wire import Wire
from xtc_viz.models.tokentable import StreamDetokenizer
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.sampling.distribution import PartialLogits

FIRST = 128  # candidates: as many as are recorded, and some
FACTOR = 4
STANDING = FIRST * FACTOR**2
OFTEN = 0.25  # of about the last ten steps; a step that is asked twice takes two forwards

Ids = tuple[int, ...]


class RemoteModel:
    """A model that runs in a server. Make one with `RemoteModel.connect`."""

    def __init__(
        self, spec: RemoteSpec, server: Server, wire: Wire, progress: Progress = no_progress
    ) -> None:
        self.spec = spec
        self.wire = wire
        self.server = server
        facts = server.facts(progress)
        self._info = facts.info
        self._table = facts.table
        self._fingerprint = facts.fingerprint
        self._still = server.still()
        self._piece = lru_cache(maxsize=4096)(server.piece)
        weakref.finalize(self, wire.close)

    @classmethod
    def connect(cls, spec: RemoteSpec | str, progress: Progress = no_progress) -> RemoteModel:
        """Ask what runs at an address. Raises `ServerError` with what is wrong."""
        spec = RemoteSpec(spec) if isinstance(spec, str) else spec
        wire = Wire(spec.name, spec.key)
        progress(f"asking {spec.short_name} what it is", None)
        try:
            return cls(spec, recognize(wire, spec.tokenizer), wire, progress)
        except BaseException:
            wire.close()
            raise

    @property
    def info(self) -> ModelInfo:
        return self._info

    def fingerprint(self) -> str:
        """Return a short text that another model would change, as far as the server tells."""
        return self._fingerprint

    def encode(self, text: str) -> list[int]:
        return self.server.tokenize(text)

    def encode_chat(self, user: str, system: str = "", *, thinking: bool = True) -> list[int]:
        if not self._info.has_chat_template:
            raise PromptError(f"{self._info.name} has no chat template: send the text as it is.")
        return self.server.chat(user, system, thinking)

    def token_text(self, token_id: int) -> str:
        if self._table.bytes_of(token_id):
            return self._table.text_of(token_id)
        return self._piece(token_id) or self._table.text_of(token_id)

    def detokenizer(self, prefix_ids: Sequence[int] = ()) -> StreamDetokenizer:
        return StreamDetokenizer(self._table, prefix_ids)

    def check_same(self) -> None:
        """Raise `ServerError` where nobody answers, or it is another model by now."""
        if self.server.still() != self._still:
            raise self.wire.error(f"no longer runs {self._info.name}: load it again")

    def start(self, prompts: Sequence[Sequence[int]]) -> RemoteGeneration:
        """Raises `ServerError` too: nobody answers, or it is another model by now."""
        rows = check_prompts(prompts, self._info)
        self.check_same()
        return RemoteGeneration(self.server, self._info, rows)


_NOTHING = PartialLogits(np.zeros(1, np.int64), np.zeros(1, np.float32), 0.0)
"""For a row whose context is full: nobody looks at it."""


class _Row:
    """One row: its tokens, and how many candidates it is shown at first.

    Nothing here depends on the rows beside it. `short` is the share of its latest steps that needed
    more.
    """

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.count = FIRST
        self.short = 0.0
        self.known: PartialLogits | None = None

    def advance(self, token: int) -> None:
        self.ids, self.known = (*self.ids, token), None
        if self.short > OFTEN and self.count < STANDING:
            self.count, self.short = self.count * FACTOR, 0.0
        self.short *= 0.9


class RemoteGeneration:
    """A decode of rows whose contexts the server keeps in its own cache, or reads again."""

    accepts_rows = True
    costs_by_row: Literal[True] = True

    def __init__(self, server: Server, info: ModelInfo, prompts: Sequence[Ids]) -> None:
        self._server = server
        self._info = info
        self._rows = [_Row(prompt) for prompt in prompts]
        served = info.served
        self._most = (served and served.candidates) or info.vocab_size
        self._seen: dict[Ids, PartialLogits] = {}
        self._ask(self._rows)

    @property
    def logits(self) -> Sequence[PartialLogits]:
        return self._shown(self._rows)

    def advance(self, token_ids: Sequence[int]) -> Sequence[PartialLogits]:
        if len(token_ids) != len(self._rows):
            raise ValueError(f"{len(self._rows)} rows need a token each, got {len(token_ids)}")
        check_room(min(len(row.ids) for row in self._rows) + 2, self._info)
        for row, token in zip(self._rows, token_ids, strict=True):
            row.advance(int(token))
        self._seen.clear()
        self._ask([row for row in self._rows if len(row.ids) < self._info.context_length])
        return self.logits

    def replace(
        self, places: Sequence[int], prompts: Sequence[Sequence[int]]
    ) -> Sequence[PartialLogits]:
        rows = [_Row(prompt) for prompt in check_prompts(prompts, self._info)]
        self._ask(rows)
        for place, row in zip(places, rows, strict=True):
            self._rows[place] = row
        return self._shown(rows)

    def keep(self, places: Sequence[int]) -> None:
        self._rows = [self._rows[place] for place in places]

    def close(self) -> None:
        self._rows = []
        self._seen.clear()

    def _ask(self, rows: Sequence[_Row]) -> None:
        """Ask for what these rows go on with, in one request; rows alike are one."""
        wanted = {row.ids: row for row in rows}
        if wanted:
            count = max(row.count for row in rows)
            self._fetch(list(wanted), count)
        for row in rows:
            row.known = self._seen[row.ids]

    def _fetch(self, prompts: Sequence[Ids], count: int) -> None:
        count = min(count, self._most)
        known = self._server.candidates(prompts, count)
        self._seen.update(zip(prompts, known, strict=True))

    def _shown(self, rows: Sequence[_Row]) -> list[PartialLogits]:
        return [self._view(row, row.count) for row in rows]

    def _view(self, row: _Row, count: int) -> PartialLogits:
        """Return the `count` most probable tokens, whatever more the server has shown."""
        known = row.known
        if known is None:
            return _NOTHING
        if count < len(known.ids):
            known = Reader.known(known.ids[:count], known.log_probs[:count], self._info.vocab_size)
        if len(known.ids) == self._most or not known.outside:  # all that it shows, or that there is
            return known
        ids = row.ids
        return PartialLogits(
            known.ids, known.log_probs, known.outside, lambda: self._wider(row, ids, count)
        )

    def _wider(self, row: _Row, ids: Ids, count: int) -> PartialLogits:
        more = min(count * FACTOR, self._most)
        if row.ids != ids or row.known is None:
            raise RuntimeError("this step is over: its row has gone on")
        if ids not in self._seen or len(self._seen[ids].ids) < more:
            self._fetch([ids], more)
        row.known = self._seen[ids]
        if count == row.count:
            row.short += 0.1
        return self._view(row, more)
