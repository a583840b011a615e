"""Baselines: the known failures of a target, each with its message and the reason."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import yaml
from siwire import find_revision

from siconform import plain_yaml
from siconform.catalogue import find_requirement
from siconform.field_values import problem_with
from siconform.verdicts import Evidence, Verdict

Text = Annotated[str, msgspec.Meta(pattern=r"\S")]


class BaselineError(Exception):
    """A baseline that cannot be read; the message names the file, the entry and the problem."""


class KnownDeviation(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A known failure: it matches a bad verdict of its requirement by outcome and message.

    ``message`` is a part of the message, or a regular expression between slashes. The optional
    ``test`` is a part of the test's node id; ``revision`` limits the entry to that revision.
    """

    requirement: Text
    outcome: Literal["fail", "late", "could-not-run"]
    message: Text = msgspec.field(name="says")
    reason: Text
    test: str = ""
    issue: str = ""
    revision: str = ""
    flaky: bool = False  # neither a pass nor a failure is a surprise

    def about(self, sent: Evidence) -> bool:
        """Return whether the entry is about this requirement and test, with any outcome."""
        return sent.requirement == self.requirement and self.test in sent.test

    def explains(self, sent: Evidence) -> bool:
        """Return whether this is the recorded failure."""
        return self.about(sent) and sent.verdict == self.outcome and self._recognises(sent.message)

    def holds_in(self, revision: str) -> bool:
        """Return whether the entry applies to a run of this revision."""
        revisions = find_requirement(self.requirement).revisions
        return revision in revisions and self.revision in ("", revision)

    def _recognises(self, message: str) -> bool:
        if len(self.message) > 2 and self.message.startswith("/") and self.message.endswith("/"):  # noqa: PLR2004  # both slashes
            return re.search(self.message[1:-1], message) is not None
        return self.message in message

    def __str__(self) -> str:
        where = f" in {self.test}" if self.test else ""
        return f'{self.requirement}{where}: {self.outcome} "{self.message}"'


@dataclass(frozen=True, slots=True)
class Baseline:
    """All entries of a file; an empty baseline explains nothing."""

    file: str = ""
    entries: tuple[KnownDeviation, ...] = field(default=())

    def explaining(self, sent: Evidence) -> tuple[KnownDeviation, ...]:
        """Return the entries that match this evidence."""
        return tuple(e for e in self.entries if e.explains(sent))

    def about(self, requirement: str) -> tuple[KnownDeviation, ...]:
        """Return the entries of this requirement."""
        return tuple(e for e in self.entries if e.requirement == requirement)

    def in_revision(self, revision: str) -> "Baseline":
        """Return the baseline with only the entries that apply to this revision."""
        entries = tuple(e for e in self.entries if e.holds_in(revision))
        return Baseline(self.file, entries)

    def flaky(self, evidence: Sequence[Evidence]) -> tuple[str, ...]:
        """Return a sentence for each flaky entry: whether it failed in this run."""
        return tuple(
            f"{entry}: {'fails' if any(map(entry.explains, about)) else 'passes'} this time"
            for entry in self.entries
            if entry.flaky and (about := [e for e in evidence if entry.about(e)])
            if any(map(entry.explains, about)) or not any(e.bad for e in about)
        )

    def stale(self, evidence: Sequence[Evidence], unfinished: frozenset[str]) -> tuple[str, ...]:
        """Return a sentence for each entry that no longer matches the results.

        ``unfinished`` are the requirements with a test that was not selected or not reached: this
        run cannot tell whether their entries are stale.
        """
        return tuple(
            sentence
            for entry in self.entries
            if (sentence := _misfit(entry, self.entries, evidence, unfinished)) is not None
        )


def _misfit(
    entry: KnownDeviation,
    entries: Sequence[KnownDeviation],
    evidence: Sequence[Evidence],
    unfinished: frozenset[str],
) -> str | None:
    about = [e for e in evidence if entry.about(e)]
    if any(entry.explains(e) for e in about) or entry.requirement in unfinished:
        return None
    if not about:
        return f"{entry}: matches nothing that ran"
    bad = [e for e in about if e.bad]
    if any(e.verdict is Verdict.CHALLENGED for e in about):
        return None  # disputed
    if entry.flaky:  # it may pass while another entry explains what fails
        bad = [e for e in bad if not any(one.explains(e) for one in entries)]
    if not bad:
        return None if entry.flaky else f"{entry}: passes now"
    return f'{entry}: the message has changed: {bad[0].verdict} "{bad[0].message}"'


def read_baseline(path: Path) -> Baseline:
    """Read a baseline: a YAML list of entries.

    Raises BaselineError with every problem found, one per line.
    """
    try:
        listed = plain_yaml.load(path.read_text("utf-8"))
    except OSError as error:
        message = f"{path}: the baseline cannot be read: {error.strerror}"
        raise BaselineError(message) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        message = f"{path}: the baseline is not valid YAML: {' '.join(str(error).split())}"
        raise BaselineError(message) from None
    if listed is None:
        listed = []
    if not isinstance(listed, list):
        message = f"{path}: a baseline must be a list of entries"
        raise BaselineError(message)
    problems: list[str] = []
    entries = [_entry(place, raw, problems) for place, raw in enumerate(listed)]
    if problems:
        raise BaselineError("\n".join(f"{path}: {problem}" for problem in problems))
    return Baseline(str(path), tuple(e for e in entries if e is not None))


def _check_revision(name: str) -> None:
    if name and find_revision(name).name != name:
        raise LookupError(f'"{name}" is an alias: use "{find_revision(name)}"')


def _entry(place: int, raw: Any, problems: list[str]) -> KnownDeviation | None:
    """Return the entry, or None after adding its problems to the list."""
    found = [f"entry {place + 1}: {problem}" for problem in _problems(raw)]
    problems += found
    return None if found else msgspec.convert(raw, KnownDeviation)


def _problems(raw: Any) -> Iterator[str]:
    if not isinstance(raw, dict):
        yield f"expected fields and values, got {raw!r}"
        return
    known = {of.encode_name: of for of in msgspec.structs.fields(KnownDeviation)}
    for name in raw:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            yield f'unknown field "{name}"{f"; did you mean {near[0]}?" if near else ""}'
    for name, of in known.items():
        if name in raw:
            problem = _problem(raw[name], of)
            yield from [f"{name}: {problem}"] if problem else []
        elif of.required:
            yield f"{name} is missing"


def _problem(value: Any, of: msgspec.structs.FieldInfo) -> str:
    """Return what is wrong with the value of a field, or ""."""
    if problem := problem_with(value, of):
        return problem
    try:
        _CHECKS.get(of.encode_name, _anything)(value)
    except (LookupError, re.error) as error:
        return str(error)
    return ""


def _anything(_: str) -> None:
    """Accept any value of the field's type."""


def _check_words(message: str) -> None:
    re.compile(message[1:-1] if message.startswith("/") else "")


_CHECKS: Final[Mapping[str, Callable[[str], object]]] = {
    "requirement": find_requirement,
    "revision": _check_revision,
    "says": _check_words,
}
