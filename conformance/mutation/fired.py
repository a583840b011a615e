"""Records whether a change took effect in a run; a run in which it did not shows nothing."""

import os
from pathlib import Path
from typing import Final

FOLDER: Final = "SI_PROOF_FIRED"  # the environment variable with the folder of the record
_FILE: Final = "fired"


def fires() -> None:
    """Record that the change took effect; only the first call writes."""
    if _folder and not _done:
        _done.append(True)
        (Path(_folder) / _FILE).touch()


def has_fired(folder: Path) -> bool:
    """Return whether the change took effect in a run with this folder."""
    return (folder / _FILE).exists()


def forget(folder: Path) -> None:
    """Clear the record before another run with this folder."""
    (folder / _FILE).unlink(missing_ok=True)


_folder: Final = os.environ.get(FOLDER, "")
_done: Final[list[bool]] = []
