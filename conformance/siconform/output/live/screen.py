"""Live progress on a terminal, drawn below the printed lines."""

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, TextIO

from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text

from siconform.output.live.board import Wait
from siconform.output.live.frame import frame
from siconform.output.live.progress import View
from siconform.output.live.terminal import WIDTH, Terminal

_PER_SECOND: Final = 5  # frames
_CLEARS_BELOW: Final = "\x1b[J"
_LINES: Final = 24  # if the terminal's size is unknown


class Screen:
    """Draws the progress several times a second until it is stopped.

    It has its own descriptor, unaffected by pytest's capture of standard output. If the terminal
    goes away, drawing stops and the run continues.
    """

    def __init__(
        self,
        terminal: Terminal,
        view: Callable[[], View],
        waits: Callable[[], Iterable[Wait]],
    ) -> None:
        self._view, self._waits = view, waits
        self._stream = _again(terminal.stream)
        self._console = Console(
            file=self._stream,
            force_terminal=True,
            color_system="standard" if terminal.colour else None,
            no_color=not terminal.colour,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
        )
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._over = threading.Event()
        self._drawing = threading.Thread(target=self._draws, daemon=True, name="screen")
        self.note = ""

    def start(self) -> None:
        """Start drawing."""
        atexit.register(self.stop)
        self._live.start()
        self._drawing.start()

    def line(self, text: str, style: str = "") -> None:
        """Print a permanent line above the drawing."""
        with suppress(OSError, ValueError):
            self._console.print(Text(text, style=style, no_wrap=True, overflow="crop"))

    def stop(self) -> None:
        """Remove the drawing and restore the terminal."""
        if self._over.is_set():
            return
        self._over.set()
        self._drawing.join(1.0)
        with suppress(OSError, ValueError):
            self._live.update(Text(), refresh=False)
            self._live.stop()
        with suppress(OSError):
            self._stream.close()
        atexit.unregister(self.stop)

    def _draws(self) -> None:
        drawn = self._size()
        while not self._over.is_set():
            try:
                size = self._size()
                if size != drawn:
                    self._starts_over()
                drawn = size
                self._live.update(self._frame(size), refresh=True)
            except (OSError, ValueError):
                return
            self._over.wait(1 / _PER_SECOND)

    def _starts_over(self) -> None:
        """Clear everything after a resize, when lines may occupy more rows."""
        self._live.stop()
        self._stream.write(_CLEARS_BELOW)
        self._live.start()

    def _size(self) -> ConsoleDimensions:
        """Return the size of this terminal, regardless of redirected standard streams."""
        columns, lines = os.get_terminal_size(self._stream.fileno())
        return ConsoleDimensions(columns or WIDTH, lines or _LINES)

    def _frame(self, size: ConsoleDimensions) -> Text:
        self._console.size = size
        capacity = min(size.width, WIDTH) - 1, size.height
        waits = list(self._waits())
        return Text("\n").join(frame(self._view(), waits, time.monotonic(), capacity, self.note))


def _again(stream: TextIO) -> TextIO:
    """Duplicate the stream with its own descriptor."""
    copy = os.dup(stream.fileno())
    return os.fdopen(copy, "w", encoding=stream.encoding, errors="replace")
