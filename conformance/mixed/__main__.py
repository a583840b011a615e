"""Writes docs/mixed-revisions.md: python -m mixed [--check].

The reference is started once for each revision, and ended. With `--check` nothing is written; the
exit code is 1 when the committed page differs. It is 2 when a scheduler does not start or answer.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

from siconform.generated import kept
from siconform.targets import TargetUnavailable

from mixed.experiment import everything
from mixed.link import NoAnswerError
from mixed.page import page

PAGE: Final = Path(__file__).parents[2] / "docs" / "mixed-revisions.md"
COMMAND: Final = "python -m mixed"


def main() -> int:
    """Write the page, or check that it is as it would be written."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Write docs/mixed-revisions.md.")
    parser.add_argument("--check", action="store_true", help="only compare with what is there")
    is_check = parser.parse_args().check
    try:
        text = page(everything())
    except (NoAnswerError, TargetUnavailable) as why:
        sys.stderr.write(f"The experiment could not be made: {why}\n")
        return 2
    return kept({PAGE: text}, command=COMMAND, check=is_check)


if __name__ == "__main__":
    sys.exit(main())
