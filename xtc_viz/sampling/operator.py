"""The XTC operator on logits: a pure function over rows, and a processor for `model.generate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch

from xtc_viz.errors import DistributionError
from xtc_viz.sampling.rule import Decision, decide
from xtc_viz.settings import XTCSettings

FEW = 64
"""Up to so many eligible tokens a row, finding them one by one is the faster way."""


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
    result = logits.clone(memory_format=torch.contiguous_format)
    width = result.shape[1]
    removed = [row * width + v for row, found in enumerate(decisions) for v in found.removed]
    if removed:
        places = torch.tensor(removed).to(result.device, non_blocking=True)
        result.view(-1).index_fill_(0, places, -torch.inf)
    return result, decisions


def _eligible(
    logits: torch.Tensor, settings: XTCSettings
) -> Iterator[tuple[list[int], list[float]]]:
    """Yield each row's tokens with p ≥ τ in float32 and their p, as `decide` wants them.

    At most ⌊1/τ⌋ tokens can be eligible, so no row is ever sorted: on the CPU a comparison finds
    them, elsewhere a top-k brings them to the host in one copy.
    """
    p = torch.softmax(logits.detach(), dim=-1, dtype=torch.float32)
    tokens = None
    if p.device.type == "cpu":
        rows = p.numpy()
    else:
        rows, tokens = _largest(p, settings.max_eligible)
    tau = np.float32(settings.tau)
    for number, row in enumerate(rows):
        if np.isnan(row[0]):
            # A softmax with NaN, +inf or only -inf in its input is NaN in every place.
            raise DistributionError(
                f"`logits` must be finite or -inf with at least one finite value in every row, "
                f"but row {number} is not"
            )
        places = _true_places(row >= tau, settings.max_eligible)
        ids = places if tokens is None else tokens[number, places].tolist()
        found = sorted(zip(ids, row[places].tolist(), strict=True), key=_falling)
        yield [token for token, _ in found], [p for _, p in found]


def _largest(p: torch.Tensor, most: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Return the `most` largest of each row of `p`, (B, V), and their places, in any order."""
    top, places = p.topk(min(p.shape[1], most), dim=-1, sorted=False)
    # Both as integers, for each copy from a GPU makes the host wait.
    both = torch.stack((top.view(torch.int32), places.int())).cpu().numpy()
    return both[0].view(np.float32), both[1]


def _true_places(mask: npt.NDArray[np.bool_], most: int) -> list[int]:
    """Return where `mask`, (n,) with at most `most` true places, is true.

    A few are found one by one, as argmax stops at the first: half the time of a nonzero.
    """
    if most > FEW:
        return np.flatnonzero(mask).tolist()
    places = []
    start = 0
    while start < len(mask):
        start += int(mask[start:].argmax())
        if not mask[start]:
            break
        places.append(start)
        start += 1
    return places


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
