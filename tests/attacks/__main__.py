"""`python -m tests.attacks`: the whole campaign, and its report."""

from __future__ import annotations

import argparse
import sys
import time

from xtc_viz.threads import wait_passively

wait_passively()

from tests.attacks.campaign import campaign  # noqa: E402

flags = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
flags.add_argument("--count", type=int, default=10_000, help="about how many inputs")
options = flags.parse_args()
begin = time.monotonic()
report = campaign(options.count)
print("\n".join(report.lines(time.monotonic() - begin)))
sys.exit(0 if report.withstood else 1)
