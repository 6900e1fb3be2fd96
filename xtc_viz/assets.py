"""Where the files are that come with the app: the story model, prompts, traces, the page's sources.

In a checkout they lie in `assets`, beside the package; in a wheel within it, as `setup.py` says.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent
_PLACES = (_PACKAGE / "_assets", _PACKAGE.parent / "assets")
_FOLDER = next(place for place in _PLACES if place.is_dir())


def asset(name: str) -> Path:
    """Return the path of a file or folder of the assets, such as `web` or `prompts.json`."""
    return _FOLDER / name


STORY_MODEL = asset("story-model")
