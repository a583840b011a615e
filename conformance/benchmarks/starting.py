"""How long commands take that judge nothing: python conformance/benchmarks/starting.py [RUNS].

Wall seconds of the whole process, the median of some runs, with the command beside each.
"""

import statistics
import subprocess
import sys
import time
from typing import Final

RUNS: Final = 15
COMMANDS: Final = (
    "--version",
    "--help",
    "list",
    "explain SI-NODE-001",
    "targets",
    "queues",
    "run --help",
    "spec --help",
)


def seconds(words: list[str]) -> float:
    """One run of the kit with these words."""
    began = time.perf_counter()
    subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-m", "siconform", *words], stdout=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - began


def main() -> None:
    """Print a line for each command."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    for command in COMMANDS:
        words = command.split()
        seconds(words)  # what is read for the first time is not what is measured
        taken = [seconds(words) for _ in range(runs)]
        print(f"{statistics.median(taken):.3f} s   siconform {command}")  # noqa: T201  # the result


if __name__ == "__main__":
    main()
