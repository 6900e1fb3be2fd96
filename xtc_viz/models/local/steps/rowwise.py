"""Decodes for models that several rows at once would get wrong: each row by itself.

A step costs as many forwards as there are rows. Nothing of one row is near another, so that it is
right wherever the model itself is.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.local.placement import devices_of
from xtc_viz.models.local.steps.cache import new_cache
from xtc_viz.models.local.steps.forward import arguments_of, forward_alone, forward_whole
from xtc_viz.models.local.steps.generation import memory_in_words
from xtc_viz.models.prompts import check_prompts, check_room
from xtc_viz.records.modelinfo import ModelInfo


class Text:
    """One row: its tokens, and what the model keeps of them."""

    def __init__(self, model: Any, ids: Sequence[int], *, with_cache: bool) -> None:
        self._model = model
        self._with_cache = with_cache
        self._cache: dict[str, Any] = {}
        self._inside: dict[tuple[torch.nn.Module, str], torch.Tensor] = {}
        self.ids = list(ids)
        self.logits = self._prefill()
        if with_cache and not self._cache:
            # Some fill one that they are given, but do not make it.
            if "past_key_values" not in arguments_of(model).names:
                raise ModelError("the model keeps no cache")
            self._cache = {"past_key_values": new_cache(model.config)}
            self.logits = self._prefill()

    def advance(self, token: int) -> None:
        self.ids.append(token)
        # What keeps nothing is told the whole text again.
        self.logits = self._run([token] if self._cache else self.ids)

    def twin(self) -> Text:
        """Return another row with the same tokens, which goes its own way."""
        twin = copy.copy(self)
        twin.ids = list(self.ids)
        twin._cache = copy.deepcopy(self._cache)
        twin._inside = {place: value.clone() for place, value in self._inside.items()}
        return twin

    def _prefill(self) -> torch.Tensor:
        if _kept_inside(self._model):
            # Of another row; a forward without a cache leaves nothing.
            forward_whole(self._model, self._tensor(self.ids[:1]))
        return self._run(self.ids)

    def _run(self, ids: list[int]) -> torch.Tensor:
        # They hold what the row had that went last.
        for (module, name), value in self._inside.items():
            setattr(module, name, value)
        start = len(self.ids) - len(ids)
        logits, self._cache = forward_alone(
            self._model, self._tensor(ids), start, self._cache, self._with_cache
        )
        self._inside = _kept_inside(self._model) if self._cache else {}
        return logits

    def _tensor(self, ids: list[int]) -> torch.Tensor:
        return torch.tensor([ids]).to(devices_of(self._model)[0])


def _kept_inside(model: torch.nn.Module) -> dict[tuple[torch.nn.Module, str], torch.Tensor]:
    """Return the tensors that modules keep beside their weights, as RecurrentGemma's do."""
    return {
        (module, name): value
        for module in model.modules()
        for name, value in vars(module).items()
        if isinstance(value, torch.Tensor)
    }


class RowwiseGeneration:
    """The `Generation` of rows that go one after another."""

    def __init__(
        self,
        model: Any,
        info: ModelInfo,
        prompts: Sequence[Sequence[int]],
        *,
        with_cache: bool,
    ) -> None:
        """Prefill the prompts. Without a cache each step runs the whole texts."""
        self._model = model
        self._info = info
        self._with_cache = with_cache
        self._rows: list[Text] | None = self._prefill(prompts)

    @property
    def logits(self) -> torch.Tensor:
        return torch.cat([row.logits for row in self._open()])

    @property
    def accepts_rows(self) -> bool:
        return True

    def advance(self, token_ids: Sequence[int]) -> torch.Tensor:
        rows = self._open()
        if len(token_ids) != len(rows):
            raise ValueError(f"{len(rows)} rows need a token each, got {len(token_ids)}")
        lengths = [len(row.ids) for row in rows]
        check_room(min(lengths) + 2, self._info)
        with torch.inference_mode(), memory_in_words(self._info, max(lengths), len(rows)):
            for row, token in zip(rows, token_ids, strict=True):
                # A row whose context is full stays as it is; nobody reads its logits.
                if len(row.ids) < self._info.context_length:
                    row.advance(token)
        return self.logits

    def replace(self, places: Sequence[int], prompts: Sequence[Sequence[int]]) -> torch.Tensor:
        rows, newcomers = self._open(), self._prefill(prompts)
        for place, newcomer in zip(places, newcomers, strict=True):
            rows[place] = newcomer
        return torch.cat([row.logits for row in newcomers])

    def keep(self, places: Sequence[int]) -> None:
        rows = self._open()
        self._rows = [rows[place] for place in places]

    def close(self) -> None:
        self._rows = None

    def _open(self) -> list[Text]:
        if self._rows is None:
            raise RuntimeError("this generation was closed")
        return self._rows

    def _prefill(self, prompts: Sequence[Sequence[int]]) -> list[Text]:
        checked = check_prompts(prompts, self._info)
        first: dict[tuple[int, ...], Text] = {}
        rows = []
        with (
            torch.inference_mode(),
            memory_in_words(self._info, max(map(len, checked)), len(checked)),
        ):
            for prompt in checked:
                row = first.get(prompt)
                if row is None:
                    row = Text(self._model, prompt, with_cache=self._with_cache)
                    first[prompt] = row
                    rows.append(row)
                else:
                    rows.append(row.twin())
        return rows
