"""The blocks of a page that have commands, and what is compared of them."""

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
_PROGRESS = re.compile(r"N of N tests, |target at N")
_EXCHANGE = "time s "
_GAP = re.compile(r" {2,}|(?<=[-─])[-─]+")


@dataclass(frozen=True)
class Block:
    """A fenced block `diff`, `console` or `console figures`: its kind and the lines in it."""

    kind: str
    body: str

    @property
    def commands(self) -> list[str]:
        """What stands after a prompt, with the lines after a `>` that belong to it."""
        return [found[1].replace(_GOES_ON, "\n") for found in _COMMAND.finditer(self.body)]

    @property
    def reason(self) -> str:
        """Why nobody runs its commands, or nothing where they are run."""
        first = self.body.partition("\n")[0]
        return first.removeprefix(NOT_RUN) if first.startswith(NOT_RUN) else ""

    @property
    def compared(self) -> str:
        """The block without times and the width they take.

        Where it is one of figures: without numbers, and so without the ends of lines; without the
        lines that say how far a run is; and of an exchange of messages the heading alone, as two
        streams come in any order.
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
        """The lines, without times, or without any numbers where it is one of figures."""
        masked = (_NUMBER if self._varies else _DECIMAL).sub("N", self.body)
        return [_GAP.sub(" ", line.strip()) for line in masked.splitlines()]

    @property
    def _varies(self) -> bool:
        return self.kind.endswith("figures")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page, in order."""
    return (Block(*found.groups()) for found in _BLOCK.finditer(text))


def shown(command: str) -> str:
    """A command as it stands in a block."""
    return "$ " + command.replace("\n", _GOES_ON) + "\n"


def refilled(text: str, filled: Callable[[Block], str]) -> str:
    """The page with other lines in its blocks."""
    return _BLOCK.sub(
        lambda found: f"```{found[1]}\n{filled(Block(*found.groups()))}```",
        text,
    )


def compared(text: str) -> str:
    """The page without what may differ from one run of its commands to the next."""
    return refilled(text, lambda block: block.compared + "\n")


def masked(text: str) -> str:
    """The page line by line, with N for the numbers that may vary."""
    return refilled(text, lambda block: "\n".join(block.masked) + "\n")


def prepared_by(text: str) -> list[str]:
    """The commands a page names in comments, that are run before its first block."""
    return _PREPARED.findall(text)


def pages() -> list[Path]:
    """The pages of docs that have commands, in the order of their names."""
    return [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if any(block.kind != "diff" for block in blocks(page.read_text("utf-8")))
    ]
