"""What a checkout knows in addition to the catalogue: where it is, and published results.

Read from committed records, so that nothing is imported and nothing is run. Where the kit is
installed without its repository there is none of it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from siconform.catalogue import catalogue

RECORDS: Final = "fixtures/results"
_SPOKE: Final = frozenset({"pass", "fail", "late", "baselined"})


@dataclass(frozen=True, slots=True)
class Published:
    """A published run: of whom, by which revision, and what it said something about."""

    target: str
    revision: str
    command: str
    file: str  # of the record
    evaluated: frozenset[str]


class CheckoutError(Exception):
    """A committed record that cannot be read; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The repository around the installed package, as far as it matters to an impact."""

    root: Path
    published: tuple[Published, ...] = ()

    @property
    def mutants(self) -> Path:
        """The folder of the mutants."""
        return self.root / "conformance" / "mutation"


def find_checkout(start: Path | None = None) -> Checkout | None:
    """The checkout the kit runs from, read; None where it is installed without its repository.

    Raises CheckoutError where a record of it cannot be read.
    """
    root = find_root(start)
    if root is None:
        return None
    return Checkout(root, tuple(read_records(root)))


def find_root(start: Path | None = None) -> Path | None:
    """The folder of the checkout the kit runs from; None where there is none."""
    inside = (start or Path(__file__)).resolve()
    for folder in inside.parents if start is None else (inside, *inside.parents):
        if (folder / RECORDS).is_dir() and (folder / "reference" / "sireference").is_dir():
            return folder
    return None


def read_records(root: Path) -> Iterator[Published]:
    """The published runs, one a record."""
    known = catalogue()
    for path in sorted((root / RECORDS).glob("*.json")):
        try:
            sent = json.loads(path.read_text("utf-8"))
            evaluated = {
                key for key, one in sent["requirements"].items() if one["verdict"] in _SPOKE
            }
            target, revision, command = sent["target"], sent["revision"], sent["command"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckoutError(f"{path} is no record of a run: {error!r}") from None
        file = str(path.relative_to(root))
        yield Published(target, revision, command, file, frozenset(evaluated & known.keys()))
