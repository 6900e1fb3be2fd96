"""Benchmarks: each measures one thing against a reference in the same run.

`python -m bench` runs them all; `python -m bench.operator --help` says what one of them measures.
"""

from xtc_viz.threads import wait_passively

wait_passively()
