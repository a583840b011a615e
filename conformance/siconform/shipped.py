"""Locations of the files that come with the kit, in a wheel or a checkout.

A wheel has ``mutation``, ``queues``, ``results`` and ``targets`` of the checkout's ``fixtures`` in
``siconform/fixtures``; pyproject.toml lists them.
"""

from importlib import resources
from pathlib import Path
from typing import Final

import platformdirs

CHECKOUT: Final = Path(__file__).resolve().parents[2]
_PACKAGED: Final = Path(str(resources.files("siconform").joinpath("fixtures")))
_NAME: Final = "siconform"


def is_checkout() -> bool:
    """Return whether the kit runs from a checkout of the project."""
    return not _PACKAGED.is_dir()


def fixtures(folder: str) -> Path:
    """Return a folder that comes with the kit, such as ``targets``."""
    return (CHECKOUT / "fixtures" if is_checkout() else _PACKAGED) / folder


def builds() -> Path:
    """Return the folder for schedulers that the kit builds.

    That is ``build/targets`` in a checkout, else the user's cache (on Linux
    ``$XDG_CACHE_HOME/siconform`` or ``~/.cache/siconform``).
    """
    if is_checkout():
        return CHECKOUT / "build" / "targets"
    return platformdirs.user_cache_path(_NAME, appauthor=False) / "targets"
