"""Runs the commands of the pages of docs and writes what they print into the pages.

Usage: python -m documentation.commands [--check | --all] [PAGE ...]. With `--check` nothing is
written; the exit code is 1 when a page shows something else than its commands print. With `--all`
what may vary is written, too.

Each page has an empty folder of its own. A block `console` has commands, each after a `$`, and
below each what it prints; a block `diff` is an edit of the one text in the folder. Times may
differ; in a block `console figures` all numbers may, and the messages of an exchange. A block that
begins with `# not run: REASON` is not run.
"""

import argparse
import difflib
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from documentation.blocks import (
    CHECKOUT,
    Block,
    blocks,
    compared,
    masked,
    pages,
    prepared_by,
    refilled,
    shown,
)
from documentation.shell import Shell

COMMAND: Final = "python -m documentation.commands"
AT_ONCE: Final = 2
"""How many pages are run at a time."""


def page_of(text: str) -> str:
    """The page with what its commands print now."""
    with tempfile.TemporaryDirectory() as folder, Shell(Path(folder)) as shell:
        for command in prepared_by(text):
            shell.runs(command)

        def filled(block: Block) -> str:
            if block.reason:
                return block.body
            if block.kind == "diff":
                shell.edits(block.body)
                return block.body
            return "".join(_received(command, shell) for command in block.commands)

        return refilled(text, filled)


def _received(command: str, shell: Shell) -> str:
    received = shell.runs(command)
    return shown(command) + received + ("\n" if received and not received.endswith("\n") else "")


def difference(there: str, made: str) -> list[str]:
    """What a page shows and its commands do not print any more: a diff, with N where it may."""
    if compared(there) == compared(made):
        return []
    before, after = masked(there).splitlines(), masked(made).splitlines()
    return list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]


def accounted(texts: dict[Path, str]) -> list[str]:
    """How many commands are run, and each block that is not, with its reason."""
    of_page = {page: [b for b in blocks(text) if b.kind != "diff"] for page, text in texts.items()}
    run = sum(len(b.commands) for found in of_page.values() for b in found if not b.reason)
    left = [(page, block) for page, found in of_page.items() for block in found if block.reason]
    lines = [f"{run} commands of {len(texts)} pages were run, {len(left)} blocks were not:"]
    return lines + [f"  {_name(page)}: {block.reason}" for page, block in left]


def main(arguments: list[str] | None = None) -> int:
    """Write the pages, or compare them with what is there; the exit code."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--all", action="store_true", help="write what may vary, too")
    parser.add_argument("pages", nargs="*", type=Path, help="the pages, or all of docs")
    chosen = parser.parse_args(arguments)
    there = {page: page.read_text("utf-8") for page in chosen.pages or pages()}
    with ThreadPoolExecutor(AT_ONCE) as workers:
        made = dict(zip(there, workers.map(page_of, there.values()), strict=True))
    differing = 0
    for page, text in there.items():
        if lines := difference(text, made[page]):
            differing += 1
            _send_all(
                [f"{_name(page)} does not show what its commands print: run {COMMAND}", *lines]
            )
        if not chosen.check and (lines or chosen.all):
            page.write_text(made[page], "utf-8")
    _send_all(accounted(there))
    return int(bool(differing) and chosen.check)


def _name(page: Path) -> str:
    return str(page.resolve().relative_to(CHECKOUT) if page.is_relative_to(CHECKOUT) else page)


def _send_all(lines: Iterable[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
