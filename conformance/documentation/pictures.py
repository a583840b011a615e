"""Draw the README's pictures: a run that passes and a failure, as SVG (docs/_static)."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

STATIC: Final = Path("docs/_static")
FAULTY: Final = f"{sys.executable} -m siconform.doctor.proxy drain-ignored"


def draw(name: str, shown: str, options: list[str]) -> None:
    """Run the suite and save what it prints."""
    run = [
        sys.executable,
        "-m",
        "siconform",
        "run",
        "--color",
        "always",
        "--results",
        "build/pictures",
    ]
    done = subprocess.run([*run, *options], capture_output=True, text=True, check=False)  # noqa: S603  # our own program
    console = Console(record=True, width=104, file=Path("/dev/null").open("w"))
    console.print(Text(f"$ {shown}"))
    console.print(Text.from_ansi(done.stdout))
    console.save_svg(str(STATIC / name), title="SI Conformance")


if __name__ == "__main__":
    draw("run.svg", "siconform run", [])
    draw(
        "failure.svg",
        "siconform run SI-NODE-026 --target-command my-scheduler",
        ["SI-NODE-026", "--target-command", FAULTY],
    )
