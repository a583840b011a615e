"""Reads what a plan needs of a checkout, and writes a plan into it: the whole of it or nothing."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from siconform.spec.laying.plan import Plan
from siconform.spec.laying.source_edits import NotLaidError

_READ: Final = (
    "*.md",
    "pyproject.toml",
    "noxfile.py",
    "proto/generate.py",
    "proto/si/*/si.proto",
    "proto/siwire/*.py",
    "proto/siwire/*/__init__.py",
    "proto/tests/*.py",
    "fixtures/golden/schema/*.yaml",
    "fixtures/golden/bytes/*/*",
    "reference/sireference/codec/*.py",
    "reference/tests/*.py",
    "conformance/selftest/*.py",
    "conformance/siconform/catalogue/*.yaml",
    "conformance/siconform/transport/dialects/*.py",
)


def read_checkout(root: Path) -> Mapping[str, str]:
    """The files of a checkout that a new revision may concern, by path."""
    return dict(_read(root))


def _read(root: Path) -> Iterator[tuple[str, str]]:
    for pattern in _READ:
        for path in sorted(root.glob(pattern)):
            if path.is_file():
                yield path.relative_to(root).as_posix(), path.read_text("utf-8")


def write(plan: Plan, root: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Writes the files of a plan; the paths that were written.

    `files` are those the plan was made from. Raises NotLaidError where one of them is another by
    now, and OSError where one cannot be written; then everything is as it was.
    """
    for path in plan.edited:
        if (root / path).read_text("utf-8") != files[path]:
            raise NotLaidError(f"{path} was changed meanwhile: run it again")
    wanted = {**plan.new, **plan.edited}
    made: list[Path] = []
    try:
        for path, text in wanted.items():
            made += _folders((root / path).parent)
            _replace(root / path, text)
    except OSError:
        take_back(plan, root, files)
        for folder in reversed(made):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        raise
    return tuple(sorted(wanted))


def take_back(plan: Plan, root: Path, files: Mapping[str, str]) -> None:
    """Makes the files of a plan as they were before; folders that are left empty go, too."""
    for path in plan.edited:
        if (root / path).read_text("utf-8") != files[path]:
            _replace(root / path, files[path])
    for path in plan.new:
        (root / path).unlink(missing_ok=True)
    folders = {(root / path).parent for path in plan.new}
    shutil.rmtree(root / "proto" / "siwire" / plan.of.package, ignore_errors=True)
    for folder in folders:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def can_generate() -> bool:
    """Whether what proto/generate.py needs is installed."""
    return all(find_spec(name) is not None for name in ("grpc_tools", "mypy_protobuf"))


def generate(root: Path) -> str:
    """Runs proto/generate.py of a checkout; what it complained of, "" for nothing."""
    done = subprocess.run(  # noqa: S603  # our own script
        [sys.executable, str(root / "proto" / "generate.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stderr.strip() or "it failed") if done.returncode else ""


def _folders(folder: Path) -> list[Path]:
    """Makes a folder with those above it; the ones that were not there, from above."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    missing.reverse()
    for one in missing:
        one.mkdir()
    return missing


def _replace(target: Path, text: str) -> None:
    """Writes a file beside the target and puts it in its place, with its mode."""
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(name).chmod(target.stat().st_mode if target.exists() else 0o644)
        Path(name).replace(target)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
