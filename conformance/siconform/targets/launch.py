"""The command line that starts a target, from the user or a target description."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ADDRESS: Final = "{address}"  # in a command: the address to listen on; that of the RM's scheduler
DRIVER: Final = "{driver}"  # in a command: the address on which the RM's driver listens
START_TIMEOUT: Final = 30.0  # seconds until an RM must register


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a target: its command line, and how long it may take to listen."""

    name: str
    command: tuple[str, ...]
    timeout: float
    folder: Path | None = None  # working directory

    @classmethod
    def of(cls, name: str, line: str, timeout: float, folder: Path | None = None) -> "Launch":
        """Parse a command line with shell quoting; ValueError if the quoting is broken."""
        return cls(name, tuple(shlex.split(line)), timeout, folder)
