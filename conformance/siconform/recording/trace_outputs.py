"""Where a trace is written: one file, or the numbered files of a folder."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

_NAME: Final = "trace-{:06d}.jsonl"
_NUMBERED: Final = re.compile(r"trace-(\d{6,})\.jsonl")

Header = Callable[[int], bytes]
"""The first line of the file with this number, from 1."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """When another file of a folder is begun, and how many remain."""

    max_size: int  # bytes
    max_age: float | None = None  # seconds
    keep: int | None = None  # files, with the one being written


class OneFile:
    """A file, which is replaced if it exists."""

    continues = False

    def __init__(self, path: Path, header: Header) -> None:
        """Create it; OSError if that fails."""
        self.path = path
        self.lines = 1
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = path.open("wb")
        self._file.write(header(1))

    def write(self, line: bytes) -> None:
        """Add a line."""
        self._file.write(line)
        self.lines += 1

    def flush(self) -> None:
        """Make everything visible to readers."""
        self._file.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._file.close()


class NumberedFiles:
    """Files of a folder, numbered on from those that exist, so that none is replaced.

    A line is never divided: a file exceeds ``max_size`` by less than one line.
    """

    def __init__(self, folder: Path, header: Header, rotation: Rotation) -> None:
        """Create the first file; OSError if that fails."""
        self.path = folder
        self.lines = 0
        self._header = header
        self._rotation = rotation
        folder.mkdir(parents=True, exist_ok=True)
        self._last = max(self._numbers(), default=0)
        self.continues = self._last > 0  # a trace that was written before
        self._files = 0
        self._size = 0
        self._holds_lines = False  # in addition to the header
        self._began = 0.0
        self._file = self._begin()

    def write(self, line: bytes) -> None:
        """Add a line, to another file if this one is full or old."""
        limits = self._rotation
        is_old = limits.max_age is not None and time.monotonic() - self._began >= limits.max_age
        if self._holds_lines and (self._size >= limits.max_size or is_old):
            self._file.close()
            self._file = self._begin()
        self._file.write(line)
        self._size += len(line)
        self._holds_lines = True
        self.lines += 1

    def flush(self) -> None:
        """Make everything visible to readers."""
        self._file.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._file.close()

    def _begin(self) -> IO[bytes]:
        self._last += 1
        self._files += 1
        file = (self.path / _NAME.format(self._last)).open("xb")
        header = self._header(self._files)
        file.write(header)
        self._began = time.monotonic()
        self._size = len(header)
        self._holds_lines = False
        self.lines += 1
        self._remove_oldest()
        return file

    def _remove_oldest(self) -> None:
        if self._rotation.keep is not None:
            for number in sorted(self._numbers())[: -self._rotation.keep]:
                (self.path / _NAME.format(number)).unlink(missing_ok=True)

    def _numbers(self) -> list[int]:
        found = (_NUMBERED.fullmatch(file.name) for file in self.path.iterdir())
        return [int(one[1]) for one in found if one]


Output = OneFile | NumberedFiles
