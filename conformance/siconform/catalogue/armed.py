"""Which requirements are armed: a faulty scheduler showed that their checks can fail."""

import json
from collections.abc import Collection, Iterable
from functools import cache
from typing import Final

from siconform import shipped
from siconform.catalogue.requirement import Level, Requirement

FILE: Final = shipped.fixtures("proof") / "killed.jsonl"
"""The outcome of every mutant, kept by the mutation tests of the project."""


@cache
def armed() -> frozenset[str]:
    """The ids of requirements whose checks have killed a mutant."""
    outcomes = map(json.loads, FILE.read_text("utf-8").splitlines())
    return frozenset(one for outcome in outcomes for one in outcome.get("killed_by", ()))


def not_armed(requirements: Iterable[Requirement], tested: Collection[str]) -> list[str]:
    """The MUSTs with a test of which no fault has shown that it can fail."""
    return [
        one.id
        for one in requirements
        if one.level is Level.MUST and one.id in tested and one.id not in armed()
    ]
