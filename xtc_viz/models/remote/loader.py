"""How `ModelHost` comes to models of servers."""

from __future__ import annotations

from collections.abc import Callable

from xtc_viz.errors import ModelError, ServerError, SettingsError
from xtc_viz.models.load import Progress, stoppable
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.models.remote.spec import RemoteSpec
from xtc_viz.models.spec import ModelSpec


class RemoteLoader:
    """Connects to servers (the `Loader` protocol). A load that is stopped ends at once."""

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], RemoteModel]:
        if not isinstance(spec, RemoteSpec):
            raise TypeError(f"`spec` must be a RemoteSpec, but is {spec!r}")
        try:
            model = stoppable(lambda inner: RemoteModel.connect(spec, inner), progress)
        except (ServerError, SettingsError) as error:
            raise ModelError(str(error)) from None
        return lambda: model

    def free_memory(self) -> None:
        pass
