"""What of the RM's words ends many allocations at once: each may then be told as stopped."""

from siconform.monitors.answered_barriers import NEVER, AnsweredBarriers, Moment
from siconform.monitors.recovered_allocations import recovered_in
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


class BulkEnds:
    """Which allocations an application's removal or a node's decommission is about."""

    def __init__(self) -> None:
        self._placed: dict[str, Allocated] = {}
        self._over: set[str] = set()  # applications and nodes, until they are there again

    def observe(self, content: Content) -> list[str]:
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


class Race:
    """Confirmed allocations of which the scheduler may not have taken the confirmation yet.

    What it hears on another stream may cross with it. Once a fence is answered that was put up
    after the confirmation, and on its stream, it has taken it. Until then it may say its release
    once more, which it may do as long as it has no answer.
    """

    def __init__(self) -> None:
        self._barriers = AnsweredBarriers()
        self._confirmed: dict[str, tuple[Termination, Moment]] = {}

    def __contains__(self, identity: str) -> bool:
        return identity in self._confirmed

    def observe(self, entry: Entry) -> None:
        """Whether a fence was answered."""
        match entry.content:
            case StreamEnded(kind=UpdateKind.ALLOCATIONS):  # and the confirmation may be lost
                for identity, (sent, _) in self._confirmed.items():
                    self._confirmed[identity] = (sent, NEVER)
        answer = self._barriers.observe(entry)
        if answer is not None and answer.kind is UpdateKind.ALLOCATIONS:
            for identity, (_, since) in list(self._confirmed.items()):
                if answer.is_of_one_after(since):
                    del self._confirmed[identity]

    def begins(self, identity: str, sent: Termination | None) -> None:
        """The RM said what ends this; the scheduler had asked for its release, or had not."""
        if sent is not None:
            self._confirmed[identity] = (sent, self._barriers.now)

    def has_repeated(self, release: Released) -> bool:
        """Whether this is what was confirmed, said once more."""
        termination, _ = self._confirmed.get(release.identity, (None, 0))
        return termination is release.termination
