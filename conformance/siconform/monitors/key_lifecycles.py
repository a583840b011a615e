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
class _Life:
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
    over: bool = False

    @property
    def is_live(self) -> bool:
        return self.reported or self.announced

    def names(self, allocation: Allocated) -> Allocated:
        """Return the allocation with the identity of this lifecycle."""
        if allocation.key == self.name == allocation.identity:
            return allocation
        return replace(allocation, key=self.name, identity=self.name)


class Lives:
    """The lifecycles of all keys of one RM, from the beginning of the history."""

    def __init__(self) -> None:
        self._lives: dict[str, list[_Life]] = defaultdict(list)  # by key, all applications
        self._left: dict[str, dict[int, _Life]] = {}  # by application, perhaps not over
        self._foreign: dict[str, list[str]] = defaultdict(list)  # nodes reported, not echoed
        self._gone: set[str] = set()  # decommissioned nodes
        self._certainty: Certainty[_Life] = Certainty()

    def restates(self, entry: Entry) -> Iterator[Entry]:
        """Yield the entry as monitors are to observe it: once for each possible meaning."""
        for life in self._certainty.observe(entry):
            life.over = True
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
                for life in self._all_of(application):
                    life.ended = True
                    life.over = life.is_live and received.termination not in BY_THE_SCHEDULER
            case Released(identity=key) | AskReleased(key=key) if self._lives[key]:
                return self._releases(received, key)
            case AskRejected(key=key) | AllocationRejected(key=key):
                return self._rejects(received, key)
            case RegistrationAnswered(status="OK"):
                for life in self._all():
                    life.ended = life.over = True
        return received

    def _observe_other(self, content: Content) -> None:
        match content:
            case ForeignAllocationRequest(key=key, node=node):
                self._foreign[key].append(node)
            case NodeRequest(action=Action.CREATE | Action.CREATE_DRAINING, node=node):
                self._gone.discard(node)
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._gone.add(node)
                there = (life for life in self._all() if node in life.nodes[:1])
                self._ends_all(there, UpdateKind.NODES)
            case ApplicationRemoval(application=application):
                self._ends_all(self._all_of(application), UpdateKind.APPLICATIONS)

    def _asks(self, ask: AskRequest) -> Content:
        life = self._living(ask.key, ask.application)
        if life is None:
            return _named(ask, self._begins(ask.key, ask.application).name)
        return self._updates(life, ask.resource or {}, ask=_named(ask, life.name))

    def _reports(self, allocation: Allocated) -> Content:
        if not allocation.node:
            return self._asks(_as_ask(allocation))
        key, application, node = allocation.identity, allocation.application, allocation.node
        life = self._living(key, application)
        if life is None:
            life = self._begins(key, application)
            life.reported, life.nodes = True, [node]
            is_first = life is self._lives[key][0]
            return (ExistingAllocationRequest if is_first else ReportedAgain)(
                life.names(allocation)
            )
        if life.is_live:
            return self._updates(life, allocation.resource, node)
        life.updates += 1
        life.echoes += 1
        life.nodes.append(node)
        return Placed(life.names(allocation))

    def _updates(
        self, life: _Life, resource: Amounts, node: str = "", ask: AskRequest | None = None
    ) -> Content:
        life.updates += 1
        life.echoes += 1
        if node:
            life.nodes.append(node)
        return Updated(life.name, life.application, resource, node, ask, life.announced)

    def _ends(self, sent: ReleaseRequest | AskReleaseRequest) -> Iterator[Content]:
        """Yield a release, and also a withdrawal of what was not announced yet."""
        match sent.subject:
            case OneAllocation(application=application, identity=key):
                pass
            case OneAsk(application=application, key=key):
                pass
            case AllOf(application=application) as everything:
                self._ends_all(self._all_of(application))
                yield ReleaseRequest(everything, sent.termination, sent.partition)
                return
            case _:
                yield sent
                return
        life = self._last(key, application) if application else None  # foreign: none
        if life is not None and life.application == application:
            life.ended = True
            is_confirmation = sent.termination is life.started
            life.confirmed = life.confirmed or is_confirmation
            life.stops += not is_confirmation
            if sent.termination in (Termination.STOPPED_BY_RM, life.started):
                self._certainty.send(life, UpdateKind.ALLOCATIONS)
        name = key if life is None else life.name
        one = OneAllocation(application, name, name)
        yield ReleaseRequest(one, sent.termination, sent.partition)
        named = life or self._last(key, application)  # a bare key names no ask but is echoed
        if named is not None and not named.is_live:
            one_ask = OneAsk(application, named.name)
            yield AskReleaseRequest(one_ask, sent.partition, sent.termination)

    def _announces(self, received: Allocated) -> Content:
        reports = self._foreign.get(received.key, [])
        if not received.application and received.node in reports:
            reports.remove(received.node)
            return ForeignEchoed(received)
        life = self._announced_by(received)
        if life is None:
            return received
        if received.node in self._gone:
            life.ended = True
        if not life.announced and not (life.reported and life.over):
            life.announced = True
            life.nodes.insert(0, received.node)
            return life.names(received)
        may_be_repeated = (life.echoes > 0 or life.reported) and not life.over
        if may_be_repeated and received.node in life.nodes:
            life.echoes -= 1
            return Echoed(life.names(received), life.nodes[0])
        return AllocatedAgain(life.names(received))

    def _announced_by(self, received: Allocated) -> _Life | None:
        """Return the first lifecycle that is not over, else the last one."""
        lives = self._of(received.key, received.application)
        for life in lives[:-1]:
            if life.ended and life.announced:
                life.over = True
        left = [life for life in lives if not life.over]
        return left[0] if left else lives[-1] if lives else None

    def _releases(self, received: Released | AskReleased, key: str) -> Content:
        lives = self._of(key, received.application)
        left = [life for life in lives if not life.over]
        left = [life for life in left if not life.confirmed] or left  # those are settled
        life = left[0] if left else lives[-1]
        if received.termination not in BY_THE_SCHEDULER:
            stopped = [one for one in lives if one.stops > 0]
            life = next((one for one in stopped if not one.over), (*stopped, life)[0])
            life.stops -= life.stops > 0
            life.over = True
        else:
            life.started = received.termination
            life.over = life.over or not life.is_live
        named = life.name if received.key else ""
        ends = (received.application, received.termination, received.message, received.partition)
        if life.is_live:
            application, termination, message, partition = ends
            return Released(named, application, life.name, termination, message, partition)
        return AskReleased(life.name, *ends)

    def _rejects(self, received: AskRejected | AllocationRejected, key: str) -> Content:
        application, reason = received.application, received.reason
        if key in self._foreign and not application:
            return AllocationRejected(key, application, reason)
        lives = self._of(key, application)
        if not lives:
            return received
        left = (one for one in lives if not one.over and (one.updates > 0 or not one.announced))
        life = next(left, lives[-1])
        if life.updates > 0:
            life.updates -= 1
            return UpdateRejected(life.name, application, reason, certain=life.announced)
        if life.reported and not life.announced:
            life.over = True
            return AllocationRejected(life.name, application, reason)
        life.over = life.over or not life.announced
        return AskRejected(life.name, application, reason)

    def _ends_all(self, lives: Iterable[_Life], kind: UpdateKind | None = None) -> None:
        for life in lives:
            life.ended = True
            life.stops += 1
            if kind is not None:
                self._certainty.send(life, kind)

    def _begins(self, key: str, application: str) -> _Life:
        number = len(self._lives[key]) + 1
        name = key if number == 1 else f"{key}{_LATER}{number})"
        life = _Life(key, application, name)
        self._lives[key].append(life)
        self._left.setdefault(application, {})[id(life)] = life
        return life

    def _living(self, key: str, application: str) -> _Life | None:
        """Return the lifecycle that the RM's next message about this key continues."""
        lives = [life for life in self._lives[key] if life.application == application]
        return lives[-1] if lives and not (lives[-1].ended or lives[-1].over) else None

    def _last(self, key: str, application: str) -> _Life | None:
        lives = self._of(key, application)
        return lives[-1] if lives else None

    def _of(self, key: str, application: str) -> list[_Life]:
        """Return the key's lifecycles in this application, or all of them if it has none there."""
        lives = self._lives[key]
        return [life for life in lives if life.application == application] or lives

    def _all(self) -> list[_Life]:
        """Return those that are not over."""
        return [life for application in list(self._left) for life in self._all_of(application)]

    def _all_of(self, application: str) -> list[_Life]:
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
