"""What a stream can show: colour, lines that are written over, how wide it is."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TextIO

WIDTH: Final = 100
"""Columns of a report at most; as many where nobody's terminal says otherwise."""

_NARROWEST: Final = 30  # columns; what is narrower still is left to wrap


class Colour(StrEnum):
    """The values of --color."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


OF_PYTEST: Final[Mapping[Colour, str]] = {
    Colour.AUTO: "auto",
    Colour.ALWAYS: "yes",
    Colour.NEVER: "no",
}
"""What the option of the same name is given where pytest reads it."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A stream that somebody may be looking at."""

    stream: TextIO
    is_live: bool  # lines can be written over
    colour: bool

    @classmethod
    def of(
        cls, stream: TextIO, asked: str = "", environment: Mapping[str, str] = os.environ
    ) -> "Terminal":
        """What is asked for by --color decides, then NO_COLOR, then FORCE_COLOR, then the stream.

        ``asked`` may be as pytest has it. A terminal that calls itself dumb gets plain lines.
        """
        is_live = stream.isatty() and environment.get("TERM") != "dumb"
        if asked in (Colour.ALWAYS, OF_PYTEST[Colour.ALWAYS]):
            colour = True
        elif asked in (Colour.NEVER, OF_PYTEST[Colour.NEVER]) or environment.get("NO_COLOR"):
            colour = False
        else:
            colour = bool(environment.get("FORCE_COLOR")) or is_live
        return cls(stream, is_live, colour)

    def width(self) -> int:
        """Columns of a report there, now."""
        if not self.stream.isatty():
            return WIDTH
        return max(_NARROWEST, min(WIDTH, self._columns()))

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or WIDTH
        except (OSError, ValueError):
            return shutil.get_terminal_size((WIDTH, 24)).columns
