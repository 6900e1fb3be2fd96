"""The stages of the sampler stack, one module each; XTC itself is `sampling.rule`.

To add one, add a module here with a `STAGE` (`base`): its knobs become settings of a sampler, and
the page, the order, the stage view and files know it.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from xtc_viz.sampling.stages.base import Stage


def _stages() -> tuple[Stage, ...]:
    names = [module.name for module in iter_modules(__path__) if module.name != "base"]
    stages = [import_module(f"{__name__}.{name}").STAGE for name in names]
    return tuple(sorted(stages, key=lambda stage: stage.place))


STAGES: tuple[Stage, ...] = _stages()
"""All of them in the default order."""
