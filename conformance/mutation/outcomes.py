"""The committed outcome of every changed scheduler: fixtures/mutation/killed.jsonl, a line each.

A line means that the scheduler was tested and that the suite was right about it: each requirement
a mutant breaks failed, or no requirement failed for a permitted variant.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec
from siconform import shipped

from mutation.mutant import CHANGES, Change

FILE: Final = shipped.fixtures("mutation") / "killed.jsonl"
KILLED: Final = "killed"
ACCEPTED: Final = "accepted"


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The result of testing one mutant or permitted variant."""

    name: str
    revision: str
    verdict: Literal["killed", "accepted"]
    killed_by: tuple[str, ...] = ()


def outcome_of(change: Change) -> Outcome:
    """Return the outcome of a scheduler that the suite was right about."""
    if change.is_variant:
        return Outcome(change.name, change.revision, ACCEPTED)
    return Outcome(change.name, change.revision, KILLED, change.breaks)


def read_outcomes(file: Path = FILE) -> dict[str, Outcome]:
    """Return the recorded outcomes by the name of the scheduler."""
    lines = file.read_text("utf-8").splitlines()
    outcomes = [msgspec.json.decode(line, type=Outcome) for line in lines]
    return {one.name: one for one in outcomes}


def record(tested: Mapping[str, bool], file: Path = FILE) -> None:
    """Record the schedulers tested, each with whether the suite was right about it.

    The lines of those it was wrong about, and of those that no longer exist, are removed.
    """
    known = {**read_outcomes(file), **{name: outcome_of(CHANGES[name]) for name in tested}}
    kept = [known[name] for name in sorted(known) if name in CHANGES and tested.get(name, True)]
    file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in kept))
