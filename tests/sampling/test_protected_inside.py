"""A dialect that takes protected tokens out of E: what clears τ stays the head of the step."""

from __future__ import annotations

from xtc_viz.sampling.dialect import Dialect, Veto
from xtc_viz.sampling.rule import decide
from xtc_viz.settings import XTCSettings

OUTSIDE = Dialect("outside", veto=Veto.OUTSIDE)


def test_a_protected_token_amid_the_eligible_is_neither_removed_nor_the_underdog():
    xtc = XTCSettings(rho=1.0, tau=0.15, protected=frozenset({8}), dialect=OUTSIDE)
    decision = decide([7, 8, 9, 4], [0.4, 0.3, 0.2, 0.1], 0.0, xtc)
    assert decision.eligible == (7, 8, 9)
    assert decision.removed == (7,)
    assert decision.underdog == 9
