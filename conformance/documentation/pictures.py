"""Draws the pictures of the README: a run that passes and a failure (docs/_static/*.svg).

Usage: python -m documentation.pictures. Run it when the output of a run changes.
"""

import io
import subprocess
import sys
from typing import Final

from rich.console import Console
from rich.text import Text

from documentation.blocks import DOCS

_FAULTY: Final = f"{sys.executable} -m siconform.doctor.proxy drain-ignored"
_WIDTH: Final = 104


def draw(name: str, command: str, *options: str) -> None:
    """Run the suite with these options and draw its output below the command."""
    run = ("-m", "siconform", "run", "--color", "always", "--results", "build/pictures", *options)
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, *run], capture_output=True, text=True, check=False
    )
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    shown = done.stdout.replace(_FAULTY, "my-scheduler")
    shown = shown.replace(" --color always --results build/pictures-again", "")
    console.print(Text.from_ansi(f"$ {command}\n{shown}"))
    console.save_svg(str(DOCS / "_static" / name), title="SI Conformance")


if __name__ == "__main__":
    draw("run.svg", "siconform run")
    draw(
        "failure.svg",
        "siconform run SI-NODE-037 --target-command my-scheduler",
        *("SI-NODE-037", "--target-command", _FAULTY),
    )
