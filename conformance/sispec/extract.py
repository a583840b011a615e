"""Writes what a specification declares: its protobuf, a descriptor set and its constants."""

import json
import shutil
import tempfile
from pathlib import Path

from sispec.compiling import SI_FILE, with_imports
from sispec.model import Spec, SpecError, UnreadableSpec

DESCRIPTOR_SET = "si.binpb"
CONSTANTS = "constants.json"
FILES = (SI_FILE, DESCRIPTOR_SET, CONSTANTS)


class OccupiedFolder(Exception):
    """The output folder has foreign files, or is not a folder."""


def extract(spec: Spec, folder: Path) -> tuple[Path, ...]:
    """Write si.proto, si.binpb (with its imports) and constants.json; return the paths.

    The folder is new, empty, or of an earlier extraction; it is written atomically. Raises
    UnreadableSpec if there is no source to write, OccupiedFolder if the folder has other files, and
    OSError if it cannot be written.
    """
    if not spec.source:
        message = "it has no protobuf source: give a specification or a .proto file"
        raise UnreadableSpec(spec.name, [SpecError(message)])
    folder = folder.absolute()
    if folder.exists() and not _is_ours(folder):
        message = f"{folder} has other files or is not a folder: name a new or empty folder"
        raise OccupiedFolder(message)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        whole = scratch / "new"
        whole.mkdir()
        for name, data in contents(spec).items():
            (whole / name).write_bytes(data)
        if folder.exists():
            folder.rename(scratch / "old")
        whole.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return tuple(folder / name for name in FILES)


def contents(spec: Spec) -> dict[str, bytes]:
    """Return what `extract` writes, by file name."""
    constants = {constant.name: constant.value for constant in spec.constants.values()}
    return {
        SI_FILE: spec.source.encode(),
        DESCRIPTOR_SET: with_imports(spec.file).SerializeToString(deterministic=True),
        CONSTANTS: (json.dumps(constants, indent=2, ensure_ascii=False) + "\n").encode(),
    }


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and all(path.name in FILES for path in folder.iterdir())
