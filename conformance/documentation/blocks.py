"""The code blocks of a page that have commands, and how their output is compared."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).parents[2]
DOCS: Final = CHECKOUT / "docs"
NOT_RUN: Final = "# not run: "
_BLOCK = re.compile(r"^```(diff|console(?: figures)?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PREPARED = re.compile(r"^<!-- prepared by: (.*?) -->$", re.MULTILINE | re.DOTALL)
_GOES_ON: Final = "\n> "
_COMMAND = re.compile(r"^\$ (.*(?:\n> .*)*)$", re.MULTILINE)
_DECIMAL = re.compile(r"\d+\.\d+|\b\d+(?= s\b)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PROGRESS = re.compile(r"N of N tests, |target at N|[A-Z]+ (N [a-z ]+(, )?)+ N s$")
_EXCHANGE = "time s "
_GAP = re.compile(r" {2,}|(?<=[-─])[-─]+")


@dataclass(frozen=True)
class Block:
    """A code block `diff`, `console` or `console figures`: its kind and its lines."""

    kind: str
    body: str

    @property
    def commands(self) -> list[str]:
        """The commands after a `$` prompt, each with its `>` continuation lines."""
        return [found[1].replace(_GOES_ON, "\n") for found in _COMMAND.finditer(self.body)]

    @property
    def reason(self) -> str:
        """Why its commands are not run, or "" if they are."""
        first = self.body.partition("\n")[0]
        return first.removeprefix(NOT_RUN) if first.startswith(NOT_RUN) else ""

    @property
    def compared(self) -> str:
        """The block without times and the width of their columns.

        For `console figures`: without numbers, and so without line ends; without progress
        lines; of an exchange of messages only the heading, as two streams arrive in any order.
        """
        if not self._varies:
            return "\n".join(self.masked)
        received = [line for line in self.masked if not _PROGRESS.match(line)]
        paragraphs = [list(found) for is_text, found in groupby(received, key=bool) if is_text]
        return "\n".join(
            found[0] if found[0].startswith(_EXCHANGE) else " ".join(found) for found in paragraphs
        )

    @property
    def masked(self) -> list[str]:
        """The lines without times; for `console figures`, without any numbers."""
        masked = (_NUMBER if self._varies else _DECIMAL).sub("N", self.body)
        return [_GAP.sub(" ", line.strip()) for line in masked.splitlines()]

    @property
    def _varies(self) -> bool:
        return self.kind.endswith("figures")


def blocks(text: str) -> Iterator[Block]:
    """Return the blocks of a page, in order."""
    return (Block(*found.groups()) for found in _BLOCK.finditer(text))


def shown(command: str) -> str:
    """Return a command as it is shown in a block."""
    return "$ " + command.replace("\n", _GOES_ON) + "\n"


def refilled(text: str, filled: Callable[[Block], str]) -> str:
    """Return the page with other content in its blocks."""
    return _BLOCK.sub(
        lambda found: f"```{found[1]}\n{filled(Block(*found.groups()))}```",
        text,
    )


def compared(text: str) -> str:
    """Return the page without what may differ between runs."""
    return refilled(text, lambda block: block.compared + "\n")


def masked(text: str) -> str:
    """Return the lines of the page, with N for numbers that may vary."""
    return refilled(text, lambda block: "\n".join(block.masked) + "\n")


def prepared_by(text: str) -> list[str]:
    """Return the commands in comments of a page, which run before its first block."""
    return _PREPARED.findall(text)


def pages() -> list[Path]:
    """Return the pages of docs that have commands, sorted by name."""
    return [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if any(block.kind != "diff" for block in blocks(page.read_text("utf-8")))
    ]
