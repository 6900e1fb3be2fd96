"""No value that a request brings is a file: of one that says so, gradio fetches what it names."""

from __future__ import annotations

from typing import NoReturn

from gradio_client.utils import is_file_obj_with_meta, traverse

from xtc_viz.errors import XTCVizError

NO_FILES = "No value of a request may be a file: an object with a `path` and gradio's `meta`."


def check_no_files(values: object) -> None:
    """Raise `XTCVizError` where a value, or what is in it, is a file to gradio."""
    traverse(values, _refuse, is_file_obj_with_meta)


def _refuse(_: object) -> NoReturn:
    raise XTCVizError(NO_FILES)
