"""What of the RM's words ends many allocations at once: each may then be told as stopped."""

from siconform.monitors.recovered_allocations import recovered_in
from siconform.protocol.notifications import Allocated, Released, Termination, UpdateKind
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf
from siconform.recording.history import Content, Entry


class BulkEnds:
    """Which allocations an application's removal or a node's decommission is about."""

    def __init__(self) -> None:
        self._placed: dict[str, Allocated] = {}
        self._over: set[str] = set()  # applications and nodes, until they are there again

    def hears(self, content: Content) -> list[str]:
        """The identities of what ends with this; what is announced too late ends at once."""
        placed = (content,) if isinstance(content, Allocated) else recovered_in(content)
        self._placed.update({allocation.identity: allocation for allocation in placed})
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
                return [i for i, a in self._placed.items() if a.application == application]
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                return [i for i, a in self._placed.items() if a.node == node]
            case _:
                return []


class Crossing(dict[str, Termination]):
    """Confirmed allocations of which the scheduler may not have taken the confirmation yet.

    What it hears on another stream may cross with it. Once a fence on the stream of the
    confirmation is answered it has taken it. Until then it may say its release once more, which it
    may do as long as it has no answer.
    """

    def hears(self, entry: Entry) -> None:
        """Whether a fence was answered."""
        if entry.fence and not entry.said_by_rm and entry.kind is UpdateKind.ALLOCATIONS:
            self.clear()

    def begins(self, identity: str, said: Termination | None) -> None:
        """The RM said what ends this; the scheduler had asked for its release, or had not."""
        if said is not None:
            self[identity] = said

    def has_repeated(self, release: Released) -> bool:
        """Whether this is what was confirmed, said once more."""
        return self.get(release.identity) is release.termination
