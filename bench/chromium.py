"""The Chromium that draws for benchmarks and pictures: a whole one where there is one."""

from __future__ import annotations

import shutil

PATH = shutil.which("chromium") or shutil.which("chromium-headless-shell")
"""None where there is neither."""
