"""Fences: messages with a certain answer, sent behind others to know that those were processed.

Node stream: a node that exists is created again. Application stream: an application that exists
is added again. Allocation stream: an ask for an unknown application, where the target was seen
to reject it; otherwise the release of an allocation that is kept for this.
"""

from functools import partial
from itertools import count
from typing import Final

from siwire import Capability

from siconform.outcomes import PremiseLost
from siconform.rm.connection import FENCE_PREFIX, Connection
from siconform.rm.facts import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    Fact,
    Kind,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    Termination,
)
from siconform.rm.history import Entry
from siconform.rm.patience import Patience
from siconform.rm.sayings import (
    Action,
    ApplicationSaying,
    AskSaying,
    NodeSaying,
    ReleaseSaying,
    Saying,
)

FENCE_RESOURCE: Final = "siconform.fence"
NOTHING: Final = {"memory": 0, "vcore": 0}  # explicit zeros: some targets read "absent" as "any"


class Fences:
    """The fences of one connection; what they need is set up when first used."""

    def __init__(self, connection: Connection, patience: Patience) -> None:
        self._connection = connection
        self._patience = patience
        self._numbers = count(1)
        self._node = f"{FENCE_PREFIX}{connection.rm_id}-node"
        self._application = f"{FENCE_PREFIX}{connection.rm_id}-application"
        self._node_stands = False
        self._application_stands = False
        self._unknown_application_is_rejected: bool | None = None

    def forget(self) -> None:
        """The scheduler dropped the state of this RM: set everything up anew when needed."""
        self._node_stands = self._application_stands = False

    def raise_on(self, kind: Kind) -> None:
        """Return once all that was said before on this stream was processed, else PremiseLost."""
        match kind:
            case Kind.NODES:
                self._fence_nodes()
            case Kind.APPLICATIONS:
                self._fence_applications()
            case Kind.ALLOCATIONS:
                self._fence_allocations()

    def _fence_nodes(self) -> None:
        verdict = (NodeAccepted(self._node), NodeRejected(self._node))
        if not self._node_stands:
            self._sets_up_node()
        creation = NodeSaying(self._node, Action.CREATE, capacity=NOTHING)
        self._asks_and_waits(Kind.NODES, creation, verdict)

    def _sets_up_node(self) -> None:
        born_draining = self._connection.revision.can(Capability.CREATE_DRAIN)
        action = Action.CREATE_DRAINING if born_draining else Action.CREATE
        verdict = (NodeAccepted(self._node), NodeRejected(self._node))
        self._asks_and_waits(Kind.NODES, NodeSaying(self._node, action, capacity=NOTHING), verdict)
        if not born_draining:
            self._connection.say(Kind.NODES, [NodeSaying(self._node, Action.DRAIN)])
        self._node_stands = True

    def _fence_applications(self) -> None:
        verdict = (ApplicationAccepted(self._application), ApplicationRejected(self._application))
        addition = ApplicationSaying(
            self._application, queue="root.default", partition="default", user="fence"
        )
        if not self._application_stands:
            self._asks_and_waits(Kind.APPLICATIONS, addition, verdict)
            self._application_stands = True
        self._asks_and_waits(Kind.APPLICATIONS, addition, verdict)

    def _fence_allocations(self) -> None:
        if self._unknown_application_is_rejected is not False:
            try:
                self._ask_of_unknown_application()
            except PremiseLost:
                if self._unknown_application_is_rejected:
                    raise
                self._unknown_application_is_rejected = False
            else:
                self._unknown_application_is_rejected = True
                return
        self._release_of_a_live_allocation()

    def _ask_of_unknown_application(self) -> None:
        key = f"{FENCE_PREFIX}{self._connection.rm_id}-ask-{next(self._numbers)}"
        ask = AskSaying(key, f"{FENCE_PREFIX}nobody", "default", {"memory": 1, "vcore": 1})
        self._asks_and_waits(Kind.ALLOCATIONS, ask, (AskRejected(key),))

    def _release_of_a_live_allocation(self) -> None:
        self._fence_applications()
        node = NodeSaying(
            f"{self._node}-room", Action.CREATE, capacity=NOTHING | {FENCE_RESOURCE: 1}
        )
        verdict = (NodeAccepted(node.node), NodeRejected(node.node))
        self._asks_and_waits(Kind.NODES, node, verdict)
        key = f"{FENCE_PREFIX}{self._connection.rm_id}-ask-{next(self._numbers)}"
        ask = AskSaying(key, self._application, "default", {FENCE_RESOURCE: 1})
        allocated = self._asks_and_waits(Kind.ALLOCATIONS, ask, (Allocated(key),))
        if not isinstance(allocated, Allocated):
            raise PremiseLost("the allocation stream cannot be fenced: the stream ended")
        release = ReleaseSaying(
            self._application, allocated.identity, Termination.STOPPED_BY_RM, key=key
        )
        released = Released(identity=allocated.identity)
        self._asks_and_waits(Kind.ALLOCATIONS, release, (released,))

    def _asks_and_waits(self, kind: Kind, saying: Saying, answers: tuple[Fact, ...]) -> Fact:
        history = self._connection.history
        start = len(history)
        self._connection.say(kind, [saying])
        wanted = (*answers, StreamEnded(kind))

        def find() -> Fact | None:
            return _first(history.since(start), self._connection.rm_id, wanted)

        longest = 2 * self._patience.ack
        found = history.clock.along(partial(history.look, find), longest)
        if found is None:
            message = f"the fence on the {kind.value} stream was not answered in {longest:g} s"
            raise PremiseLost(message)
        return found


def _first(entries: list[Entry], rm_id: str, wanted: tuple[Fact, ...]) -> Fact | None:
    for entry in entries:
        content = entry.content
        if (
            isinstance(content, Fact)
            and entry.rm == rm_id
            and any(pattern.matches(content) for pattern in wanted)
        ):
            return content
    return None
