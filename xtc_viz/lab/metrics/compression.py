"""Compression: how many bits a byte of the texts takes, packed together."""

from __future__ import annotations

import gzip
import lzma
import math
from collections.abc import Callable

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples


def bits_per_byte(samples: Samples, compress: Callable[[bytes], bytes]) -> float | None:
    """Return 8 · compressed / raw bytes of the texts, one a line; None without a text.

    About 8 for what cannot be packed, and above it for a few words, whose header is longer than
    they are; so texts of different lengths are hard to compare.
    """
    raw = "\n".join(samples.texts).encode("utf-8", "surrogatepass")
    return 8 * len(compress(raw)) / len(raw) if raw else None


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=9, mtime=0)


def _xz(data: bytes) -> bytes:
    """Pack as `lzma.compress` does, without the 94 MB that it clears for a dictionary of 8 MB."""
    lzma2 = {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": max(4096, len(data))}
    return lzma.compress(data, filters=[lzma2])


def _metric(name: str, place: int, compress: Callable[[bytes], bytes]) -> Metric:
    return Metric(
        name=name,
        label=f"Compression {name}",
        place=place,
        family=Family.COMPRESSION,
        direction=Direction.VARIED,
        meaning=f"Bits that {name} needs for each byte of all texts together: "
        "less where they repeat themselves or each other.",
        source="ours: the paper gives no formula, and its values rise with diversity and lie "
        "higher for xz than for gzip, as bits per byte do and raw/compressed (Shaib et al. 2024) "
        "does not",
        value=lambda samples: bits_per_byte(samples, compress),
        high=math.inf,
        unit="bits/byte",
    )


METRICS = (_metric("gzip", 60, _gzip), _metric("xz", 61, _xz))
