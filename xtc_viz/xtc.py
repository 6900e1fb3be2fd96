"""The XTC operator on logits: a pure function over rows, and a processor for `model.generate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import torch

from xtc_viz.errors import DistributionError
from xtc_viz.rule import Decision, decide
from xtc_viz.settings import XTCSettings


def apply_xtc(
    logits: torch.Tensor, coin: Sequence[float] | torch.Tensor, settings: XTCSettings
) -> tuple[torch.Tensor, list[Decision]]:
    """Apply XTC to each row (paper, Algorithm 1) and say what happened to it.

    Args:
        logits: (B, V), any float dtype, CPU or CUDA; -inf masks a token. Never written to.
        coin: (B,), uniform in [0, 1); XTC fires in a row when its coin is under ρ.
        settings: ρ, τ, strategy and protected tokens.

    Returns:
        New logits (B, V) of the same dtype and device with the removed tokens at -inf (their
        softmax is the renormalized q), and one `Decision` a row. Rows are independent.

    Raises:
        DistributionError: a row holds NaN or +inf, or nothing but -inf.
    """
    if logits.dim() != 2 or len(coin) != logits.shape[0]:
        raise ValueError(
            f"`logits` must be (B, V) with one coin a row, but are {tuple(logits.shape)} "
            f"with {len(coin)} coins"
        )
    coins = coin.tolist() if isinstance(coin, torch.Tensor) else coin
    decisions = [
        decide(ids, probs, coin, settings)
        for (ids, probs), coin in zip(_eligible(logits, settings), coins, strict=True)
    ]
    result = logits.clone()
    rows = [row for row, decision in enumerate(decisions) for _ in decision.removed]
    if rows:
        removed = [token for decision in decisions for token in decision.removed]
        result[rows, removed] = -torch.inf
    return result, decisions


def _eligible(
    logits: torch.Tensor, settings: XTCSettings
) -> Iterator[tuple[list[int], list[float]]]:
    """Yield each row's tokens with p ≥ τ in float32 and their p, as `decide` wants them.

    At most ⌊1/τ⌋ tokens can be eligible, so no row is ever sorted: on the CPU a comparison finds
    them, elsewhere a top-k brings them to the host in one copy.
    """
    p = torch.softmax(logits, dim=-1, dtype=torch.float32)
    width = p.shape[1]
    if p.device.type == "cpu":
        flat = p.detach().numpy().reshape(-1)
        bad = np.isnan(flat[::width])
        found = np.flatnonzero(flat >= np.float32(settings.tau))
        ends = np.searchsorted(found, np.arange(len(p) + 1) * width).tolist()
        ids, probs = (found % width).tolist(), flat[found].tolist()
    else:
        top, where = p.topk(min(width, settings.max_eligible), dim=-1, sorted=False)
        values, columns = top.cpu().numpy(), where.cpu().numpy()
        bad = np.isnan(values).any(axis=1)
        rows, places = np.nonzero(values >= np.float32(settings.tau))
        ends = np.searchsorted(rows, np.arange(len(p) + 1)).tolist()
        ids, probs = columns[rows, places].tolist(), values[rows, places].tolist()
    if bad.any():
        # A softmax with NaN, +inf or only -inf in its input is NaN in every place.
        raise DistributionError(
            f"`logits` must be finite or -inf with at least one finite value in every row, "
            f"but row {int(bad.argmax())} is not"
        )
    for start, end in pairwise(ends):
        row = sorted(zip(ids[start:end], probs[start:end], strict=True), key=_falling)
        yield [token for token, _ in row], [p for _, p in row]


def _falling(candidate: tuple[int, float]) -> tuple[float, int]:
    """Sort key: falling probability, equal ones by rising id."""
    return -candidate[1], candidate[0]


class XTCLogitsProcessor:
    """XTC for `model.generate(logits_processor=[...])`, one coin a row and step.

    transformers runs custom processors after its own penalties and before its warpers
    (temperature, top-k, top-p …). To have XTC act on the warped distribution, as the paper does,
    pass those as processors too, in front of this one.
    """

    def __init__(
        self, settings: XTCSettings | None = None, generator: torch.Generator | None = None
    ) -> None:
        """`generator` draws the coins; without one they come from torch's global generator."""
        self.settings = settings or XTCSettings()
        self.generator = generator

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return new scores (B, V); `input_ids` (B, T) is not used."""
        device = self.generator.device if self.generator else "cpu"
        coin = torch.rand(len(scores), generator=self.generator, device=device)
        return apply_xtc(scores, coin, self.settings)[0]
