"""``siconform`` starts fast for commands that need no test runner."""

import pytest

from .commands import python

_HEAVY = ("pytest", "_pytest", "grpc", "hypothesis", "psutil", "rich")
_PROGRAM = """\
import sys
from siconform.cli import main
try:
    main(sys.argv[1:], prog_name="siconform")
finally:
    found = [name for name in {heavy!r} if name in sys.modules]
    print("imported:", *found, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("--help",),
        ("run", "--help"),
        ("spec", "--help"),
        ("list", "--area", "NODE"),
        ("explain", "SI-NODE-001"),
        ("targets",),
        ("queues",),
    ],
    ids=" ".join,
)
def test_listing_commands_avoid_slow_imports(words: tuple[str, ...]) -> None:
    done = python("-c", _PROGRAM.format(heavy=_HEAVY), *words)

    assert done.stdout
    assert (done.returncode, done.stderr) == (0, "imported:\n")
