"""The lines of an exchange for people: who sent what and when, with readable names."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

_PREFIXES: Final = (
    (re.compile(r"\b(?:gw\d+|main|master)-\d+(?:-|(?=[a-z]+-))(?=\w)"), ""),  # ids of one test
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<id>"),  # of the target
)
_OPENING: Final = "opens the "  # start of the text of a message with only the rmID


@dataclass(frozen=True, slots=True)
class Line:
    """One line; ``same`` is equal if two schedulers received or sent the same."""

    at: float  # seconds since the start of the exchange
    message: str
    same: str
    by_rm: bool
    aside: bool  # not part of the scenario: the kit probes something
    rm: int  # number of the RM, from 1; 0 if there is only one

    def __str__(self) -> str:
        return f"{self._who()}{self.message}{' (aside)' * self.aside}"

    def _who(self) -> str:
        return f"RM{self.rm or ''} " if self.by_rm else f"   to RM{self.rm}: " if self.rm else "   "


def named(message: str) -> str:
    """Return the message with ids shortened, and without ids that differ between runs."""
    for pattern, stand_in in _PREFIXES:
        message = pattern.sub(stand_in, message)
    return message


def records(history: Path) -> list[Mapping[str, Any]]:
    """Return the records of this file, with barriers; OSError or ValueError if unreadable."""
    with history.open(encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [record for record in read if "from" in record]


def lines(
    exchange: Iterable[Mapping[str, Any]], shorten: Callable[[str], str] = named
) -> list[Line]:
    """Return the records of a history as lines; each barrier is shown as one note.

    ``shorten`` makes the names in a message readable.
    """
    shown = [r for r in exchange if not r["fence"] or _puts_up(r)]
    elements = [r for r in shown if not r["fence"]]
    since = elements[0]["at"] if elements else 0.0
    rms = {name: number for number, name in enumerate(dict.fromkeys(r["rm"] for r in shown), 1)}
    if len(rms) == 1:
        rms = dict.fromkeys(rms, 0)
    return list(_lines(shown, since, rms, shorten))


def _lines(
    shown: list[Mapping[str, Any]],
    since: float,
    rms: Mapping[str, int],
    shorten: Callable[[str], str],
) -> Iterator[Line]:
    for barrier, some in groupby(shown, lambda r: (r["stream"], r["rm"]) if r["fence"] else None):
        if barrier is None:
            for record in some:
                by_rm = record["from"] == "rm"
                message = shorten(record["brief"])
                same = message if by_rm else shorten(record["same"])
                aside, rm = record["aside"], rms[record["rm"]]
                yield Line(record["at"] - since, message, same, by_rm, aside, rm)
        else:
            stream, rm = barrier
            first, *more = some
            times = f", {len(more) + 1} times" if more else ""
            same = f"(barrier on the {stream} stream)"
            yield Line(
                at=first["at"] - since,
                message=f"(barrier on the {stream} stream{times})",
                same=same,
                by_rm=True,
                aside=first["aside"],
                rm=rms[rm],
            )


def _puts_up(record: Mapping[str, Any]) -> bool:
    """Return whether this is a barrier itself, not its answer or the opening of a stream."""
    return record["from"] == "rm" and not record["says"].startswith(_OPENING)
