"""Data of a checkout beyond the catalogue: its location and the published results.

Read from committed records; nothing is imported or run. A kit installed without its repository has
none of it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from siconform.catalogue import catalogue

RECORDS: Final = "fixtures/results"
_CONCLUSIVE: Final = frozenset({"pass", "fail", "late", "baselined"})


@dataclass(frozen=True, slots=True)
class Published:
    """A published run: its target, its revision, and the requirements with a result."""

    target: str
    revision: str
    command: str
    file: str  # of the record
    evaluated: frozenset[str]


class CheckoutError(Exception):
    """An unreadable committed record; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The repository of the installed package, as far as impacts need it."""

    root: Path
    published: tuple[Published, ...] = ()

    @property
    def mutants(self) -> Path:
        """Return the folder of the mutants."""
        return self.root / "conformance" / "mutation"


def find_checkout(start: Path | None = None) -> Checkout | None:
    """Return the checkout the kit runs from; None if it is installed without its repository.

    Raises CheckoutError if one of its records cannot be read.
    """
    root = find_root(start)
    if root is None:
        return None
    return Checkout(root, tuple(read_records(root)))


def find_root(start: Path | None = None) -> Path | None:
    """Return the folder of the checkout the kit runs from; None if there is none."""
    inside = (start or Path(__file__)).resolve()
    for folder in inside.parents if start is None else (inside, *inside.parents):
        if (folder / RECORDS).is_dir() and (folder / "reference" / "sireference").is_dir():
            return folder
    return None


def read_records(root: Path) -> Iterator[Published]:
    """Yield the published runs, one per record."""
    known = catalogue()
    for path in sorted((root / RECORDS).glob("*.json")):
        try:
            sent = json.loads(path.read_text("utf-8"))
            evaluated = {
                key for key, one in sent["requirements"].items() if one["verdict"] in _CONCLUSIVE
            }
            target, revision, command = sent["target"], sent["revision"], sent["command"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckoutError(f"{path} is not a record of a run: {error!r}") from None
        file = str(path.relative_to(root))
        yield Published(target, revision, command, file, frozenset(evaluated & known.keys()))
