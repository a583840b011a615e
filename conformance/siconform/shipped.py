"""Where the files are that come with the kit: of a wheel inside the package, else of the checkout.

The wheel has ``mutation``, ``queues``, ``results`` and ``targets`` of the checkout's ``fixtures``
as ``siconform/fixtures``; pyproject.toml lists them.
"""

from importlib import resources
from pathlib import Path
from typing import Final

import platformdirs

CHECKOUT: Final = Path(__file__).resolve().parents[2]
_PACKAGED: Final = Path(str(resources.files("siconform").joinpath("fixtures")))
_NAME: Final = "siconform"


def is_checkout() -> bool:
    """Whether the kit runs from a checkout of the project."""
    return not _PACKAGED.is_dir()


def fixtures(folder: str) -> Path:
    """The folder of this name among those that come with the kit, such as ``targets``."""
    return (CHECKOUT / "fixtures" if is_checkout() else _PACKAGED) / folder


def builds() -> Path:
    """Where the schedulers go that the kit builds: never beside the installed package.

    In a checkout that is ``build/targets``, else in the user's cache (on Linux
    ``$XDG_CACHE_HOME/siconform`` or ``~/.cache/siconform``).
    """
    if is_checkout():
        return CHECKOUT / "build" / "targets"
    return platformdirs.user_cache_path(_NAME, appauthor=False) / "targets"
