"""What came of a campaign: counts, the worst of each kind, and whether it was withstood."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

SHOWN = 5  # of the faults of one kind


@dataclass
class Report:
    """What came of the attacks so far."""

    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    faults: dict[str, list[str]] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    memory: int = 0
    """Bytes over those at the start, at the most."""

    def note(self, kind: str, refused: bool) -> None:
        self.tried[kind] += 1
        self.refused[kind] += refused

    def fault(self, kind: str, words: str) -> None:
        """Something that must not be: a script that ran, an answer without words."""
        self.faults.setdefault(kind, []).append(words)

    @property
    def withstood(self) -> bool:
        return not self.faults

    def lines(self, seconds: float) -> list[str]:
        """Return the report as it is printed."""
        rows = [f"{'':32}{'tried':>8}{'refused':>9}{'accepted':>10}"]
        for kind in self.tried:
            tried, refused = self.tried[kind], self.refused[kind]
            rows.append(f"{kind:32}{tried:8,}{refused:9,}{tried - refused:10,}")
        tried, refused = self.tried.total(), self.refused.total()
        rows.append(f"{'in all':32}{tried:8,}{refused:9,}{tried - refused:10,}")
        rows.append("")
        for kind in FAULTS:
            rows.append(f"{kind:40}{len(self.faults.get(kind, [])):8,}")
        rows.append(f"{'peak memory over the start':40}{self.memory / 2**20:8,.0f} MiB")
        longest = max(self.waits, default=0.0)
        rows.append(f"{'longest wait of an honest visitor':40}{longest:8.1f} s")
        rows.append(f"{'  of so many runs of theirs':40}{len(self.waits):8,}")
        rows.append(f"{'time':40}{seconds:8.0f} s")
        for kind, faults in self.faults.items():
            rows.append(f"\n{kind}: {len(faults)}")
            rows += [f"  {fault[:400]}" for fault in faults[:SHOWN]]
        return rows


SCRIPTS, FOREIGN, UNHANDLED = "scripts run", "foreign requests", "unhandled errors"
LET_IN, WORDLESS, MIXED = "let in", "refused without proper words", "wrong texts"
FAULTS = (SCRIPTS, FOREIGN, UNHANDLED, LET_IN, WORDLESS, MIXED)
