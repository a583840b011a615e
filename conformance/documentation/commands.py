"""Runs the commands of the pages of docs and writes their output into the pages.

Usage: python -m documentation.commands [--check | --all] [PAGE ...]. With `--check` nothing is
written; the exit code is 1 if a page shows anything but the output of its commands. `--all` also
updates what may vary.

Each page has a separate empty folder. A block `console` has commands, each after a `$` and followed
by its output; a block `diff` is an edit of the single Markdown file in the folder. Times may
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
"""How many pages are run in parallel."""


def page_of(text: str) -> str:
    """Return the page with the current output of its commands."""
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
    """Return a diff from a page to the current output, with N for what may vary."""
    if compared(there) == compared(made):
        return []
    before, after = masked(there).splitlines(), masked(made).splitlines()
    return list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]


def accounted(texts: dict[Path, str]) -> list[str]:
    """Return how many commands run, and each block that does not, with its reason."""
    of_page = {page: [b for b in blocks(text) if b.kind != "diff"] for page, text in texts.items()}
    run = sum(len(b.commands) for found in of_page.values() for b in found if not b.reason)
    left = [(page, block) for page, found in of_page.items() for block in found if block.reason]
    lines = [f"{run} commands of {len(texts)} pages were run, {len(left)} blocks were not:"]
    return lines + [f"  {_name(page)}: {block.reason}" for page, block in left]


def main(arguments: list[str] | None = None) -> int:
    """Write or check the pages; return the exit code."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--all", action="store_true", help="also write what may vary")
    parser.add_argument("pages", nargs="*", type=Path, help="the pages (default: all of docs)")
    chosen = parser.parse_args(arguments)
    there = {page: page.read_text("utf-8") for page in chosen.pages or pages()}
    longest_first = sorted(there, key=lambda page: -there[page].count("\n$ "))
    with ThreadPoolExecutor(AT_ONCE) as workers:
        texts = workers.map(page_of, [there[page] for page in longest_first])
        made = dict(zip(longest_first, texts, strict=True))
    _send_all(accounted(there))
    differing = 0
    for page, text in there.items():
        if lines := difference(text, made[page]):
            differing += 1
            _send_all(
                [f"{_name(page)} does not show the output of its commands: run {COMMAND}", *lines]
            )
        if not chosen.check and (lines or chosen.all):
            page.write_text(made[page], "utf-8")
    return int(bool(differing) and chosen.check)


def _name(page: Path) -> str:
    return str(page.resolve().relative_to(CHECKOUT) if page.is_relative_to(CHECKOUT) else page)


def _send_all(lines: Iterable[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
