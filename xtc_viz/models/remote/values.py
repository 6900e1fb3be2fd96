"""What servers answer, read value by value: nothing is believed that was not looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xtc_viz.errors import ServerError, Words, shortened, shown
from xtc_viz.models.remote.wire import Wire
from xtc_viz.sampling.distribution import PartialLogits

ROUNDING = 1e-3
"""How far probabilities may add up to more than 1."""
UNSEEN = 1e-6
"""The mass that float32 sums can hide: so much lies outside wherever not all tokens are shown."""
LEAST = -1e3
"""Below this a token is impossible: some write it as -3.4e38, for JSON has no infinity."""
LONGEST_NAME = 200


class Reader:
    """Reads the answers of one server. Whatever is wrong raises `ServerError`, naming it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def mapping(self, where: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(where, "an object", value)
        return value

    def items(self, where: str, value: object, length: int | None = None) -> list[Any]:
        if not isinstance(value, list):
            raise self._wrong(where, "a list", value)
        if length is not None and len(value) != length:
            raise self._wrong(where, f"a list of {length}", Words(f"one of {len(value):,}"))
        return value

    def text(self, where: str, value: object) -> str:
        if not isinstance(value, str):
            raise self._wrong(where, "a text", value)
        return value

    def name(self, where: str, value: object) -> str:
        """Return a name that can be shown: short and printable."""
        return shortened(self.text(where, value).strip(), LONGEST_NAME)

    def integer(self, where: str, value: object, low: int = 0, high: int = 2**31 - 1) -> int:
        if type(value) is not int or not low <= value <= high:
            raise self._wrong(where, f"an integer in [{low}, {high}]", value)
        return value

    def token(self, where: str, value: object, size: int) -> int:
        return self.integer(where, value, 0, size - 1)

    def tokens(self, where: str, value: object, size: int, most: int) -> list[int]:
        ids = self.items(where, value)
        if len(ids) > most:
            raise self._wrong(where, f"at most {most:,} tokens", Words(f"{len(ids):,}"))
        return [self.token(where, i, size) for i in ids]

    def candidates(
        self, ids: Sequence[object], log_probs: Sequence[object], size: int
    ) -> PartialLogits:
        """Return the most probable tokens, the most probable first, equal ones by rising id.

        `ids` are token ids and `log_probs` their natural logs, in whatever order.
        """
        where = "`logprobs`"
        if not ids or len(ids) > size:
            raise self._wrong(where, f"1 to {size} tokens", Words(f"{len(ids):,}"))
        if not {*map(type, ids)} <= {int} or not 0 <= min(ids) <= max(ids) < size:  # type: ignore[type-var, operator]
            wrong = next(i for i in ids if type(i) is not int or not 0 <= i < size)
            raise self._wrong(where, f"of tokens in [0, {size})", wrong)
        if not {*map(type, log_probs)} <= {int, float}:
            wrong = next(p for p in log_probs if type(p) not in (int, float))
            raise self._wrong(where, "numbers", wrong)
        if len(set(ids)) < len(ids):
            raise self._wrong(where, "of different tokens", Words("of one token twice"))
        tokens = np.array(ids, np.int64)
        try:
            logs = np.array(log_probs, np.float64)
        except OverflowError:
            raise self._wrong(where, "numbers", Words("too large")) from None
        if np.isnan(logs).any() or logs.max() > ROUNDING:
            raise self._wrong(where, "at most 0", float(np.nanmax(logs, initial=np.nan)))
        mass = float(np.exp(logs).sum())
        if mass > 1.0 + ROUNDING:
            raise self._wrong(where, "of probabilities that add up to 1", mass)
        if not mass > 0.0:
            raise self._wrong(where, "of a probability", Words("of none"))
        logs = np.where(logs < LEAST, -np.inf, np.minimum(logs, 0.0))
        order = np.lexsort((tokens, -logs))
        return self.known(tokens[order], logs[order].astype(np.float32), size)

    @staticmethod
    def known(tokens: Any, logs: Any, size: int) -> PartialLogits:
        """Return these tokens with what is left for all others."""
        if len(tokens) == size:
            return PartialLogits(tokens, logs, 0.0)
        rest = 1.0 - float(np.exp(logs.astype(np.float64)).sum())
        return PartialLogits(tokens, logs, min(max(rest, UNSEEN), 1.0 - UNSEEN))

    def _wrong(self, where: str, bounds: str, value: object) -> ServerError:
        # Only numbers are quoted: what else a stranger sends may be anything.
        said = _KINDS.get(type(value)) or shown(value)
        return self._wire.error(f"answers wrongly: {where} must be {bounds}, but is {said}")


_KINDS: dict[type, str] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    type(None): "missing",
}
