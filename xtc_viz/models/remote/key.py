"""The key that servers want, from the environment: a flag would stand in the list of processes."""

from __future__ import annotations

import os
from collections.abc import Mapping

VARIABLE = "XTC_VIZ_SERVER_KEY"


def key_of(environment: Mapping[str, str] = os.environ) -> str:
    """Return the key for servers that whoever runs this program has named, and for no other."""
    return environment.get(VARIABLE, "").strip()
