"""The tiny models of the catalog's architectures."""

from __future__ import annotations

from tests.models.conftest import load, tiny_folder

__all__ = ["load", "tiny_folder"]
