"""Key lifecycles: where the key is the identity, each lifecycle of a key gets its own identity.

A lifecycle begins with a request or a report while none is live. It ends with the RM's release or
confirmation, the removal of the application, the decommission of the node, or the scheduler's
release or rejection. Any other message about a live key is an update, or places a pending request.

Messages do not name the lifecycle, so the scheduler's are assigned in order: to the first one that
is not over. After the RM has ended one, the next request starts another; the earlier one is over
when its end has been received, or certainly should have been.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.restated import (
    AllocatedAgain,
    Echoed,
    ForeignEchoed,
    Placed,
    ReleaseRefused,
    ReportedAgain,
    Updated,
    UpdateRejected,
)
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AllocationRejected,
    AskRejected,
    AskReleased,
    Fact,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    Amounts,
    ApplicationRemoval,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry

_LATER: Final = " (life "  # after the key, in the identity of its second and later lifecycles


@dataclass(slots=True, eq=False)
class _KeyLifecycle:
    key: str
    application: str
    name: str  # its identity
    reported: bool = False  # by the RM, as an existing allocation
    announced: bool = False
    nodes: list[str] = field(default_factory=list)  # its node, then those that updates named
    updates: int = 0  # sent and not rejected
    echoes: int = 0  # that may still come
    started: Termination | None = None  # the scheduler's release, which the RM has to confirm
    confirmed: bool = False
    ended: bool = False  # by the RM
    stops: int = 0  # unanswered requests of the RM that end it
    untyped: int = 0  # those of them without type, which may be refused
    over: bool = False

    @property
    def is_live(self) -> bool:
        return self.reported or self.announced

    def names(self, allocation: Allocated) -> Allocated:
        """Return the allocation with the identity of this lifecycle."""
        if allocation.key == self.name == allocation.identity:
            return allocation
        return replace(allocation, key=self.name, identity=self.name)


class KeyLifecycles:
    """The lifecycles of all keys of one RM, from the beginning of the history."""

    def __init__(self) -> None:
        self._lifecycles: dict[str, list[_KeyLifecycle]] = defaultdict(
            list
        )  # by key, all applications
        self._left: dict[str, dict[int, _KeyLifecycle]] = {}  # by application, perhaps not over
        self._foreign: dict[str, list[str]] = defaultdict(list)  # nodes reported, not echoed
        self._gone: set[str] = set()  # decommissioned nodes
        self._certainty: Certainty[_KeyLifecycle] = Certainty()

    def restates(self, entry: Entry) -> Iterator[Entry]:
        """Yield the entry as monitors are to observe it: once for each possible meaning."""
        for lifecycle in self._certainty.observe(entry):
            lifecycle.over = True
        if entry.barrier:
            yield entry
            return
        for content in self._restated(entry.content):
            yield entry if content is entry.content else entry.with_content(content)

    def _restated(self, content: Content) -> Iterable[Content]:
        match content:
            case AskRequest():
                return [self._asks(content)]
            case ExistingAllocationRequest(allocation) | AllocationUpdate(allocation):
                return [self._reports(allocation)]
            case ReleaseRequest() | AskReleaseRequest():
                return self._ends(content)
            case Fact():
                return [self._restated_fact(content)]
            case _:
                self._observe_other(content)
                return [content]

    def _restated_fact(self, received: Fact) -> Content:
        match received:
            case Allocated():
                return self._announces(received)
            case Released(identity="", application=application):
                is_final = received.termination not in BY_THE_SCHEDULER
                for lifecycle in self._all_of(application):  # what is pending may go on
                    lifecycle.ended = lifecycle.ended or lifecycle.is_live
                    lifecycle.over = is_final and lifecycle.ended
            case Released(identity=key) | AskReleased(key=key) if self._lifecycles[key]:
                return self._releases(received, key)
            case AskRejected(key=key) | AllocationRejected(key=key):
                return self._rejects(received, key)
            case RegistrationAnswered(status="OK"):
                for lifecycle in self._all():
                    lifecycle.ended = lifecycle.over = True
        return received

    def _observe_other(self, content: Content) -> None:
        match content:
            case ForeignAllocationRequest(key=key, node=node):
                self._foreign[key].append(node)
            case NodeRequest(action=Action.CREATE | Action.CREATE_DRAINING, node=node):
                self._gone.discard(node)
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._gone.add(node)
                there = (lifecycle for lifecycle in self._all() if node in lifecycle.nodes[:1])
                self._ends_all(there, UpdateKind.NODES)
            case ApplicationRemoval(application=application):
                self._ends_all(self._all_of(application), UpdateKind.APPLICATIONS)

    def _asks(self, ask: AskRequest) -> Content:
        lifecycle = self._live(ask.key, ask.application)
        if lifecycle is None:
            return _named(ask, self._begins(ask.key, ask.application).name)
        return self._updates(lifecycle, ask.resource or {}, ask=_named(ask, lifecycle.name))

    def _reports(self, allocation: Allocated) -> Content:
        if not allocation.node:
            return self._asks(_as_ask(allocation))
        key, application, node = allocation.identity, allocation.application, allocation.node
        lifecycle = self._live(key, application)
        if lifecycle is None:
            lifecycle = self._begins(key, application)
            lifecycle.reported, lifecycle.nodes = True, [node]
            is_first = lifecycle is self._lifecycles[key][0]
            return (ExistingAllocationRequest if is_first else ReportedAgain)(
                lifecycle.names(allocation)
            )
        if lifecycle.is_live:
            return self._updates(lifecycle, allocation.resource, node)
        lifecycle.updates += 1
        lifecycle.echoes += 1
        lifecycle.nodes.append(node)
        return Placed(lifecycle.names(allocation))

    def _updates(
        self,
        lifecycle: _KeyLifecycle,
        resource: Amounts,
        node: str = "",
        ask: AskRequest | None = None,
    ) -> Content:
        lifecycle.updates += 1
        lifecycle.echoes += 1
        if node:
            lifecycle.nodes.append(node)
        return Updated(
            lifecycle.name, lifecycle.application, resource, node, ask, lifecycle.announced
        )

    def _ends(self, sent: ReleaseRequest | AskReleaseRequest) -> Iterator[Content]:
        """Yield a release, and also a withdrawal of what was not announced yet."""
        match sent.subject:
            case OneAllocation(application=application, identity=key):
                pass
            case OneAsk(application=application, key=key):
                pass
            case AllOf(application=application) as everything:
                untyped = sent.termination is Termination.UNKNOWN
                self._ends_all(self._all_of(application), untyped=untyped)
                yield ReleaseRequest(everything, sent.termination, sent.partition)
                return
            case _:
                yield sent
                return
        lifecycle = self._last(key, application) if application else None  # foreign: none
        if lifecycle is not None and lifecycle.application == application:
            lifecycle.ended = True
            is_confirmation = sent.termination is lifecycle.started
            lifecycle.confirmed = lifecycle.confirmed or is_confirmation
            lifecycle.stops += not is_confirmation
            lifecycle.untyped += sent.termination is Termination.UNKNOWN
            if sent.termination in (Termination.STOPPED_BY_RM, lifecycle.started):
                self._certainty.send(lifecycle, UpdateKind.ALLOCATIONS)
        name = key if lifecycle is None else lifecycle.name
        one = OneAllocation(application, name, name)
        yield ReleaseRequest(one, sent.termination, sent.partition)
        named = lifecycle or self._last(key, application)  # a bare key names no ask but is echoed
        if named is not None and not named.is_live:
            one_ask = OneAsk(application, named.name)
            yield AskReleaseRequest(one_ask, sent.partition, sent.termination)

    def _announces(self, received: Allocated) -> Content:
        reports = self._foreign.get(received.key, [])
        if not received.application and received.node in reports:
            reports.remove(received.node)
            return ForeignEchoed(received)
        lifecycle = self._announced_by(received)
        if lifecycle is None:
            return received
        if received.node in self._gone:
            lifecycle.ended = True
        if not lifecycle.announced and not (lifecycle.reported and lifecycle.over):
            lifecycle.announced = True
            lifecycle.nodes.insert(0, received.node)
            return lifecycle.names(received)
        may_be_repeated = (lifecycle.echoes > 0 or lifecycle.reported) and not lifecycle.over
        if may_be_repeated and received.node in lifecycle.nodes:
            lifecycle.echoes -= 1
            return Echoed(lifecycle.names(received), lifecycle.nodes[0])
        return AllocatedAgain(lifecycle.names(received))

    def _announced_by(self, received: Allocated) -> _KeyLifecycle | None:
        """Return the first lifecycle that is not over, else the last one."""
        lifecycles = self._of(received.key, received.application)
        for lifecycle in lifecycles[:-1]:
            if lifecycle.ended and lifecycle.announced:
                lifecycle.over = True
        left = [lifecycle for lifecycle in lifecycles if not lifecycle.over]
        if left and left[0].ended and not left[0].is_live:  # an echo, if it was reported since
            left = [one for one in left if one.reported and received.node in one.nodes] or left
        return left[0] if left else lifecycles[-1] if lifecycles else None

    def _releases(self, received: Released | AskReleased, key: str) -> Content:
        lifecycles = self._of(key, received.application)
        left = [lifecycle for lifecycle in lifecycles if not lifecycle.over]
        left = [
            lifecycle for lifecycle in left if not lifecycle.confirmed
        ] or left  # those are settled
        lifecycle = left[0] if left else lifecycles[-1]
        if received.termination not in BY_THE_SCHEDULER:
            stopped = [one for one in lifecycles if one.stops > 0]
            lifecycle = next((one for one in stopped if not one.over), (*stopped, lifecycle)[0])
            lifecycle.stops -= lifecycle.stops > 0
            lifecycle.over = True
        else:
            lifecycle.started = received.termination
            lifecycle.over = lifecycle.over or not lifecycle.is_live
        named = lifecycle.name if received.key else ""
        ends = (received.application, received.termination, received.message, received.partition)
        if lifecycle.is_live:
            application, termination, message, partition = ends
            return Released(named, application, lifecycle.name, termination, message, partition)
        return AskReleased(lifecycle.name, *ends)

    def _rejects(self, received: AskRejected | AllocationRejected, key: str) -> Content:
        application, reason = received.application, received.reason
        if key in self._foreign and not application:
            return AllocationRejected(key, application, reason)
        lifecycles = self._of(key, application)
        if not lifecycles:
            return received
        left = (
            one for one in lifecycles if not one.over and (one.updates > 0 or not one.announced)
        )
        lifecycle = next(left, lifecycles[-1])
        if lifecycle.updates > 0:
            lifecycle.updates -= 1
            return UpdateRejected(lifecycle.name, application, reason, certain=lifecycle.announced)
        if lifecycle.untyped > 0 and lifecycle.is_live:
            lifecycle.untyped -= 1
            lifecycle.stops -= 1
            lifecycle.ended = lifecycle.confirmed or lifecycle.stops > 0
            return ReleaseRefused(lifecycle.name, application, reason)
        if lifecycle.reported and not lifecycle.announced:
            lifecycle.over = True
            return AllocationRejected(lifecycle.name, application, reason)
        lifecycle.over = lifecycle.over or not lifecycle.announced
        return AskRejected(lifecycle.name, application, reason)

    def _ends_all(
        self,
        lifecycles: Iterable[_KeyLifecycle],
        kind: UpdateKind | None = None,
        *,
        untyped: bool = False,
    ) -> None:
        for lifecycle in lifecycles:
            lifecycle.untyped += untyped
            lifecycle.ended = True
            lifecycle.stops += 1
            if kind is not None:
                self._certainty.send(lifecycle, kind)

    def _begins(self, key: str, application: str) -> _KeyLifecycle:
        number = len(self._lifecycles[key]) + 1
        name = key if number == 1 else f"{key}{_LATER}{number})"
        lifecycle = _KeyLifecycle(key, application, name)
        self._lifecycles[key].append(lifecycle)
        self._left.setdefault(application, {})[id(lifecycle)] = lifecycle
        return lifecycle

    def _live(self, key: str, application: str) -> _KeyLifecycle | None:
        """Return the lifecycle that the RM's next message about this key continues."""
        lifecycles = [
            lifecycle for lifecycle in self._lifecycles[key] if lifecycle.application == application
        ]
        return (
            lifecycles[-1]
            if lifecycles and not (lifecycles[-1].ended or lifecycles[-1].over)
            else None
        )

    def _last(self, key: str, application: str) -> _KeyLifecycle | None:
        lifecycles = self._of(key, application)
        return lifecycles[-1] if lifecycles else None

    def _of(self, key: str, application: str) -> list[_KeyLifecycle]:
        """Return the key's lifecycles in this application, or all of them if it has none there."""
        lifecycles = self._lifecycles[key]
        return [
            lifecycle for lifecycle in lifecycles if lifecycle.application == application
        ] or lifecycles

    def _all(self) -> list[_KeyLifecycle]:
        """Return those that are not over."""
        return [
            lifecycle for application in list(self._left) for lifecycle in self._all_of(application)
        ]

    def _all_of(self, application: str) -> list[_KeyLifecycle]:
        """Return those of an application that are not over."""
        left = {n: one for n, one in self._left.pop(application, {}).items() if not one.over}
        if left:
            self._left[application] = left
        return list(left.values())


def _named(ask: AskRequest, name: str) -> AskRequest:
    return ask if ask.key == name else replace(ask, key=name)


def key_of(identity: str) -> str:
    """Return the key of a lifecycle by its identity."""
    return identity.partition(_LATER)[0]


def _as_ask(allocation: Allocated) -> AskRequest:
    """Return the request that an allocation without a node stands for."""
    return AskRequest(
        allocation.identity,
        allocation.application,
        allocation.partition,
        allocation.resource,
        priority=allocation.priority,
        tags=allocation.tags,
        task_group=allocation.task_group,
        placeholder=allocation.placeholder,
        originator=allocation.originator,
        preemption_policy=allocation.preemption_policy,
    )
