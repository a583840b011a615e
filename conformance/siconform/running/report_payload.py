"""Payloads from workers to the controller, carried by pytest's reports.

xdist transports ``user_properties``, slowly where they are nested, so a payload is a string. The
controller removes its payloads before JUnit and other plugins see them.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec
import pytest


class Payload(StrEnum):
    """The kinds of payload."""

    EVIDENCE = "si.evidence"  # records of Evidence of the test
    MONITORED = "si.monitored"  # monitors without violation: [name, requirements, whether it held]
    SELECTION = "si.selection"  # record of the Selection, in a worker's first report
    TARGET = "si.target"  # {"met": bool, "address": str} or {"lost": sentence, "at_start": bool}
    OBSERVED = "si.observed"  # {"habits": behaviour by name, "slowest": seconds of a placement}
    KIT_ERROR = "si.kit-error"  # a sentence, belonging to no requirement
    NOTE = "si.note"  # information that decides nothing
    FAILURE = "si.failure"  # the parts of a FailureBlock
    WAITED = "si.waited"  # successful waits: [class, seconds allowed, seconds taken]


_KEYS = frozenset(payload.value for payload in Payload)


def put(report: pytest.TestReport, payload: Payload, content: Any) -> None:
    """Add a payload of JSON values."""
    report.user_properties.append((payload.value, msgspec.json.encode(content).decode()))


def take(report: pytest.TestReport) -> Iterator[tuple[Payload, Any]]:
    """Remove all payloads from the report and yield them."""
    everything = report.user_properties
    report.user_properties = [(key, value) for key, value in everything if key not in _KEYS]
    for key, value in everything:
        if key in _KEYS:
            yield Payload(key), msgspec.json.decode(str(value))
