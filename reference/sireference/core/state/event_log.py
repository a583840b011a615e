"""Event log: records of what happens to requests, applications, nodes and queues.

Nothing is recorded unless it is read. One event often concerns several objects: an allocation is
recorded for its request, its application, its node and its queue.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from sireference.core.model import (
    AllocationRecord,
    Ask,
    ChangeDetail,
    ChangeType,
    EventRecord,
    NewApplication,
    RecordType,
)
from sireference.core.resources import Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.queue import Queue
from sireference.core.state.slots_lacked import SlotsLacked
from sireference.core.states import ApplicationState, AskTrigger, NodeState, TerminationType

_APP, _NODE, _QUEUE = RecordType.APP, RecordType.NODE, RecordType.QUEUE
_NONE, _SET, _ADD = ChangeType.NONE, ChangeType.SET, ChangeType.ADD
_REMOVE: Final = ChangeType.REMOVE
_NO_DETAIL: Final = ChangeDetail.DETAILS_NONE

_READY: Final = "ready"  # the attribute of a node

_STATES: Final[Mapping[ApplicationState, ChangeDetail]] = {
    ApplicationState.NEW: ChangeDetail.APP_NEW,
    ApplicationState.ACCEPTED: ChangeDetail.APP_ACCEPTED,
    ApplicationState.STARTING: ChangeDetail.APP_STARTING,
    ApplicationState.RUNNING: ChangeDetail.APP_RUNNING,
    ApplicationState.RESUMING: ChangeDetail.APP_RESUMING,
    ApplicationState.COMPLETING: ChangeDetail.APP_COMPLETING,
    ApplicationState.COMPLETED: ChangeDetail.APP_COMPLETED,
    ApplicationState.FAILING: ChangeDetail.APP_FAILING,
    ApplicationState.FAILED: ChangeDetail.APP_FAILED,
    ApplicationState.EXPIRED: ChangeDetail.APP_EXPIRED,
}
_ENDINGS: Final[Mapping[TerminationType, ChangeDetail]] = {
    TerminationType.STOPPED_BY_RM: ChangeDetail.ALLOC_CANCEL,
    TerminationType.PREEMPTED_BY_SCHEDULER: ChangeDetail.ALLOC_PREEMPT,
    TerminationType.TIMEOUT: ChangeDetail.ALLOC_TIMEOUT,
    TerminationType.PLACEHOLDER_REPLACED: ChangeDetail.ALLOC_REPLACED,
}
_QUEUE_SLOTS: Final = {  # by whether a slot is lacking
    True: (ChangeDetail.APP_CANNOTRUN_QUEUE, "its queue has no free running slot"),
    False: (ChangeDetail.APP_RUNNABLE_QUEUE, "its queue has a free running slot"),
}
_USER_SLOTS: Final = {
    True: (ChangeDetail.APP_CANNOTRUN_QUOTA, "its user or group has no free running slot"),
    False: (ChangeDetail.APP_RUNNABLE_QUOTA, "its user and group have a free running slot"),
}


class EventLog:
    """The records of one RM, written by the classes that keep the state.

    Only records with these ``details`` are written.
    """

    __slots__ = ("_details", "_records", "is_read")

    def __init__(self, details: frozenset[ChangeDetail]) -> None:
        self.is_read = False
        self._details = details
        self._records: list[Callable[..., EventRecord]] = []  # complete except for the time

    def take(self, now: float) -> tuple[EventRecord, ...]:
        """Return and clear the records, all of which happened ``now``."""
        if not self._records:
            return ()
        records = tuple(record(at=now) for record in self._records)
        self._records.clear()
        return records

    def asked(self, application: Application, ask: Ask, change: ChangeType = _ADD) -> None:
        """Record a new or replaced ask."""
        if self.is_read:
            message = "requested" if change is _ADD else "requested again"
            self._of_ask(application, ask, change, message)

    def refused(self, ask: Ask, reason: str) -> None:
        """Record a rejected ask."""
        if self.is_read and ask.key:
            self._request(ask, _NONE, _NO_DETAIL, reason)

    def unsuitable(self, ask: Ask, node: Node, reason: str) -> None:
        """Record that the RM refused a node for the ask."""
        if self.is_read:
            problem = "the resource manager refused this node" + (f": {reason}" if reason else "")
            self._request(ask, _NONE, _NO_DETAIL, problem, node.node_id)

    def over(self, pending: PendingAsk, trigger: AskTrigger) -> None:
        """Record the end of an ask."""
        if not self.is_read:
            return
        self._of_ask(pending.application, pending.ask, _REMOVE, trigger.value)
        if trigger is AskTrigger.WITHDRAWN:
            self._request(pending.ask, _REMOVE, ChangeDetail.REQUEST_CANCEL, trigger.value)
        elif trigger is AskTrigger.TIMED_OUT:
            self._request(pending.ask, _REMOVE, ChangeDetail.REQUEST_TIMEOUT, "its time was up")

    def served(self, allocation: AllocationRecord) -> None:
        """Record an allocation of an ask."""
        if self.is_read:
            ask, detail = allocation.ask, ChangeDetail.REQUEST_ALLOC
            self._request(ask, _ADD, detail, "allocated", allocation.identity)

    def _of_ask(self, application: Application, ask: Ask, change: ChangeType, message: str) -> None:
        about = Subject(_APP, application.application_id, application.leaf.name)
        detail, resource = ChangeDetail.APP_REQUEST, ask.resource
        self.write(about, change, detail, message, reference_id=ask.key, resource=resource)

    def _request(
        self,
        ask: Ask,
        change: ChangeType,
        detail: ChangeDetail,
        message: str,
        reference_id: str = "",
    ) -> None:
        request = Subject(RecordType.REQUEST, ask.key, ask.application_id)
        other = reference_id or ask.application_id
        self.write(request, change, detail, message, reference_id=other, resource=ask.resource)

    def allocation_added(self, allocation: Allocation) -> None:
        """Record a new allocation."""
        if self.is_read:
            self._of_allocation(allocation, _ADD, "allocated")

    def allocation_removed(self, allocation: Allocation, termination: TerminationType) -> None:
        """Record the end of an allocation."""
        if not self.is_read:
            return
        detail, message = _ENDINGS[termination], termination.value
        if allocation.node.state is NodeState.REMOVED:
            detail, message = ChangeDetail.ALLOC_NODEREMOVED, "its node was removed"
        self._of_allocation(allocation, _REMOVE, message)
        application = allocation.application
        self.write(
            Subject(_APP, application.application_id, application.leaf.name),
            _REMOVE,
            detail,
            message,
            reference_id=allocation.record.identity,
            resource=allocation.record.ask.resource,
        )

    def _of_allocation(self, allocation: Allocation, change: ChangeType, message: str) -> None:
        application_id, leaf = (
            allocation.application.application_id,
            allocation.application.leaf.name,
        )
        for about, detail in (
            (Subject(_APP, application_id, leaf), ChangeDetail.APP_ALLOC),
            (Subject(_NODE, allocation.node.node_id), ChangeDetail.NODE_ALLOC),
            (Subject(_QUEUE, leaf), ChangeDetail.QUEUE_ALLOC),
        ):
            identity, resource = allocation.record.identity, allocation.record.ask.resource
            self.write(about, change, detail, message, reference_id=identity, resource=resource)

    def submitted(self, application: Application) -> None:
        """Record an accepted application."""
        if self.is_read:
            self._application(application, _ADD, ChangeDetail.APP_NEW, "submitted")
            self._of_queue(application, _ADD, "submitted")

    def rejected(self, new: NewApplication, reason: str) -> None:
        """Record a rejected application."""
        if self.is_read and new.application_id:
            application = Subject(_APP, new.application_id, new.queue)
            self.write(application, _SET, ChangeDetail.APP_REJECT, reason)

    def moved(self, application: Application, message: str) -> None:
        """Record a change of state."""
        if self.is_read:
            self._application(application, _SET, _STATES[application.state], message)

    def slots(self, application: Application, before: SlotsLacked, now: SlotsLacked) -> None:
        """Record a change in the running slots an application lacks."""
        if before.of_queue != now.of_queue:
            self._application(application, _NONE, *_QUEUE_SLOTS[now.of_queue])
        if before.of_user != now.of_user:
            self._application(application, _NONE, *_USER_SLOTS[now.of_user])

    def left(self, application: Application, message: str) -> None:
        """Record that an application left its queue."""
        if self.is_read:
            self._of_queue(application, _REMOVE, message)

    def removed(self, application: Application, message: str) -> None:
        """Record the removal of an application."""
        if self.is_read:
            self._application(application, _REMOVE, _NO_DETAIL, message)

    def forgotten(self, application_id: str, queue: str, message: str) -> None:
        """Record that a finished application, formerly in ``queue``, is forgotten."""
        if self.is_read:
            expired = ChangeDetail.APP_EXPIRED
            self.write(Subject(_APP, application_id, queue), _REMOVE, expired, message)

    def _application(
        self, application: Application, change: ChangeType, detail: ChangeDetail, message: str
    ) -> None:
        about = Subject(_APP, application.application_id, application.leaf.name)
        self.write(about, change, detail, message)

    def _of_queue(self, application: Application, change: ChangeType, message: str) -> None:
        leaf = Subject(_QUEUE, application.leaf.name)
        reference_id = application.application_id
        self.write(leaf, change, ChangeDetail.QUEUE_APP, message, reference_id=reference_id)

    def node_added(self, node: Node) -> None:
        """Record a new node."""
        if self.is_read:
            self._node(node, _ADD, _NO_DETAIL, "registered", node.capacity)
            self._schedulable(node)
            if _READY in node.attributes:
                self._ready(node)

    def node_changed(self, node: Node, before: NodeState) -> None:
        """Record that a node was possibly closed or opened."""
        if self.is_read and node.state is not before and node.state is not NodeState.REMOVED:
            self._schedulable(node)

    def node_updated(
        self, node: Node, capacity: Resource, occupied: Resource, attributes: Mapping[str, str]
    ) -> None:
        """Record new values of a node, given the previous ones."""
        if not self.is_read:
            return
        if node.capacity != capacity:
            self._node(node, _SET, ChangeDetail.NODE_CAPACITY, "new capacity", node.capacity)
        if node.occupied != occupied:
            self._node(node, _SET, ChangeDetail.NODE_OCCUPIED, "occupied by others", node.occupied)
        if node.attributes.get(_READY) != attributes.get(_READY):
            self._ready(node)

    def node_removed(self, node: Node) -> None:
        """Record the removal of a node."""
        if self.is_read:
            self._node(node, _REMOVE, ChangeDetail.NODE_DECOMISSION, "decommissioned")

    def reserved(self, ask: Ask, node: Node, change: ChangeType) -> None:
        """Record that resources of a node were reserved or unreserved for an ask."""
        if self.is_read:
            message = "reserved" if change is _ADD else "no longer reserved"
            self.write(
                Subject(_NODE, node.node_id),
                change,
                ChangeDetail.NODE_RESERVATION,
                message,
                reference_id=ask.key,
                resource=ask.resource,
            )

    def _schedulable(self, node: Node) -> None:
        is_open = str(node.state is NodeState.SCHEDULABLE).lower()
        self._node(node, _SET, ChangeDetail.NODE_SCHEDULABLE, f"schedulable: {is_open}")

    def _ready(self, node: Node) -> None:
        problem = f"ready: {node.attributes.get(_READY, '')}"
        self._node(node, _SET, ChangeDetail.NODE_READY, problem)

    def _node(
        self,
        node: Node,
        change: ChangeType,
        detail: ChangeDetail,
        message: str,
        resource: Resource | None = None,
    ) -> None:
        self.write(Subject(_NODE, node.node_id), change, detail, message, resource=resource)

    def queue(
        self,
        queue: Queue,
        change: ChangeType,
        detail: ChangeDetail,
        message: str,
        resource: Resource | None = None,
    ) -> None:
        """Record that a queue was added, changed or removed."""
        if self.is_read:
            about = Subject(_QUEUE, queue.name)
            self.write(about, change, detail, message, resource=resource)

    def write(
        self,
        about: "Subject",
        change: ChangeType,
        detail: ChangeDetail,
        message: str,
        *,
        reference_id: str = "",
        resource: Resource | None = None,
    ) -> None:
        """Write one record about ``about``, if the RM's revision has it."""
        if detail not in self._details:
            return
        self._records.append(
            partial(
                EventRecord,
                type=about.type,
                object_id=about.object_id,
                change=change,
                detail=detail,
                message=message,
                reference_id=reference_id,
                group_id=about.group_id,
                resource=resource,
            )
        )


class Subject(NamedTuple):
    """The object of a record."""

    type: RecordType
    object_id: str
    group_id: str = ""
