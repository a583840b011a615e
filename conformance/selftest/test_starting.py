"""``siconform`` starts fast for commands that need no test runner."""

import subprocess
import sys

import pytest
from patience import patient

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
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-c", _PROGRAM.format(heavy=_HEAVY), *words],
        capture_output=True,
        text=True,
        timeout=patient(30),
        check=False,
    )

    assert done.stdout
    assert (done.returncode, done.stderr) == (0, "imported:\n")
