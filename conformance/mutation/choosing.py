"""Chooses a sample of the mutants and variants by what a change touches."""

import random
import re
import subprocess
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from siconform.catalogue import Side, catalogue

from mutation.evaluating import ROOT, files_of, state_of_the_rest
from mutation.mutant import Change

_AN_ID: Final = re.compile(r"\bSI-([A-Z]+)-\d{3}\b")
_EVERYBODYS: Final = 6  # areas; a file that names more is about none
_SHARE: Final = 3  # one in so many is a permitted variant


def sample(changes: Iterable[Change], count: int, since: str) -> list[Change]:
    """Choose this many, permitted variants included: touched ones first, then at random.

    Slow ones are left out; a whole ``nox -s mutation`` tests them. One is touched if a changed
    file makes it or is about one of its areas; next come those of a side whose results depend on a
    changed file. The random choice depends only on the files, so the same tree has the same sample.
    """
    touched = changed_files(since)
    files = {side: set(files_of(side)) for side in Side}
    others = {side: set.union(*files.values()) - files[side] for side in Side}
    areas = {side: areas_of(touched - others[side]) for side in Side}
    tree = "".join(map(state_of_the_rest, Side))
    dice = random.Random(tree)  # noqa: S311  # no secret

    def order(change: Change) -> tuple[bool, bool, bool, float]:
        is_made_there = bool(touched & set(change.sources))
        is_about_it = bool(areas[change.side] & set(change.areas))
        depends = bool(touched & files[change.side])
        return not is_made_there, not is_about_it, not depends, dice.random()

    ordered = sorted((change for change in changes if not change.is_slow), key=order)
    variants = [change for change in ordered if change.is_variant][: max(1, count // _SHARE)]
    mutants = [change for change in ordered if not change.is_variant]
    return [*mutants[: count - len(variants)], *variants]


def changed_files(since: str) -> set[Path]:
    """Return the files changed since this branched off ``since``; none if that is unknown."""
    base = _git("merge-base", since, "HEAD") if since else ""
    if not base:
        return set()
    return {ROOT / name for name in _git("diff", "--name-only", base).splitlines()}


def areas_of(files: Collection[Path]) -> set[str]:
    """Return the areas of the requirements that the changed files name.

    A file that names requirements of many areas counts for none of them.
    """
    known = {requirement.area for requirement in catalogue().values()}
    found: set[str] = set()
    for file in files:
        if file.suffix in (".py", ".yaml") and file.is_file():
            named = {match[1] for match in _AN_ID.finditer(file.read_text("utf-8"))} & known
            found |= named if len(named) <= _EVERYBODYS else set()
    return found


def _git(*words: str) -> str:
    """Return the output of git, empty if it fails."""
    command: Sequence[str] = ("git", *words)
    done = subprocess.run(  # noqa: S603  # our own command
        command, capture_output=True, text=True, check=False, cwd=ROOT
    )
    return done.stdout.strip() if done.returncode == 0 else ""
