"""Internal errors of the kit: reported with exit code 13 and no verdict on the target."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn, TextIO

from siconform import shutdown

_KIT_ERROR: Final = 13


class UnfitPython(Exception):  # a sentence for the user
    """The interpreter was started in a way that allows no verdict."""


def check_python() -> None:
    """Raise UnfitPython if assertions are disabled or standard output is closed."""
    if not __debug__:
        raise UnfitPython("assertions are disabled, and the checks use them: unset PYTHONOPTIMIZE")
    if sys.stdout is None:
        raise UnfitPython("standard output is closed, so the verdict cannot be written")


@contextmanager
def crashes() -> Iterator[None]:
    """Turn an unexpected exception into one sentence and exit code 13.

    Ignore exceptions after a signal: they result from the interruption.
    """
    try:
        check_python()
        try:
            yield
        finally:
            sys.stdout.flush()
    except UnfitPython as error:
        _ends(str(error))
    except Exception as error:  # noqa: BLE001  # the last resort
        if shutdown.has_begun():
            return
        if isinstance(error, OSError):
            for stream in (sys.stdout, sys.stderr):
                _let_go(stream)
            _ends(f"internal error: {error.strerror or error}")
        traceback.print_exc()
        _ends(f"internal error: {type(error).__name__}: {error}")


def _let_go(stream: TextIO) -> None:
    """Flush the stream; discard its buffer if it cannot be written."""
    try:
        stream.flush()
    except OSError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Discard the buffer of the stream, so that Python exits without an error.

    Do so at once: pytest may restore the descriptor before the stream is closed.
    """
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()


def _ends(sentence: str) -> NoReturn:
    with suppress(OSError):
        print(f"siconform: {sentence}", file=sys.stderr)  # noqa: T201
    sys.exit(_KIT_ERROR)
