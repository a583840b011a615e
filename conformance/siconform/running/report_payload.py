"""What a worker has to tell the controller, carried by pytest's reports.

xdist transports ``user_properties``; the controller takes its payloads out again before anything
else (JUnit, other plugins) sees them.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pytest


class Payload(StrEnum):
    """The kinds of payload."""

    EVIDENCE = "si.evidence"  # what the test says, as records of Evidence
    MONITORED = "si.monitored"  # monitors without complaint: [requirement, monitor, verdict]
    SELECTION = "si.selection"  # record of the Selection, with a worker's first report
    TARGET = "si.target"  # {"met": bool, "address": str} or {"lost": sentence, "at_start": bool}
    OBSERVED = "si.observed"  # {"habits": words by name, "slowest": seconds of a placement}
    KIT_ERROR = "si.kit-error"  # a sentence no requirement can be named for
    NOTE = "si.note"  # something worth knowing that decides nothing
    FAILURE = "si.failure"  # the parts of a FailureBlock
    WAITED = "si.waited"  # waits that brought something: [class, seconds allowed, seconds taken]


_KEYS = frozenset(payload.value for payload in Payload)


def put(report: pytest.TestReport, payload: Payload, content: Any) -> None:
    """Add a payload of JSON values."""
    report.user_properties.append((payload.value, content))


def take(report: pytest.TestReport) -> Iterator[tuple[Payload, Any]]:
    """Take all payloads out of the report."""
    everything = report.user_properties
    report.user_properties = [(key, value) for key, value in everything if key not in _KEYS]
    yield from ((Payload(key), value) for key, value in everything if key in _KEYS)
