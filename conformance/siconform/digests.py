"""Digests that identify the installed kit: the catalogue, the suite, and all that decides."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
import siwire

from siconform.catalogue import catalogue

_KIT: Final = Path(__file__).parent
_SUITE: Final = ("suite", "suite_rm", "monitors")
_ASIDE: Final = ("commands", "reporting", "doctor", "cli.py", "generated.py")
"""Parts that present results and decide no verdict."""


@cache
def of_the_kit() -> dict[str, str]:
    """Return the SHA-256 digests of ``catalogue``, ``suite`` and ``kit``."""
    suite = [file for name in _SUITE for file in _python(_KIT / name)]
    rest = [file for file in _python(_KIT) if file.relative_to(_KIT).parts[0] not in _ASIDE]
    wire = list(_python(Path(siwire.__file__).parent))
    return {
        "catalogue": of_text(_catalogue()),
        "suite": of_texts(suite, _KIT),
        "kit": of_text(of_texts(rest, _KIT) + of_texts(wire, Path(siwire.__file__).parent)),
    }


def of_text(text: str) -> str:
    """Return the digest of a text, independent of line endings."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()


def of_texts(files: Iterable[Path], root: Path) -> str:
    """Return one digest of these text files and their paths below the root."""
    listed = (f"{of_text(file.read_text('utf-8'))}  {_place(file, root)}\n" for file in files)
    return of_text("".join(sorted(listed)))


def of_file(file: Path) -> str:
    """Return the digest of a file's bytes."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _catalogue() -> str:
    """Return the catalogue as JSON with a deterministic key order."""
    requirements = list(catalogue().values())
    return msgspec.json.encode(requirements, order="deterministic").decode()


def _python(folder: Path) -> Iterator[Path]:
    return folder.rglob("*.py")


def _place(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix()
