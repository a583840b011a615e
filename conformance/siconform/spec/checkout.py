"""What a checkout knows of a requirement beside the catalogue: faults, rules, published results.

Read from committed pages and records, so that nothing is imported and nothing is run. Where the
kit is installed without its repository there is none of it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from siconform.catalogue import catalogue

RULES_PAGE: Final = "docs/rules.md"
RECORDS: Final = "fixtures/results"
_ROW: Final = re.compile(r"^\| (SI-[A-Z]+-\d{3}) ")
_CODE: Final = re.compile(r"`([^`]+)`")
_SPOKE: Final = frozenset({"pass", "fail", "late", "baselined"})


@dataclass(frozen=True, slots=True)
class RuleRow:
    """What the page of rules says of one requirement."""

    tests: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()  # of the reference, that faults replace to break the rule
    tests_of_reference: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A published run: of whom, by which revision, and what it said something about."""

    target: str
    revision: str
    command: str
    file: str  # of the record
    judged: frozenset[str]


class CheckoutError(Exception):
    """A committed page or record that cannot be read; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The repository around the installed package, as far as it matters to an impact."""

    root: Path
    rules: Mapping[str, RuleRow] = field(default_factory=dict)
    published: tuple[Published, ...] = ()

    @property
    def mutants(self) -> Path:
        """The folder of the mutants."""
        return self.root / "conformance" / "proof"


def find_checkout(start: Path | None = None) -> Checkout | None:
    """The checkout the kit runs from, read; None where it is installed without its repository.

    Raises CheckoutError where a page or a record of it cannot be read.
    """
    root = find_root(start)
    if root is None:
        return None
    return Checkout(root, read_rules(root / RULES_PAGE), tuple(read_records(root)))


def find_root(start: Path | None = None) -> Path | None:
    """The folder of the checkout the kit runs from; None where there is none."""
    inside = (start or Path(__file__)).resolve()
    for folder in inside.parents if start is None else (inside, *inside.parents):
        if (folder / RULES_PAGE).is_file() and (folder / "reference" / "sireference").is_dir():
            return folder
    return None


def read_rules(page: Path) -> Mapping[str, RuleRow]:
    """The rows of docs/rules.md by requirement."""
    rows: dict[str, RuleRow] = {}
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        match = _ROW.match(line)
        if match is None:
            continue
        cells = [tuple(_CODE.findall(cell)) for cell in re.split(r"(?<!\\)\|", line)[2:6]]
        if len(cells) != len(RuleRow.__slots__):
            raise CheckoutError(f"{page}, line {number}: a row of five columns was expected")
        rows[match[1]] = RuleRow(*cells)
    return rows


def read_records(root: Path) -> Iterator[Published]:
    """The published runs, one a record."""
    known = catalogue()
    for path in sorted((root / RECORDS).glob("*.json")):
        try:
            said = json.loads(path.read_text("utf-8"))
            judged = {key for key, one in said["requirements"].items() if one["verdict"] in _SPOKE}
            target, revision, command = said["target"], said["revision"], said["command"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckoutError(f"{path} is no record of a run: {error!r}") from None
        file = str(path.relative_to(root))
        yield Published(target, revision, command, file, frozenset(judged & known.keys()))
