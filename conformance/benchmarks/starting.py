"""Start-up time of commands that run no tests: python conformance/benchmarks/starting.py [RUNS].

Prints wall-clock and CPU seconds of the whole process, each the median of some runs.
"""  # noqa: INP001 - a script

import resource
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


def seconds(words: list[str]) -> tuple[float, float]:
    """Return the wall-clock and CPU seconds of one run of the kit with these arguments."""
    used, began = _used(), time.perf_counter()
    subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-m", "siconform", *words], stdout=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - began, _used() - used


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def main() -> None:
    """Print a line for each command."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print("   wall       cpu   command")  # noqa: T201  # the result
    for command in COMMANDS:
        words = command.split()
        seconds(words)  # the first run reads files from disk and does not count
        taken = [seconds(words) for _ in range(runs)]
        wall, cpu = (statistics.median(one) for one in zip(*taken, strict=True))
        print(f"{wall:.3f} s   {cpu:.3f} s   siconform {command}")  # noqa: T201  # the same


if __name__ == "__main__":
    main()
