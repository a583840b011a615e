"""Requests of the RM that end many allocations at once: each may then be reported as stopped."""

from typing import Final

from siconform.monitors.answered_barriers import NEVER, AnsweredBarriers, Moment
from siconform.monitors.monitor import Barriers
from siconform.monitors.recovered_allocations import REPORTING, recovered_in
from siconform.protocol.notifications import (
    Allocated,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf
from siconform.recording.history import Content, Entry

BULK_ENDS: Final = (
    Allocated,
    *REPORTING,
    ApplicationRequest,
    ApplicationRemoval,
    ReleaseRequest,
    StreamEnded,
    Barriers,
)
"""What BulkEnds and Race observe."""

_APPLICATION, _NODE = "application", "node"


class BulkEnds:
    """The allocations ended by the removal of an application or the decommission of a node."""

    def __init__(self) -> None:
        self._placed: dict[str, Allocated] = {}
        self._in: dict[tuple[str, str], dict[str, None]] = {}  # by application or node
        self._over: set[str] = set()  # applications and nodes, until added again

    def observe(self, content: Content) -> list[str]:
        """Return the identities that end with this; one announced too late ends at once."""
        placed = (content,) if isinstance(content, Allocated) else recovered_in(content)
        for allocation in placed:
            self._places(allocation)
        match content:
            case Allocated(application=application, node=node) if {application, node} & self._over:
                return [content.identity]
            case (
                ApplicationRequest(application=name) | NodeRequest(action=Action.CREATE, node=name)
            ):
                self._over.discard(name)
            case (
                ApplicationRemoval(application=name)
                | NodeRequest(action=Action.DECOMMISSION, node=name)
            ):
                self._over.add(name)
        match content:
            case (
                ApplicationRemoval(application=application)
                | ReleaseRequest(subject=AllOf(application=application))
            ):
                return list(self._in.get((_APPLICATION, application), ()))
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                return list(self._in.get((_NODE, node), ()))
            case _:
                return []

    def is_of_another(self, identity: str, application: str) -> bool:
        """Return whether this is known to be an allocation of another application."""
        placed = self._placed.get(identity)
        return placed is not None and placed.application != application

    def _places(self, allocation: Allocated) -> None:
        identity = allocation.identity
        before = self._placed.get(identity)
        if before is not None:
            for place in _places_of(before):
                self._in[place].pop(identity, None)
        self._placed[identity] = allocation
        for place in _places_of(allocation):
            self._in.setdefault(place, {})[identity] = None


def _places_of(allocation: Allocated) -> tuple[tuple[str, str], ...]:
    return (_APPLICATION, allocation.application), (_NODE, allocation.node)


class Race:
    """Confirmed releases whose confirmation the scheduler may not have processed yet.

    Messages on another stream may overtake it. Once a barrier sent after the confirmation on the
    same stream is answered, it has been processed. Until then the scheduler may repeat its release,
    as it may while it has no answer.
    """

    def __init__(self) -> None:
        self._barriers = AnsweredBarriers()
        self._confirmed: dict[str, tuple[Termination, Moment]] = {}

    def __contains__(self, identity: str) -> bool:
        return identity in self._confirmed

    def observe(self, entry: Entry) -> None:
        """Drop what an answered barrier shows to be processed."""
        if not self._confirmed and not entry.barrier:
            return
        match entry.content:
            case StreamEnded(kind=UpdateKind.ALLOCATIONS):  # the confirmation may be lost
                for identity, (sent, _) in self._confirmed.items():
                    self._confirmed[identity] = (sent, NEVER)
        answer = self._barriers.observe(entry)
        if answer is not None and answer.kind is UpdateKind.ALLOCATIONS:
            for identity, (_, since) in list(self._confirmed.items()):
                if answer.was_sent_after(since):
                    del self._confirmed[identity]

    def begins(self, identity: str, sent: Termination | None) -> None:
        """Note that the RM ended this; ``sent`` is the scheduler's open release, if any."""
        if sent is not None:
            self._confirmed[identity] = (sent, self._barriers.now)

    def has_repeated(self, release: Released) -> bool:
        """Return whether this repeats a confirmed release."""
        termination, _ = self._confirmed.get(release.identity, (None, 0))
        return termination is release.termination
