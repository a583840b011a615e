"""Whether a change was ever made in a run: one that was not shows nothing."""

import os
from pathlib import Path
from typing import Final

FOLDER: Final = "SI_PROOF_FIRED"  # the environment variable that names where it is written down
_FILE: Final = "fired"


def fires() -> None:
    """Something was done differently; written down the first time."""
    if _folder and not _done:
        _done.append(True)
        (Path(_folder) / _FILE).touch()


def has_fired(folder: Path) -> bool:
    """Whether it did in a run with this folder."""
    return (folder / _FILE).exists()


def forget(folder: Path) -> None:
    """Before another run with this folder."""
    (folder / _FILE).unlink(missing_ok=True)


_folder: Final = os.environ.get(FOLDER, "")
_done: Final[list[bool]] = []
