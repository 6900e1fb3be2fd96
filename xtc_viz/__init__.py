"""See what the XTC decoding rule does to every single token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xtc_viz.settings import XTCSettings

if TYPE_CHECKING:
    from xtc_viz.runs.protection import protected_tokens
    from xtc_viz.sampling.operator import XTCLogitsProcessor, apply_xtc

__all__ = ["XTCLogitsProcessor", "XTCSettings", "apply_xtc", "protected_tokens"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import the operator, and torch with it, only when it is asked for."""
    if name == "protected_tokens":
        from xtc_viz.runs import protection

        return protection.protected_tokens
    if name in __all__:
        from xtc_viz.sampling import operator

        return getattr(operator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
