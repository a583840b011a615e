"""Capabilities of a stream: colour, live updates, width."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TextIO

from siconform.config.option_values import OF_PYTEST, Colour

WIDTH: Final = 100
"""Maximum and default columns of a report."""

_NARROWEST: Final = 30  # minimum columns


@dataclass(frozen=True, slots=True)
class Terminal:
    """An output stream and its capabilities."""

    stream: TextIO
    is_live: bool  # lines can be overwritten
    colour: bool

    @classmethod
    def of(
        cls, stream: TextIO, asked: str = "", environment: Mapping[str, str] = os.environ
    ) -> "Terminal":
        """Detect the capabilities; --color takes precedence over NO_COLOR, then FORCE_COLOR.

        ``asked`` may also be a value of pytest's --color. A dumb terminal gets plain lines.
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
        """Return the current columns for a report."""
        if not self.stream.isatty():
            return WIDTH
        return max(_NARROWEST, min(WIDTH, self._columns()))

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or WIDTH
        except (OSError, ValueError):
            return shutil.get_terminal_size((WIDTH, 24)).columns
