"""Namespace quotas: application tags that set the quota of the queue of a namespace.

They apply to a leaf that a placement rule made, in place of its template, and the latest
application decides (SI-CONST-005). The values are JSON: ``{"resources": {"memory": {"value": 4}}}``
in the RM's smallest unit. The maximum of running applications is a plain number (SI-CONST-011).
Unreadable values are ignored like unknown tags (SI-APP-010).
Source: yunikorn-core 1.5 and 1.8 ``scheduler/objects/application.go``.
"""

import json
from typing import Any, Final

from sireference.core.model import NewApplication
from sireference.core.placement import RECOVERY_QUEUE
from sireference.core.resources import Resource
from sireference.core.state.queue import Queue

QUOTA: Final = "namespace.resourcequota"
GUARANTEED: Final = "namespace.resourceguaranteed"
MAX_APPLICATIONS: Final = "namespace.resourcemaxapps"  # from 2024-10 on
_LONGEST: Final = 10_000  # characters; a quota has a handful of types
_MOST_DIGITS: Final = 18  # of a number of applications
_MOST: Final = 2**63 - 1  # a Quantity of the SI is an int64


def apply(leaf: Queue, new: NewApplication) -> None:
    """Apply the quotas in the tags of ``new`` to ``leaf``."""
    if not leaf.is_dynamic or leaf.config.name == RECOVERY_QUEUE:
        return
    maximum, guaranteed = _amounts(new.tag(QUOTA)), _amounts(new.tag(GUARANTEED))
    most = _count(new.tag(MAX_APPLICATIONS))
    if maximum is not None or guaranteed is not None or most is not None:
        leaf.limit(
            maximum or leaf.maximum,
            guaranteed or leaf.guaranteed,
            most or leaf.most_applications,
        )


def _count(text: str) -> int | None:
    """Return the number in ``text``; None unless it is a number above zero."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) or None if is_number else None


def _amounts(text: str) -> Resource | None:
    """Return the resource in ``text``; None if it has nothing above zero or is invalid."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        amounts = {
            name: _amount(quantity) for name, quantity in json.loads(text)["resources"].items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return Resource(amounts) if any(amounts.values()) else None


def _amount(quantity: Any) -> int:
    value = quantity.get("value", 0)
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError("an amount is a whole number, not below zero, of 64 bits")
    return value
