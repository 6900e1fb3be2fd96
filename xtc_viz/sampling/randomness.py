"""The shared random numbers of a run: counter-based, the same on every device.

They come from Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011;
numpy's `Philox`, Random123's `philox4x64`). Another program reproduces them like this:

- key = (seed, stream) with stream 0 for coins and 1 for noise;
- block j of step t of source s has the counter words (j + 1, 0, t, s), low word first (numpy
  increments before it generates, hence the + 1), and yields four 64-bit words in order;
- the source s is 0 for all lanes of a run with shared randomness, else 1 + the lane's number;
- coin(t): the first word w of block 0 of stream 0, as (w >> 11) · 2⁻⁵³, in [0, 1);
- noise(t): the words of stream 1 one after the other, each split into its low and then its high
  32 bits: integer r_v for token id v. It stands for the uniform u_v = (r_v + ½) · 2⁻³² in (0, 1)
  and the Gumbel noise g_v = -log(-log u_v), in float64.

Step t draws argmax over v of (log p(v) + g_v), equal scores by the lowest id: exactly a draw from
p. XTC fires at step t when coin(t) < ρ. Both draws belong to the step, used or not, and t counts
the tokens that the lane has written before it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_COIN, _NOISE = 0, 1

Noise = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class SharedRandomness:
    """The two streams of one source: any step, in any order. `seed` is in [0, 2⁶⁴)."""

    seed: int
    source: int = 0

    def coin(self, step: int) -> float:
        """Return the coin of `step`, uniform in [0, 1)."""
        return float(int(self._words(_COIN, step, 1)[0]) >> 11) * 2.0**-53

    def noise(self, step: int, vocab_size: int) -> Noise:
        """Return the noise integers r_v of `step`, (vocab_size,) of uint32."""
        words = self._words(_NOISE, step, (vocab_size + 1) // 2)
        if sys.byteorder == "big":
            words = words.byteswap()
        return words.view("<u4").astype(np.uint32, copy=False)[:vocab_size]

    def noise_of(self, step: int, ids: Sequence[int]) -> Noise:
        """Return the noise integers r_v of `step` for these token ids alone, in their order."""
        blocks = {i // 8 for i in ids}  # four words of two integers each
        words = {block: self._words(_NOISE, step, 4, block) for block in blocks}
        halves = [int(words[i // 8][i % 8 // 2]) >> 32 * (i % 2) for i in ids]
        return np.array([half & 0xFFFFFFFF for half in halves], np.uint32)

    def _words(self, stream: int, step: int, count: int, block: int = 0) -> npt.NDArray[np.uint64]:
        philox = np.random.Philox(
            key=self.seed | stream << 64, counter=block | step << 128 | self.source << 192
        )
        return philox.random_raw(count)


def gumbel(noise: Noise) -> npt.NDArray[np.float64]:
    """Return the Gumbel noise g of these noise integers, same shape."""
    uniform = (noise + 0.5) * 2.0**-32
    result: npt.NDArray[np.float64] = -np.log(-np.log(uniform))
    return result


def noise_above(score: float) -> int:
    """Return an integer such that every noise integer whose g exceeds `score` is at least it.

    Lets a draw look only at the few tokens whose noise is high enough to matter.
    """
    uniform = math.exp(-math.exp(-min(max(score, -700.0), 700.0)))
    return max(0, int(uniform * 2.0**32) - 2)
