"""Restated messages about live keys: updates, placements by the RM, and answers to either.

A revision in which the key is the identity uses the messages for a request or an allocation for all
of them. Monitors receive these classes instead, in which an identity stands for one lifecycle of a
key (``key_lifecycles.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from siconform.protocol.notifications import Allocated, Fact
from siconform.protocol.requests import AskRequest, ExistingAllocationRequest


@dataclass(frozen=True, slots=True)
class Updated(Fact):
    """The RM resends a live or pending key with these amounts; needs no answer."""

    key: str
    application: str
    resource: Mapping[str, int]
    node: str = ""  # "" if it names none
    ask: AskRequest | None = None  # the whole of it, if it was sent as a request
    announced: bool = False  # whether it had been announced by then


@dataclass(frozen=True, slots=True)
class Placed(Fact):
    """The RM reports a node for a request that, as far as it knows, is pending."""

    allocation: Allocated


@dataclass(frozen=True, slots=True)
class ReportedAgain(ExistingAllocationRequest):
    """The RM reports a key whose allocation ended before; only an echo makes it certain.

    Taking it over or rejecting it is only recommended (SI-REC-026).
    """


@dataclass(frozen=True, slots=True)
class UpdateRejected(Fact):
    """An update or a placement is rejected.

    ``certain`` if the key was announced; else the request or the report itself may be rejected.
    """

    key: str
    application: str
    reason: str
    certain: bool


@dataclass(frozen=True, slots=True)
class ReleaseRefused(Fact):
    """A release without type of a live key is refused, as it may be."""

    key: str
    application: str
    reason: str


@dataclass(frozen=True, slots=True)
class Echoed(Fact):
    """A live allocation is announced again after an update or a report; ``node`` is its node."""

    allocation: Allocated
    node: str


@dataclass(frozen=True, slots=True)
class ForeignEchoed(Fact):
    """A foreign allocation is sent back, on the node where it was reported."""

    allocation: Allocated


@dataclass(frozen=True, slots=True)
class AllocatedAgain(Fact):
    """A second allocation under a key that is live, or that ended without a new ask."""

    allocation: Allocated
