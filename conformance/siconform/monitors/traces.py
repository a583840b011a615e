"""Recorded exchanges, read from JSON lines and evaluated by all monitors."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from google.protobuf.message import Message
from siwire import Revision

from siconform.catalogue import Requirement, catalogue
from siconform.monitors.monitor import MonitorResult
from siconform.monitors.reading import Reading
from siconform.monitors.registry import MONITORS_OF
from siconform.protocol.notifications import CONNECTION_FACTS
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.recording.elements import fact_of, request_of
from siconform.recording.history import Content, Entry, History, kind_of_content
from siconform.transport.dialects import Dialect, dialect_for

_ABOUT_MESSAGES: Final = frozenset(kind.__name__ for kind in CONNECTION_FACTS)


class UnusableTrace(ValueError):
    """A file that cannot be checked; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the monitors of a requirement found; ``held`` 0 and no violation: not exercised."""

    requirement: Requirement
    held: int
    violation: str = ""
    line: int = 0  # of the violation


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded exchange; ``lines`` are the numbers of the lines of its entries."""

    history: History
    lines: list[int]


def read_trace(path: Path, revision: Revision) -> Trace:
    """Read a file; raise UnusableTrace, with the line, if it cannot be checked."""
    dialect = dialect_for(revision)
    entries: list[Entry] = []
    lines: list[int] = []
    registered: set[str] = set()
    for number, line in enumerate(_lines(path), start=1):
        try:
            entry = _entry(json.loads(line), dialect)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            why = error if isinstance(error, ValueError) else f"no {error} in the record"
            raise UnusableTrace(f"{path}, line {number}: {why}") from None
        if entry is None:
            continue
        if isinstance(entry.content, RegistrationRequested):
            registered.add(entry.rm)
        elif entry.rm not in registered:
            raise UnusableTrace(
                f"{path}, line {number}: RM {entry.rm} has not registered before; "
                "a record that does not begin with the registration cannot be checked"
            )
        entries.append(entry)
        lines.append(number)
    if not entries:
        raise UnusableTrace(f"{path} contains no decoded message")
    return Trace(History.of(entries, dialect.identity), lines)


def check_trace(trace: Trace, revision: Revision, lacks: Collection[str] = ()) -> list[Checked]:
    """Return the result of every monitored requirement of the revision, in catalogue order."""
    history = trace.history
    found: dict[str, list[MonitorResult]] = {}
    for monitors in MONITORS_OF.values():
        reading = Reading(history.identity, monitors)
        reading.reads(history, len(history))
        for monitor, result in zip(monitors, reading.results(0, len(history)), strict=True):
            if monitor.presupposes not in lacks and monitor.identity in (None, history.identity):
                for identifier in result.requirements:
                    found.setdefault(identifier, []).append(result)
    return [
        _checked(requirement, found[identifier], trace.lines)
        for identifier, requirement in catalogue().items()
        if identifier in found and revision.name in requirement.revisions
    ]


def _checked(requirement: Requirement, results: list[MonitorResult], lines: list[int]) -> Checked:
    held = sum(result.held for result in results)
    seen = [(result.seen_at, result.violation) for result in results if result.seen_at is not None]
    if not seen:
        return Checked(requirement, held)
    at, violation = min(seen)
    return Checked(requirement, held, violation or "", lines[at])


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError as error:
        raise UnusableTrace(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnusableTrace(f"{path} is not UTF-8 text") from None


def _entry(record: Mapping[str, Any], dialect: Dialect) -> Entry | None:
    """Return the entry of a record; None without an element that monitors evaluate."""
    if "from" not in record:
        return None  # the verdict at the end of a test's history
    content = _content(record)
    if content is None:
        return None
    return Entry(
        record["at"],
        record["rm"],
        record["from"] == "rm",
        kind_of_content(content),
        content,
        _message(record, dialect),
        record["number"],
        record["fence"],
        record["moment"],
    )


def _content(record: Mapping[str, Any]) -> Content | None:
    of_rm, sent = record["from"] == "rm", record["element"]
    if sent is not None:
        if record["stream"] is None or (of_rm and sent["is"] in _ABOUT_MESSAGES):
            return None  # about a callback, or a message of an RM without requests
        return request_of(sent) if of_rm else fact_of(sent)
    if record["stream"] is not None or not record["rm"]:
        return None
    rm = record["rm"]
    if of_rm:
        return RegistrationRequested(rm)
    return RegistrationAnswered(rm, "UNKNOWN" if record["hex"] is None else "OK", "")


def _message(record: Mapping[str, Any], dialect: Dialect) -> Message | None:
    if record.get("hex") is None or record["message"] is None:
        return None
    name = record["message"].rpartition(".")[2]
    return dialect.schema.read(name, bytes.fromhex(record["hex"]))
