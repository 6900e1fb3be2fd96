"""The store: every cell once, in a SQLite file that survives a kill at any moment.

    schema     the tables, and how a file of an older version becomes one of this
    database   the file itself: opened, brought up to date, written in transactions
    values     what is written and read, as plain values
    reading    what is read
    writing    what is written: `Store`, which reads too

What was committed survives a power cut too. Several processes may use one file.
"""

from __future__ import annotations

from xtc_viz.lab.store.values import Entry, Failure, Pace, RunRecord, Written
from xtc_viz.lab.store.writing import Store

__all__ = ["Entry", "Failure", "Pace", "RunRecord", "Store", "Written"]
