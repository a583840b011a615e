"""The verdict at the end of a history, which a replay can try to reproduce."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Self

from siconform.outcomes import ConformanceFailure, Outcome
from siconform.protocol.matchers import Matcher
from siconform.protocol.notifications import Fact
from siconform.recording.elements import Unreplayable, element, fact_of
from siconform.verdicts import Evidence

EVALUATED: Final = "judged"
"""The key of the record."""


@dataclass(frozen=True, slots=True)
class HistoryVerdict:
    """A verdict on one requirement, with the decisive facts if only facts decide it."""

    requirement: str
    verdict: str
    message: str
    test: str = ""
    monitor: str = ""
    awaited: tuple[Fact, ...] = ()  # patterns that were never received
    unwanted: tuple[Fact, ...] = ()  # patterns one of which was received

    @classmethod
    def of(cls, evidence: Evidence, outcome: Outcome | None) -> Self:
        """Return the verdict of the evidence; the outcome is that of the test itself."""
        own = outcome if isinstance(outcome, ConformanceFailure) and not evidence.monitor else None
        return cls(
            evidence.requirement,
            evidence.verdict.value,
            evidence.message,
            evidence.test,
            evidence.monitor,
            _plain(own.awaited) if own is not None else (),
            _plain(own.unwanted) if own is not None else (),
        )

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """Read the verdict at the end of a history; Unreplayable if it is not one."""
        try:
            return cls(
                str(record["requirement"]),
                str(record["verdict"]),
                str(record["says"]),
                str(record["test"]),
                str(record["monitor"]),
                tuple(fact_of(one) for one in record["awaited"]),
                tuple(fact_of(one) for one in record["unwanted"]),
            )
        except (KeyError, TypeError) as error:
            raise Unreplayable(f"not a verdict: {error!r}") from None

    def add_to(self, history: Path) -> None:
        """Append the record to the JSON lines."""
        record = {
            "requirement": self.requirement,
            "verdict": self.verdict,
            "says": self.message,
            "test": self.test,
            "monitor": self.monitor,
            "awaited": [element(fact) for fact in self.awaited],
            "unwanted": [element(fact) for fact in self.unwanted],
        }
        with history.open("a", encoding="utf-8") as out:
            out.write(json.dumps({EVALUATED: record}, ensure_ascii=False) + "\n")


def _plain(patterns: Iterable[object]) -> tuple[Fact, ...]:
    """Return the patterns as plain values, or none if one cannot be written and read back."""
    kept = []
    for pattern in patterns:
        try:
            if not isinstance(pattern, Fact):
                return ()
            plain = _without_matchers(pattern)
            if fact_of(_as_json(element(plain))) != plain:
                return ()
        except (TypeError, ValueError):
            return ()
        kept.append(plain)
    return tuple(kept)


def _without_matchers(pattern: Fact) -> Fact:
    """Replace each matcher by the one value it accepts; ValueError if it is not one."""
    values = {}
    for field in fields(pattern):
        value = getattr(pattern, field.name)
        if isinstance(value, Matcher):
            if value.only is None:
                raise ValueError(f"{value} is not one value")
            values[field.name] = value.only
    return replace(pattern, **values)


def _as_json(value: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(value))
