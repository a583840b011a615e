"""Writes the pages of the site that are not committed to docs/generated, which git ignores.

Usage: python -m documentation.generated. The pages are made from the catalogue, the revisions of
the SI, the recorded results (fixtures/results) and the recorded outcomes of mutants
(fixtures/mutation); one of them is the report of a run that takes some seconds.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mutation import page as mutation
from siconform.catalogue import catalogue, document, subjects
from siconform.reporting import publish
from siconform.reporting.published import records
from sispec import chain

from documentation import trace_rules
from documentation.blocks import CHECKOUT, DOCS

FOLDER: Final = DOCS / "generated"
SIDE_BY_SIDE: Final = "results/schedulers.html"
FAULTY: Final = "results/a-faulty-scheduler.html"
_NON_CONFORMANT: Final = 1
_RUN: Final = (
    *("siconform", "run", "--target-command", "python -m siconform.doctor.proxy drain-ignored"),
    *("-k", "SI-NODE", "--explore", "0", "--results", "build/a-faulty-scheduler"),
)


def pages() -> Mapping[str, str]:
    """Return all pages but the report of a run, by their path in the folder."""
    return {
        "requirements.md": document.page(catalogue().values(), subjects()),
        "trace-rules.md": trace_rules.page(),
        "mutation.md": mutation.page(mutation.committed()),
        **{f"changes/{name}": text for name, text in chain.pages().items()},
        **{f"results/{name}": text for name, text in publish.pages(records()).items()},
        SIDE_BY_SIDE: publish.side_by_side(records()),
    }


def write(folder: Path = FOLDER) -> None:
    """Replace the contents of the folder by the current pages."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages().items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def main() -> int:
    """Write the pages, and the report of a run against a mutant; return the exit code."""
    write()
    done = subprocess.run(  # noqa: S603  # our own command
        _RUN, capture_output=True, text=True, cwd=CHECKOUT, check=False
    )
    if done.returncode != _NON_CONFORMANT:
        sys.stderr.write(f"{' '.join(_RUN)}: exit code {done.returncode}\n")
        sys.stderr.write(done.stdout + done.stderr)
        return 1
    shutil.copyfile(CHECKOUT / "build/a-faulty-scheduler/report.html", FOLDER / FAULTY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
