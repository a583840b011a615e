"""Which requirements are armed: a faulty scheduler showed that their checks can fail."""

from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Final

from siconform.catalogue.requirement import Level, Requirement

FILE: Final = Path(__file__).with_name("armed.txt")
"""Made from the proof of the project, and installed with the kit."""


@cache
def armed() -> frozenset[str]:
    """The ids of requirements that notice a fault of their own."""
    lines = FILE.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def not_armed(requirements: Iterable[Requirement], tested: Collection[str]) -> list[str]:
    """The MUSTs with a test of which no fault has shown that it can fail."""
    return [
        one.id
        for one in requirements
        if one.level is Level.MUST and one.id in tested and one.id not in armed()
    ]
