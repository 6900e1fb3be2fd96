"""The XTC operator on logits: a pure function over rows, and a processor for `model.generate`.

On the CPU it is one softmax and little more. What costs is to read and write whole rows, most of
all from a memory that the caches do not hold, as in a real step. So the tensor of the softmax stays
the only new one: when the few tokens that may clear τ are known, the logits are written over it.
(To look first for a second token within -log τ of the largest logit, and do without the softmax
where there is none, takes a read of its own: with cold caches half of what it saves, and then it is
lost wherever XTC fires.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from xtc_viz.errors import DistributionError
from xtc_viz.sampling.rule import Decision, decide
from xtc_viz.settings import XTCSettings

FEW = 64
"""Up to so many candidates a row, finding them one by one is the faster way."""
_EXACT = (torch.float32, torch.float64)
_GONE = -math.inf


def apply_xtc(
    logits: torch.Tensor, coin: Sequence[float] | torch.Tensor, settings: XTCSettings
) -> tuple[torch.Tensor, list[Decision]]:
    """Apply XTC to each row (paper, Algorithm 1) and say what happened to it.

    p is `torch.softmax` in float32; that of float64 logits is computed in float64, then rounded.

    Args:
        logits: (B, V), any float dtype, CPU or CUDA; -inf masks a token. Never written to.
        coin: (B,), uniform in [0, 1); XTC fires in a row when its coin is under ρ.
        settings: ρ, τ, strategy and protected tokens.

    Returns:
        New logits (B, V) of the same dtype and device with the removed tokens at -inf (their
        softmax is the renormalized q), and one `Decision` a row. Rows are independent. The new
        logits share no memory with `logits`, even where nothing is removed.

    Raises:
        ValueError: `logits` are no floats (B, V) over at least one token, or not as many as coins.
        DistributionError: a row holds NaN or +inf, or nothing but -inf.
    """
    if logits.dim() != 2 or len(coin) != logits.shape[0]:
        raise ValueError(
            f"`logits` must be (B, V) with one coin a row, but are {tuple(logits.shape)} "
            f"with {len(coin)} coins"
        )
    if not logits.shape[1] or not logits.is_floating_point():
        raise ValueError(
            f"`logits` must be floats over at least one token, but are {logits.dtype} "
            f"over {logits.shape[1]}"
        )
    if logits.requires_grad:
        result, decisions = apply_xtc(logits.detach(), coin, settings)
        return logits.masked_fill(result == -torch.inf, -torch.inf), decisions
    coins = coin.tolist() if isinstance(coin, torch.Tensor) else coin
    run = _on_cpu if logits.is_cpu else _on_device
    return run(logits, coins, settings)


def _on_cpu(
    logits: torch.Tensor, coins: Sequence[float], settings: XTCSettings
) -> tuple[torch.Tensor, list[Decision]]:
    """Find the candidates by comparison, then turn the tensor of their p into the result."""
    wide = logits if logits.dtype in _EXACT else logits.float()
    result = torch.softmax(wide, dim=-1)
    rows, source = result.numpy(), wide.numpy()
    rounded = wide.dtype is torch.float64
    tau = settings.tau32
    decisions: list[Decision] = []
    for number in range(len(rows) - 1, -1, -1):  # the last row is still in the processor's cache
        row = rows[number]
        p = row.astype(np.float32) if rounded else row
        candidates = _clearing(p, tau)
        if not candidates and np.isnan(row[0]):
            raise _no_distribution(rows[: number + 1, 0])
        decision = decide(*_falling(candidates), coins[number], settings)
        row[:] = source[number]
        for v in decision.gone:
            row[v] = _GONE
        decisions.append(decision)
    return result if wide is logits else result.to(logits.dtype), decisions[::-1]


def _on_device(
    logits: torch.Tensor, coins: Sequence[float], settings: XTCSettings
) -> tuple[torch.Tensor, list[Decision]]:
    """Bring the candidates to the host in one copy, and the removed tokens back in another."""
    exact = torch.float64 if logits.dtype is torch.float64 else torch.float32
    p = torch.softmax(logits, dim=-1, dtype=exact).float()
    probs, tokens = _largest(p, settings.max_eligible)
    if np.isnan(probs).any():
        raise _no_distribution(probs[:, 0])
    decisions = []
    for row, ids, coin in zip(probs, tokens, coins, strict=True):
        high = row >= settings.tau32
        candidates = _falling([*zip((-row[high]).tolist(), ids[high].tolist(), strict=True)])
        decisions.append(decide(*candidates, coin, settings))
    result = logits.clone(memory_format=torch.contiguous_format)
    width = result.shape[1]
    removed = [row * width + v for row, d in enumerate(decisions) for v in d.gone]
    if removed:
        places = torch.tensor(removed).to(result.device, non_blocking=True)
        result.view(-1).index_fill_(0, places, -torch.inf)
    return result, decisions


def _no_distribution(probs: npt.NDArray[np.floating]) -> DistributionError:
    """Name the first row without a distribution; `probs`, (B,), holds one p of each.

    A softmax with NaN, +inf or only -inf in its input is NaN in every place.
    """
    return DistributionError(
        f"`logits` must be finite or -inf with at least one finite value in every row, "
        f"but row {np.isnan(probs).argmax()} is not"
    )


def _largest(p: torch.Tensor, most: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Return the `most` largest of each row of `p`, (B, V), and their places, in any order."""
    top, places = p.topk(min(p.shape[1], most), dim=-1, sorted=False)
    # Both as integers, for each copy from a GPU makes the host wait.
    both = torch.stack((top.view(torch.int32), places.int())).cpu().numpy()
    return both[0].view(np.float32), both[1]


