"""Whatever breaks in the kit itself ends with a code of its own, and no verdict on the target."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn, TextIO

from siconform import shutdown

_KIT_ERROR: Final = 13


class UnfitPython(Exception):  # a sentence for the user
    """The interpreter was started in a way that no verdict could come of."""


def check_python() -> None:
    """UnfitPython where checks would be left out, or nobody could be told what came of them."""
    if not __debug__:
        raise UnfitPython(
            "Python leaves assertions out, and checks are made of them: unset PYTHONOPTIMIZE"
        )
    if sys.stdout is None:
        raise UnfitPython("standard output is closed, and the verdict is written there")


@contextmanager
def crashes() -> Iterator[None]:
    """Turn an unexpected exception into one sentence and exit code 13.

    After a signal it is ignored: it comes of what the interrupt left half done.
    """
    try:
        check_python()
        try:
            yield
        finally:
            sys.stdout.flush()
    except UnfitPython as error:
        _ends(str(error))
    except Exception as error:  # noqa: BLE001  # that is what it is for
        if shutdown.has_begun():
            return
        if isinstance(error, OSError):
            for stream in (sys.stdout, sys.stderr):
                _let_go(stream)
            _ends(f"the kit itself broke: {error.strerror or error}")
        traceback.print_exc()
        _ends(f"the kit itself broke: {type(error).__name__}: {error}")


def _let_go(stream: TextIO) -> None:
    """What is left in its buffer goes nowhere, if it cannot be written."""
    try:
        stream.flush()
    except OSError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """What is left in its buffer goes nowhere, so that Python can end in peace.

    It goes at once: pytest may put the descriptor back as it was before the stream is closed.
    """
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()


def _ends(sentence: str) -> NoReturn:
    with suppress(OSError):
        print(f"siconform: {sentence}", file=sys.stderr)  # noqa: T201  # the last word
    sys.exit(_KIT_ERROR)
