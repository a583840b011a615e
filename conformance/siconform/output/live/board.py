"""Boards: small files in which each process publishes what its test waits for.

Writing is one call that never waits for a reader and never fails a test; without disk space nothing
is shown. A reader skips incomplete content.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from siconform.expecting import waits

_SIZE: Final = 512  # bytes of a board; content is padded
_NAME: Final = 120  # maximum characters of a name


@dataclass(frozen=True, slots=True)
class Wait:
    """A current wait of a test; times are from ``time.monotonic``."""

    name: str
    limit: float  # seconds
    since: float


class Board:
    """The file of a process, with its innermost current wait."""

    def __init__(self, path: Path) -> None:
        self._waits: list[Wait] = []
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            self._write()

    def began(self, wait: waits.Wait) -> None:
        """Publish a wait."""
        self._waits.append(Wait(wait.name[:_NAME], wait.limit, time.monotonic()))
        self._write()

    def ended(self, wait: waits.Wait) -> None:  # noqa: ARG002  # the innermost one
        """Remove the innermost wait."""
        if self._waits:
            self._waits.pop()
        self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        now = self._waits[-1] if self._waits else None
        received = [now.name, now.limit, now.since] if now is not None else None
        data = json.dumps(received).encode()
        if len(data) >= _SIZE:
            data = b"null"
        try:
            os.pwrite(self._file, data.ljust(_SIZE), 0)
        except OSError:
            self._file = None


def read(boards: Iterable[Path]) -> Iterator[Wait]:
    """Yield the waits published on these boards."""
    for path in boards:
        found = _read(path)
        if found is not None:
            yield found


def _read(path: Path) -> Wait | None:
    try:
        received: Any = json.loads(path.read_bytes())
        return (
            None
            if received is None
            else Wait(str(received[0]), float(received[1]), float(received[2]))
        )
    except (OSError, ValueError, TypeError, IndexError, KeyError):
        return None
