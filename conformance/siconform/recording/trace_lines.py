"""The lines of a trace: of a file, of the files of a directory, or of standard input."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

STANDARD_INPUT: Final = "-"
_PATTERN: Final = "*.jsonl"
_LOOKS_EVERY: Final = 0.25  # seconds


class Line(NamedTuple):
    """A line with its number, from 1, in a file with its number, from 0."""

    file: int
    number: int
    data: bytes
    is_complete: bool = True


class TraceLines:
    """The lines of a trace in order; with ``follow`` also what is appended, without end.

    ``files`` grows as files are opened; their names sort as people count: 2 before 10.
    """

    def __init__(self, source: str, *, follow: bool = False) -> None:
        """Find the files; OSError if there is none."""
        self.files: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None
        """Called while no line comes."""
        self._source = Path(source)
        self._follow = follow
        self._is_directory = self._source.is_dir()
        self._is_input = source == STANDARD_INPUT
        if self._is_directory:
            if not follow and not self._found():
                raise FileNotFoundError(2, f"the directory contains no {_PATTERN}", source)
        elif not self._is_input:
            with self._source.open("rb"):
                pass  # it can be read

    def __iter__(self) -> Iterator[Line]:
        if self._is_input:
            yield from self._of(STANDARD_INPUT, sys.stdin.buffer)
            return
        while True:
            path = self._next()
            if path is not None:
                with path.open("rb") as opened:
                    yield from self._of(str(path), opened)
            elif self._follow:
                self.meanwhile()
                time.sleep(_LOOKS_EVERY)
            else:
                return

    def _next(self) -> Path | None:
        """Return the file after the last one that was read."""
        if not self._is_directory:
            return None if self.files else self._source
        last = _sorted_as(Path(self.files[-1])) if self.files else ()
        return next((path for path in self._found() if _sorted_as(path) > last), None)

    def _found(self) -> list[Path]:
        return found_files(str(self._source))

    def _of(self, name: str, opened: BinaryIO) -> Iterator[Line]:
        file = len(self.files)
        self.files.append(name)
        number, rest = 0, b""
        is_over = False
        while True:
            for data in opened:
                number += not rest
                if data.endswith(b"\n"):
                    yield Line(file, number, rest + data)
                    rest = b""
                else:
                    rest += data
            if self._is_input or not self._follow or is_over:
                break
            is_over = self._is_directory and self._next() is not None  # look once more, then go on
            if not is_over:
                self.meanwhile()
                time.sleep(_LOOKS_EVERY)
        if rest.strip():
            yield Line(file, number, rest, is_complete=False)


def found_files(source: str) -> list[Path]:
    """Return the files of a directory in reading order, or the file; none of standard input."""
    if source == STANDARD_INPUT:
        return []
    path = Path(source)
    return sorted(path.glob(_PATTERN), key=_sorted_as) if path.is_dir() else [path]


def _sorted_as(path: Path) -> tuple[tuple[int, int, str], ...]:
    parts = re.findall(r"\d+|\D+", path.name)
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)
