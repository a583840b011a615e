# ruff: noqa: INP001  # a script, not part of the package
"""The latency of `siconform spec` for an author of the SI: one process for each edit.

Run it with the project installed: ``python conformance/benchmarks/spec_diff.py``. The input is made
of our own si.proto and is as long as a real specification; the edits are those of the tests.
``--texts OLD NEW`` measures two specifications, or revisions, of your own.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from selftest.spec_author import author_text
from selftest.spec_author_edits import EDITS


def seconds(arguments: Sequence[str], folder: Path, runs: int) -> list[float]:
    """Return the seconds of each run of ``siconform spec``, from start to exit."""
    command = [sys.executable, "-m", "siconform", "spec", *arguments]
    found = []
    for _ in range(runs):
        begun = time.perf_counter()
        subprocess.run(command, cwd=folder, check=False, capture_output=True)  # noqa: S603  # ours
        found.append(time.perf_counter() - begun)
    return found


def commands(folder: Path, texts: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Return the measured commands and their arguments."""
    if texts:
        for command in ("diff", "impact"):
            yield command, [command, *texts]
        return
    (folder / "old.md").write_text(author_text(), "utf-8")
    for number, edit in enumerate(EDITS):
        (folder / f"{number}.md").write_text(edit.text(), "utf-8")
        yield edit.name, ["diff", "old.md", f"{number}.md"]
    yield "impact of a renumbered field", ["impact", "old.md", "0.md"]
    yield "diff 2021-02 2023-04", ["diff", "2021-02", "2023-04"]
    yield "impact 2023-12 2024-10", ["impact", "2023-12", "2024-10"]


def main() -> None:
    """Print the median and the maximum for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    parser.add_argument("--texts", nargs=2, default=[], metavar=("OLD", "NEW"))
    options = parser.parse_args()
    texts = [str(Path(text).resolve()) if Path(text).exists() else text for text in options.texts]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds(["diff", "2024-10", "2026-04"], folder, 1)  # warm up
        sys.stdout.write("| edit | median s | longest s |\n|---|---|---|\n")
        for received, arguments in commands(folder, texts):
            found = seconds(arguments, folder, options.runs)
            sys.stdout.write(
                f"| {received} | {statistics.median(found):.2f} | {max(found):.2f} |\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
