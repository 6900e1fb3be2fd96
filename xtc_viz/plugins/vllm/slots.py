"""The requests of a batch by the slots that a server gives them, and what a step does to each."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

import torch

from xtc_viz.plugins.vllm.ondevice import RowSettings, exclude
from xtc_viz.plugins.vllm.parameters import Parameters
from xtc_viz.sampling.randomness import SharedRandomness


class Slots:
    """Which slot holds which request; slots without XTC are not in it.

    Coins are those of the page: `randomness`, of the request's seed and the number of tokens that
    it has written before. The host knows them, so that a step at which nothing fires costs nothing.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._requests: dict[int, tuple[Parameters, SharedRandomness]] = {}
        # The settings of rows on the device, until another batch comes.
        self._batch: tuple[int, ...] = ()
        self._static: dict[str, torch.Tensor | None] = {}
        self._most = 1

    def __len__(self) -> int:
        return len(self._requests)

    def put(self, slot: int, parameters: Parameters | None) -> bool:
        """Give a slot to a request; return whether XTC has something to do in it."""
        self._batch = ()
        self._requests.pop(slot, None)
        if parameters is None or not (parameters.rho or parameters.cuts):
            return False
        seed = secrets.randbits(63) if parameters.seed is None else parameters.seed
        self._requests[slot] = parameters, SharedRandomness(seed)
        return True

    def free(self, slot: int) -> None:
        self._batch = ()
        self._requests.pop(slot, None)

    def move(self, source: int, target: int, *, swap: bool) -> None:
        """Give a request another slot, whose own request takes the first one or goes."""
        self._batch = ()
        moved, displaced = self._requests.pop(source, None), self._requests.pop(target, None)
        if moved is not None:
            self._requests[target] = moved
        if swap and displaced is not None:
            self._requests[source] = displaced

    def apply(
        self,
        logits: torch.Tensor,
        slots: Sequence[int],
        steps: Iterable[int],
        temperature: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Apply each row's settings to `logits` (B, V), in place, and return them.

        Row i belongs to the request in `slots[i]`, which has written `steps[i]` tokens. The logits
        are divided by `temperature` (B,) where they were not before.
        """
        fires, cuts = [], False
        for slot, step in zip(slots, steps, strict=True):
            parameters, dice = self._requests.get(slot, (None, None))
            fires.append(
                parameters is not None
                and dice is not None
                and parameters.rho > 0
                and dice.coin(max(0, step)) < parameters.rho
            )
            cuts |= parameters is not None and parameters.cuts
        if not (any(fires) or cuts):
            return logits
        self._prepare(tuple(slots), logits.shape[1])
        settings = RowSettings(fires=self.tensor(fires), most=self._most, **self._static)  # type: ignore[arg-type]
        return exclude(logits, settings, temperature)

    def _prepare(self, slots: tuple[int, ...], vocab_size: int) -> None:
        """Bring the settings of these rows to the device, unless they are there."""
        if slots == self._batch:
            return
        rows = [self._requests[slot][0] if slot in self._requests else None for slot in slots]
        known = [row for row in rows if row is not None]
        widest = max(len(row.protected) for row in known)
        ids = [sorted(row.protected) if row else [] for row in rows]
        self._batch = slots
        self._most = max(int(1 / row.tau) for row in known) + 1
        self._static = {
            # No p is above 1: a row without XTC has no eligible token.
            "tau": self.tensor([row.tau if row else 2.0 for row in rows]),
            "protected": self.tensor([own + [-1] * (widest - len(own)) for own in ids]),
            "top_k": None,
            "top_p": None,
            "min_p": None,
        }
        if any(row.top_k for row in known):
            counts = [row.top_k or vocab_size if row else vocab_size for row in rows]
            self._static["top_k"] = self.tensor(counts)
        if any(row.top_p < 1 for row in known):
            # What stands before a token has less than 2 always: nothing is cut.
            masses = [row.top_p if row and row.top_p < 1 else 2.0 for row in rows]
            self._static["top_p"] = self.tensor(masses)
        if any(row.min_p for row in known):
            self._static["min_p"] = self.tensor([row.min_p if row else 0.0 for row in rows])

    def tensor(self, values: Sequence[object]) -> torch.Tensor:
        """Bring values to the device without waiting for it."""
        host = torch.tensor(values)
        if self._device.type != "cuda":
            return host.to(self._device)
        return host.pin_memory().to(self._device, non_blocking=True)
