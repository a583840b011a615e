"""Namespace quotas: tags of an application that say what the queue of its namespace may use.

They hold for a leaf that a placement rule made, in place of what its template says, and the latest
application decides (SI-CONST-005). The values are JSON: ``{"resources": {"memory": {"value": 4}}}``
in the RM's smallest unit. How many applications may run there is a plain number (SI-CONST-011).
What cannot be read is ignored, as any tag nobody knows (SI-APP-010).
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
    """Take the quotas that the tags of ``new`` have for ``leaf``."""
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
    """The number ``text`` says; None if it says none above zero."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) or None if is_number else None


def _amounts(text: str) -> Resource | None:
    """The resource ``text`` says; None if it says nothing above zero, or makes no sense."""
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
