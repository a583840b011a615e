"""Finds the supported Pythons on this machine."""

import glob
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

OLDEST: Final = (3, 11)
_NEWEST: Final = 20  # of 3.x
_PLACES: Final = ("~/.pyenv/versions/3.*/bin/python", "/opt/python/*/bin/python")
_ASKS: Final = "import sys; print(*sys.version_info[:2])"


def oldest_and_newest() -> list[tuple[str, Path]]:
    """Return version and path of the oldest and the newest, one entry if they are the same."""
    found = {version: path for path in _there() if (version := _version(path)) >= OLDEST}
    chosen = sorted({min(found), max(found)}) if found else []
    return [(".".join(map(str, version)), found[version]) for version in chosen]


def _there() -> Iterator[Path]:
    for minor in range(OLDEST[1], _NEWEST):
        on_path = shutil.which(f"python3.{minor}")
        if on_path:
            yield Path(on_path)
    for place in _PLACES:
        yield from (Path(p) for p in sorted(glob.glob(str(Path(place).expanduser()))))  # noqa: PTH207  # from the root


def _version(python: Path) -> tuple[int, ...]:
    """Return major and minor; () for a shim of a version that is not installed."""
    done = subprocess.run(  # noqa: S603  # our own words
        [python, "-c", _ASKS], capture_output=True, text=True, timeout=30, check=False
    )
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else ()
