"""A history read from JSON lines: sent and received messages in order."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from siconform.exploring.counterexample import EXPECTED
from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Request
from siconform.recording.elements import Unreplayable, fact_of, request_of
from siconform.recording.history_verdict import EVALUATED, HistoryVerdict


@dataclass(frozen=True, slots=True)
class Sent:
    """One message of an RM."""

    rm: str
    moment: float
    kind: UpdateKind
    requests: tuple[Request, ...]
    barrier: bool


@dataclass(frozen=True, slots=True)
class Received:
    """One message of the scheduler."""

    rm: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Registers:
    """An RM's RegisterResourceManager call, in proto3 JSON."""

    rm: str
    request: Mapping[str, Any]


Message = Sent | Received | Registers


@dataclass(frozen=True, slots=True)
class Recorded:
    """A whole file; ``expected`` is the message that should have ended the history, if known."""

    messages: tuple[Message, ...]
    expected: Fact | None = None
    evaluated: HistoryVerdict | None = None  # its recorded verdict

    def received(self, pattern: Fact) -> int:
        """Return how many received facts match the pattern."""
        facts = [f for m in self.messages if isinstance(m, Received) for f in m.facts]
        return sum(pattern.matches(fact) for fact in facts)

    @property
    def rms(self) -> list[str]:
        """Every RM that sends something, in order."""
        return list(dict.fromkeys(m.rm for m in self.messages if not isinstance(m, Received)))


def read_history(path: Path) -> Recorded:
    """Read a file; raise Unreplayable, with the line, if it is not a siconform history."""
    records: list[dict[str, Any]] = []
    expected = evaluated = None
    for number, line in enumerate(_lines(path), start=1):
        try:
            record = json.loads(line)
            if EXPECTED in record:
                expected = fact_of(record[EXPECTED])
            elif EVALUATED in record:
                evaluated = HistoryVerdict.read(record[EVALUATED])
            else:
                records.append(record)
        except (ValueError, TypeError) as error:
            raise Unreplayable(f"{path}, line {number}: {error}") from None
    try:
        messages = tuple(_messages(records))
    except (KeyError, TypeError, AttributeError, Unreplayable) as error:
        why = error if isinstance(error, Unreplayable) else f"no {error} in a record"
        raise Unreplayable(
            f"{path} is not a siconform history that can be replayed: {why}"
        ) from None
    if not any(isinstance(message, Sent) for message in messages):
        raise Unreplayable(f"{path}: contains no message of an RM")
    return Recorded(messages, expected, evaluated)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError as error:
        raise Unreplayable(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Unreplayable(f"{path} is not UTF-8 text") from None


def _messages(records: Sequence[dict[str, Any]]) -> Iterator[Message]:
    for _, grouped in groupby(records, key=lambda record: record["number"]):
        elements = list(grouped)
        first = elements[0]
        if first["from"] != "rm":
            received = [e for e in elements if e["element"] is not None and not e["fence"]]
            yield Received(first["rm"], tuple(fact_of(e["element"]) for e in received))
        elif first["element"] is None:
            yield Registers(first["rm"], first["json"] or {})
        else:
            requests = tuple(request_of(e["element"]) for e in elements)
            yield Sent(
                first["rm"], first["moment"], UpdateKind(first["stream"]), requests, first["fence"]
            )