def _clearing(p: npt.NDArray[np.float32], tau: float) -> list[tuple[float, int]]:
    """Return the tokens of a row whose p is not below `tau`, each with -p in front.

    A few are found one by one, as argmax stops at the first: half the time of a nonzero.
    """
    mask = p >= tau
    if tau * FEW < 1:
        ids = np.flatnonzero(mask)
        return [*zip((-p[ids]).tolist(), ids.tolist(), strict=True)]
    candidates = []
    v = 0
    while v < len(p):
        v += int(mask[v:].argmax())
        if not mask[v]:
            break
        candidates.append((-p.item(v), v))
        v += 1
    return candidates


def _falling(candidates: list[tuple[float, int]]) -> tuple[list[int], list[float]]:
    """Sort tokens, each with -p in front, by falling probability, equal ones by rising id."""
    candidates.sort()
    return [v for _, v in candidates], [-p for p, _ in candidates]


class XTCLogitsProcessor:
    """XTC for `model.generate(logits_processor=[...])`, one coin a row and step.

    transformers runs custom processors after its own penalties and before its warpers
    (temperature, top-k, top-p …). To have XTC act on the warped distribution, as the paper does,
    pass those as processors too, in front of this one. `xtc_viz.protected_tokens(tokenizer, model)`
    gives the ends of a text and the newlines for `XTCSettings(protected=...)`.
    """

    def __init__(
        self, settings: XTCSettings | None = None, generator: torch.Generator | None = None
    ) -> None:
        """`generator` draws the coins; without one they come from torch's global generator."""
        self.settings = settings or XTCSettings()
        self.generator = generator
        self._device = generator.device if generator else torch.device("cpu")

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return new scores (B, V); `input_ids` (B, T) is not used.

        Where XTC fires in no row, for want of a coin under ρ, these are `scores` themselves, not
        looked at. With ρ = 0 no coin is drawn.
        """
        rho = self.settings.rho
        if rho == 0.0:
            return scores
        rows = scores.shape[0]
        coin = torch.rand(rows, generator=self.generator, device=self._device).tolist()
        return apply_xtc(scores, coin, self.settings)[0] if min(coin) < rho else scores
