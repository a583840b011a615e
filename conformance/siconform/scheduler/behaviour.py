"""The behaviour of the simulated scheduler: requests of an RM in, facts to send out. It is pure.

Nothing orders the streams of an RM: what names an unknown node or application is kept until that
comes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    Fact,
    NodeAccepted,
    NodeRejected,
    Termination,
)
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.scheduler.decisions import OVER, Decisions, ask_release_of, release_of
from siconform.scheduler.model import Application, Live, Node, Pending

_BY_TEST: Final = "rejected by the test"


class Behaviour(Decisions):
    """The scheduler as one RM meets it, from one registration to the next."""

    def receive(self, contents: Iterable[object], now: float) -> list[Fact]:
        """Handle the requests of one message; return the facts to send."""
        self.now = now
        return [fact for content in contents for fact in self._handle(content)]

    def _handle(self, content: object) -> Sequence[Fact]:  # noqa: PLR0911  # one a request
        match content:
            case NodeRequest():
                return self._node(content)
            case ApplicationRequest():
                return self._application(content)
            case ApplicationRemoval(application=name):
                return self._removal(name)
            case AskRequest():
                return self._ask(content)
            case ExistingAllocationRequest(allocation=allocation):
                return self._existing(allocation)
            case AllocationUpdate(allocation=allocation):
                return self._update(allocation)
            case ForeignAllocationRequest():
                self.model.foreign[content.key] = (content.node, content.resource or {})
            case ReleaseRequest():
                return self._release(content)
            case AskReleaseRequest():
                return self._ask_release(content)
        return ()

    def _node(self, sent: NodeRequest) -> Sequence[Fact]:
        node = self.model.nodes.get(sent.node)
        creates = sent.action in (Action.CREATE, Action.CREATE_DRAINING)
        if creates and (node is not None or not sent.node):
            return self._verdict(NodeRejected(sent.node, f"node {sent.node!r} exists already"))
        if creates:
            self._creates(sent)
            return self._verdict(NodeAccepted(sent.node))
        if node is None:
            return [NodeRejected(sent.node, f"node {sent.node!r} is unknown")]
        match sent.action:
            case Action.DRAIN:
                node.schedulable = False
            case Action.UNDRAIN:
                node.schedulable = True
            case Action.UPDATE:
                node.capacity = node.capacity if sent.capacity is None else sent.capacity
                node.occupied = node.occupied if sent.occupied is None else sent.occupied
            case Action.DECOMMISSION:
                return self._decommission(node)
        return ()

    def _creates(self, sent: NodeRequest) -> None:
        self.model.nodes[sent.node] = Node(
            sent.node,
            sent.capacity or {},
            sent.occupied or {},
            schedulable=sent.action is Action.CREATE,
            accepted=NodeAccepted not in self.switches.delayed,
        )
        for allocation in sent.existing:
            self._recovers(allocation)

    def _decommission(self, node: Node) -> Sequence[Fact]:
        del self.model.nodes[node.name]
        ended = [one for one in self.model.live.values() if one.allocation.node == node.name]
        self.model.foreign = {k: v for k, v in self.model.foreign.items() if v[0] != node.name}
        return [fact for live in ended for fact in self._ends(live)]

    def _application(self, sent: ApplicationRequest) -> Sequence[Fact]:
        name = sent.application
        known = self.model.applications.get(name)
        if not name or (known is not None and known.state not in OVER):
            return self._verdict(ApplicationRejected(name, f"application {name!r} exists already"))
        accepted = ApplicationAccepted not in self.switches.delayed
        app = Application(name, sent.partition, sent.queue, accepted=accepted)
        self.model.applications[name] = app
        self.model.gone.discard(name)
        return [*self._verdict(ApplicationAccepted(name)), *self.settles(name)]

    def _verdict(self, verdict: Fact) -> Sequence[Fact]:
        if not isinstance(verdict, self.switches.delayed):
            return [verdict]
        self.held.append(verdict)
        return ()

    def _removal(self, name: str) -> Sequence[Fact]:
        if self.model.applications.pop(name, None) is not None:
            self.model.gone.add(name)
        for pending in self.model.pending_of(name):
            del self.model.pending[pending.name]
        return [fact for live in self.model.live_of(name) for fact in self._ends(live)]

    def _ask(self, sent: AskRequest) -> Sequence[Fact]:
        app = self.model.applications.get(sent.application)
        is_gone = sent.application in self.model.gone if app is None else app.state in OVER
        if is_gone:  # an unknown one may still come, on another stream
            reason = f"application {sent.application!r} was rejected, or is over"
            return [AskRejected(sent.key, sent.application, reason)]
        if any(amount < 0 for amount in (sent.resource or {}).values()):
            return [AskRejected(sent.key, sent.application, "an amount is negative")]
        if self._identity is Identity.KEY_OF_THE_ASK and sent.key in self.model.live:
            return ()  # one key has at most one allocation (SI-ASK-027)
        name = (sent.application, sent.key)
        known = self.model.pending.get(name)
        self.model.pending[name] = Pending(
            sent, sent.max_allocations, replaces=known.replaces if known is not None else ""
        )
        return self.settles(sent.application)

    def _existing(self, allocation: Allocated) -> Sequence[Fact]:
        if allocation.application in self.model.gone:
            reason = f"application {allocation.application!r} was rejected or removed"
            return [AllocationRejected(allocation.key, allocation.application, reason)]
        self._recovers(allocation)
        return self.settles(allocation.application)

    def _recovers(self, allocation: Allocated) -> None:
        self.model.live[allocation.identity] = Live(allocation)
        self.model.pending.pop((allocation.application, allocation.key), None)

    def _update(self, allocation: Allocated) -> Sequence[Fact]:
        live = self.model.live.get(allocation.identity)
        if live is not None:
            live.allocation = replace(live.allocation, resource=allocation.resource)
        return ()

    def _release(self, sent: ReleaseRequest) -> Sequence[Fact]:
        match sent.subject:
            case OneAllocation(application="", identity=key):
                self.model.foreign.pop(key, None)
                return ()
            case OneAllocation(application=application, identity=identity, key=key):
                live = self.model.live.get(identity)
                if live is not None and live.allocation.application == application:
                    return self._released_by_rm(live, sent.termination)
                return self._ask_release(
                    AskReleaseRequest(OneAsk(application, key), sent.partition, sent.termination)
                )
            case AllOf(application=application):
                ended = self.model.live_of(application)
                if sent.termination in BY_THE_SCHEDULER:
                    ended = [one for one in ended if one.releasing is sent.termination]
                return [
                    *(f for one in ended for f in self._released_by_rm(one, sent.termination)),
                    *self._ask_release(
                        AskReleaseRequest(AllOf(application), sent.partition, sent.termination)
                    ),
                ]

    def _released_by_rm(self, live: Live, termination: Termination) -> Sequence[Fact]:
        if live.releasing is not None and live.releasing is termination:
            return self._confirmed(live)
        if termination in BY_THE_SCHEDULER:
            return ()  # neither a confirmation nor a release that an RM may start
        return self._ends(live)

    def _confirmed(self, live: Live) -> Sequence[Fact]:
        allocation = live.allocation
        del self.model.live[allocation.identity]
        for pending in self.model.pending_of(allocation.application):
            if pending.replaces == allocation.identity:
                return self.allocates(pending, allocation.node, self.now)
        return self.settles(allocation.application)

    def _ends(self, live: Live) -> Sequence[Fact]:
        """End an allocation for the RM and confirm it."""
        allocation = live.allocation
        del self.model.live[allocation.identity]
        for pending in self.model.pending_of(allocation.application):
            if pending.replaces == allocation.identity:
                pending.replaces = ""
        confirmed = [release_of(allocation, Termination.STOPPED_BY_RM)]
        return [
            *(confirmed if self.switches.confirms else ()),
            *self.settles(allocation.application),
        ]

    def _ask_release(self, sent: AskReleaseRequest) -> Sequence[Fact]:
        match sent.subject:
            case OneAsk(application=application, key=key):
                ended = [
                    one for one in self.model.pending.values() if one.is_named(application, key)
                ]
            case AllOf(application=application):
                ended = self.model.pending_of(application)
            case AllThereIs():
                ended = list(self.model.pending.values())
        if sent.termination in BY_THE_SCHEDULER:
            ended = [one for one in ended if one.releasing is sent.termination]
        facts: list[Fact] = []
        for pending in ended:
            del self.model.pending[pending.name]
            by_rm = pending.releasing is None
            if by_rm and self.switches.confirms and self.confirms_ask_releases:
                facts.append(ask_release_of(pending.ask, Termination.STOPPED_BY_RM))
            facts += self.settles(pending.ask.application)
        return facts
