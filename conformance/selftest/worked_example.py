"""Walks through docs/what-a-change-breaks.md and writes what its commands print into the page.

Usage: python -m selftest.worked_example [--check]. With `--check` nothing is written; the exit code
is 1 when the page differs. A block `diff` is an edit of the example's text, a block `console` has
commands, each after a `$`; they are run one after the other in a repository of their own. The
numbers of a block `console figures` change with every test that is added, and may lag behind.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs" / "what-a-change-breaks.md"
EXAMPLE = CHECKOUT / "fixtures" / "spec" / "scheduler-interface-spec.md"
COMMAND = "python -m selftest.worked_example"
_BLOCK = re.compile(r"^```(diff|console|console figures)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HUNK = re.compile(r"^@@.*\n", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_LAST_CODE = "echo $?"


class Walk:
    """A repository with the example's text in it, and a shell that stands there."""

    def __init__(self, folder: Path) -> None:
        """The folder is empty; the command `siconform` is that of this Python."""
        self._repository = folder / "repository"
        self._repository.mkdir()
        self.environment = _environment(folder)
        self._code = 0
        self.text = self._repository / EXAMPLE.name
        self.text.write_bytes(EXAMPLE.read_bytes())
        for command in ("git init --quiet", "git add --all", "git commit --quiet -m 'A text'"):
            self.runs(command)

    def runs(self, command: str) -> str:
        """What a command prints, errors last."""
        if command == _LAST_CODE:
            return f"{self._code}\n"
        done = subprocess.run(  # noqa: S603  # the page's own commands
            ["/bin/bash", "-c", command],
            cwd=self._repository,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self._code = done.returncode
        return done.stdout + done.stderr

    def edits(self, diff: str) -> None:
        """Apply the hunks of a diff: what they have as it was stands in the text once."""
        text = self.text.read_text("utf-8")
        for hunk in filter(None, _HUNK.split(diff)):
            lines = hunk.splitlines(keepends=True)
            before, after = (
                "".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +")
            )
            if text.count(before) != 1:
                raise ValueError(f"the text does not have once:\n{before}")
            text = text.replace(before, after)
        self.text.write_text(text, "utf-8")


def page_of(text: str) -> str:
    """The page with what its commands print now."""
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(Path(folder))

        def filled(block: re.Match[str]) -> str:
            kind, body = block.groups()
            if kind == "diff":
                walk.edits(body)
                return block[0]
            told = "".join(f"$ {command}\n{walk.runs(command)}" for command in _commands(body))
            return f"```{kind}\n{told}```"

        return _BLOCK.sub(filled, text)


def without_figures(text: str) -> str:
    """The page without the numbers that change with every test."""

    def masked(block: re.Match[str]) -> str:
        return _NUMBER.sub("N", block[0]) if block[1].endswith("figures") else block[0]

    return _BLOCK.sub(masked, text)


def _commands(body: str) -> Iterator[str]:
    return (line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ "))


def _environment(folder: Path) -> dict[str, str]:
    program = folder / "bin" / "siconform"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m siconform "$@"\n', "utf-8")
    program.chmod(0o755)
    people = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "An author"), ("EMAIL", "author@example.org"))
    }
    return {
        **os.environ,
        **people,
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or compare it with what is there; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args(arguments).check
    there = PAGE.read_text("utf-8")
    made = page_of(there)
    if check:
        differs = without_figures(made) != without_figures(there)
        if differs:
            sys.stderr.write(f"{PAGE.relative_to(CHECKOUT)} differs: run {COMMAND}\n")
        return int(differs)
    PAGE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
