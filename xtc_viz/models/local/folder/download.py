"""Models from the hub: what is fetched, how far it is, and what went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import (
    DryRunError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils.tqdm import tqdm

from xtc_viz.errors import ModelError, shown
from xtc_viz.models.load import Progress, no_progress
from xtc_viz.models.local.folder.files import INDEX, WEIGHTS, index_files
from xtc_viz.models.local.spec import LocalSpec

# What a model is made of; never pickles, never code.
FILES = ["*.safetensors", "*.json", "*.jinja", "*.txt", "*.model"]
# Copies of the weights for other programs.
NOT_FILES = ["*/*", "consolidated*"]


def fetch(spec: LocalSpec, progress: Progress = no_progress) -> Path:
    """Return the model's folder, downloaded from the hub if need be; touches no device."""
    if spec.is_folder:
        return Path(spec.name)
    if spec.is_path:
        raise ModelError(f"There is no folder {shown(spec.short_name)} at this path.")
    progress(f"looking for {spec.name}", None)
    what: Any = {"revision": spec.revision, "allow_patterns": FILES, "ignore_patterns": NOT_FILES}
    try:
        try:
            plan = snapshot_download(spec.name, dry_run=True, **what)
            size = sum(file.file_size or 0 for file in plan if file.will_download)
        except DryRunError:
            size = 0  # The hub cannot be reached: what is here already may be all there is.
        reporter = _reporter(f"downloading {spec.name}", size, progress)
        return Path(snapshot_download(spec.name, tqdm_class=reporter, **what))
    except Exception as error:
        raise _hub_error(error, spec) from error


def is_here(name: str) -> bool:
    """Whether all weights of a hub model are on this machine, by a few looks at the hub's cache."""
    if _cached(name, WEIGHTS):
        return True
    index = _cached(name, INDEX)
    if index is None:
        return False
    try:
        return all(_cached(name, shard) for shard in index_files(index, name))
    except ModelError:
        return False


def _cached(name: str, file: str) -> Path | None:
    path = try_to_load_from_cache(name, file)
    return Path(path) if isinstance(path, str) else None


def revision_of(spec: LocalSpec, folder: Path) -> str:
    """Return the commit that a hub model was read from, or "" for a folder of one's own."""
    return "" if spec.is_folder else folder.name  # the hub's cache names folders by commit


def _reporter(words: str, size: int, progress: Progress) -> type[Any]:
    """Return a progress bar that draws nothing and tells `progress` of the bytes instead."""
    reported = 0.0

    class Reporter(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._bytes = 0.0 if kwargs.get("unit") == "B" else None
            super().__init__(*args, **kwargs | {"disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> None:
            nonlocal reported
            if self._bytes is None or not size:
                return
            # Two bars count the same bytes, on their way and on the disk.
            self._bytes += n or 0
            share = min(1.0, self._bytes / size)
            if share > reported:
                reported = share
                progress(words, share)

    return Reporter


def _hub_error(error: Exception, spec: LocalSpec) -> Exception:
    """Return what to tell of an error of the hub's client; not ours to explain: as it is."""
    name = spec.name
    if isinstance(error, GatedRepoError):
        return ModelError(
            f"{name} is gated: accept its licence on its hub page, then set the environment "
            "variable HF_TOKEN to a token of that account."
        )
    if isinstance(error, RevisionNotFoundError):
        return ModelError(f"{name} has no revision {spec.revision!r}.")
    if isinstance(error, (RepositoryNotFoundError, HFValidationError)):
        return ModelError(
            f"{name!r} was not found: it is neither a folder here nor a public model of the hub "
            "(a private one needs HF_TOKEN)."
        )
    if isinstance(error, LocalEntryNotFoundError):
        return ModelError(
            f"{name} is not on this machine and the hub cannot be reached. Check the network, or "
            "give a folder."
        )
    if isinstance(error, HfHubHTTPError):
        status = error.response.status_code if error.response is not None else "unknown"
        return ModelError(f"The hub answered with an error for {name} (status {status}).")
    if isinstance(error, OSError):
        return ModelError(f"{name} could not be downloaded: {error}")
    return error
