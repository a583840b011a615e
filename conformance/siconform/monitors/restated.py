"""What is retold of keys that live: updates, placements by the RM, and answers to either.

A revision in which the key is the identity says all of it with the words for a request or an
allocation. Monitors hear these kinds instead; whatever they name is the identity of one life of a
key (``lives.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from siconform.protocol.notifications import Allocated, Fact
from siconform.protocol.requests import AskRequest, ExistingAllocationRequest


@dataclass(frozen=True, slots=True)
class Updated(Fact):
    """The RM says again what lives or waits, with these amounts; nobody has to answer."""

    key: str
    application: str
    resource: Mapping[str, int]
    node: str = ""  # "" where it names none
    ask: AskRequest | None = None  # all of it, where it was said as a request
    announced: bool = False  # whether it had been announced by then


@dataclass(frozen=True, slots=True)
class Placed(Fact):
    """The RM says of a request that waits, as far as it knows, on which node it runs."""

    allocation: Allocated


@dataclass(frozen=True, slots=True)
class ReportedAgain(ExistingAllocationRequest):
    """The RM reports what ended under this key before: a life that only its echo makes certain.

    That it is taken over or rejected is no more than recommended (SI-REC-026).
    """


@dataclass(frozen=True, slots=True)
class UpdateRejected(Fact):
    """An update or a placement is rejected.

    It is ``certain`` of what was announced; else the request or the report itself may be meant.
    """

    key: str
    application: str
    reason: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Echoed(Fact):
    """What lives is told once more, after an update or a report; ``node`` is where it was."""

    allocation: Allocated
    node: str


@dataclass(frozen=True, slots=True)
class ForeignEchoed(Fact):
    """What others hold is told once more, on the node where it was reported."""

    allocation: Allocated


@dataclass(frozen=True, slots=True)
class AllocatedAgain(Fact):
    """A second allocation under a key that lives, or that has ended and was not asked for anew."""

    allocation: Allocated
