"""An engine as data: its XTC, its chain, and where both were read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from xtc_viz.sampling.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Source:
    """Where an engine's rule was read: a file of a repository, at a version, on a day."""

    repository: str
    path: str
    version: str
    read: date


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine.

    `order` is its own order of the stages that are known here and that it has, XTC among them;
    `free_order` says that its users may choose another. `rho` and `tau` are what it takes where
    nobody says anything. The rest are sentences for people: `protects` says which tokens it
    protects by itself, `refuses` which settings it does not take, `seed` what a seed decides there,
    `remarks` what else a user of it meets. `min_keep` says that it has a setting of that name, with
    which XTC does nothing where fewer tokens would be left. `place` is its place in tables.
    """

    dialect: Dialect
    source: Source
    order: tuple[str, ...]
    free_order: bool
    rho: float
    tau: float
    protects: str
    refuses: str
    seed: str
    remarks: tuple[str, ...] = ()
    min_keep: bool = False
    place: int = 0

    @property
    def name(self) -> str:
        return self.dialect.name
