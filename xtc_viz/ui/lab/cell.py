"""A stored text in the inspector of the page: what `#cell=NAME` behind its address asks for."""

from __future__ import annotations

from xtc_viz.ui.heavy import VISITOR, opened
from xtc_viz.ui.lab.questions import Lab, cells_as_trace, guarded
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.server import Question


def cell_question(lab: Lab, store: RunStore) -> Question:
    """Return the question that shows one stored text, or two of the same dice side by side."""

    def cell(names: object) -> object:
        """Show stored texts by their names; the answer is a whole message."""
        run = Run.of(cells_as_trace(lab.path, names), "loaded")
        key = store.add(run, owner=VISITOR.get())
        return opened(run, key, [])

    return guarded(lab, cell)
