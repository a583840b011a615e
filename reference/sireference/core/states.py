"""State machines as tables, and the one function that applies a transition."""

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeVar

State = TypeVar("State", bound=Enum)
Trigger = TypeVar("Trigger", bound=Enum)

Table = Mapping[State, Mapping[Trigger, State]]


class Symbol(Enum):
    """A state or a trigger, hashed by identity for fast lookup."""

    __hash__ = object.__hash__  # Enum's is written in Python, which slows down every table


class NotAllowedError(Exception):
    """The trigger is not allowed in this state; the state is unchanged."""

    def __init__(self, state: Enum, trigger: Enum) -> None:
        super().__init__(f"{trigger.name} is not possible in state {state.value}")
        self.state = state
        self.trigger = trigger


def allows(table: Table[State, Trigger], state: State, trigger: Trigger) -> bool:
    """Return whether ``trigger`` leads anywhere from ``state``."""
    return trigger in table[state]


def fire(table: Table[State, Trigger], state: State, trigger: Trigger) -> State:
    """Return the state after ``trigger``. Raises NotAllowedError if the table has no such edge."""
    try:
        return table[state][trigger]
    except KeyError:
        raise NotAllowedError(state, trigger) from None


class RMState(Symbol):
    """State of a resource manager in the scheduler."""

    INIT = "init"
    RUNNING = "Running"
    PAUSED = "Paused"
    STOPPED = "Stopped"


class RMTrigger(Symbol):
    """Trigger of a resource manager transition."""

    REGISTERED = "registered"
    CONNECTION_LOST = "connection lost"
    CONNECTION_LOSS_TIMEOUT = "reconnection timed out"
    SHUT_DOWN = "shut down voluntarily"


RM_TRANSITIONS: Final[Table[RMState, RMTrigger]] = {
    RMState.INIT: {RMTrigger.REGISTERED: RMState.RUNNING},
    RMState.RUNNING: {
        RMTrigger.CONNECTION_LOST: RMState.PAUSED,
        RMTrigger.SHUT_DOWN: RMState.STOPPED,
    },
    RMState.PAUSED: {RMTrigger.CONNECTION_LOSS_TIMEOUT: RMState.STOPPED},
    RMState.STOPPED: {},
}
"""Source: the RM life cycle drawn in every revision ("Communications between RM and Scheduler").

Registering again, in any state, starts a new life at init (no edge leads back; C-23).
"""


class NodeState(Symbol):
    """State of a node."""

    UNKNOWN = "unknown"
    SCHEDULABLE = "SCHEDULABLE"
    DRAINING = "DRAINING"
    REMOVED = "REMOVED"


class NodeAction(Symbol):
    """Node action requested by the RM."""

    UNSET = "unset"
    CREATE = "create"
    CREATE_DRAIN = "create draining"
    UPDATE = "update"
    DRAIN_NODE = "drain"
    DRAIN_TO_SCHEDULABLE = "back to schedulable"
    DECOMMISSION = "decommission"


NODE_TRANSITIONS: Final[Table[NodeState, NodeAction]] = {
    NodeState.UNKNOWN: {
        NodeAction.CREATE: NodeState.SCHEDULABLE,
        NodeAction.CREATE_DRAIN: NodeState.DRAINING,
    },
    NodeState.SCHEDULABLE: {
        NodeAction.UPDATE: NodeState.SCHEDULABLE,
        NodeAction.DRAIN_NODE: NodeState.DRAINING,
        NodeAction.DECOMMISSION: NodeState.REMOVED,  # not drawn, but unconditional (C-08)
    },
    NodeState.DRAINING: {
        NodeAction.UPDATE: NodeState.DRAINING,
        NodeAction.DRAIN_NODE: NodeState.DRAINING,
        NodeAction.DRAIN_TO_SCHEDULABLE: NodeState.SCHEDULABLE,
        NodeAction.DECOMMISSION: NodeState.REMOVED,
    },
    NodeState.REMOVED: {},
}
"""Source: the node diagram and the comments of ActionFromRM, all revisions.

A removed node is forgotten; its id starts at unknown again.
"""


class AskState(Symbol):
    """State of an ask."""

    INITIAL = "Initial"
    PENDING = "Pending"
    ALLOCATED = "Allocated"
    REJECTED = "Rejected"
    EXPIRED = "Expired"


class AskTrigger(Symbol):
    """Trigger of an ask transition."""

    ASKED = "asked by the RM"
    REFUSED = "rejected by the scheduler"
    WITHDRAWN = "withdrawn by the RM"
    TIMED_OUT = "its time was up"
    ALL_ALLOCATED = "all allocations made"


ASK_TRANSITIONS: Final[Table[AskState, AskTrigger]] = {
    AskState.INITIAL: {
        AskTrigger.ASKED: AskState.PENDING,
        AskTrigger.REFUSED: AskState.REJECTED,
    },
    AskState.PENDING: {
        AskTrigger.ALL_ALLOCATED: AskState.ALLOCATED,
        AskTrigger.WITHDRAWN: AskState.REJECTED,
        AskTrigger.TIMED_OUT: AskState.EXPIRED,
    },
    AskState.ALLOCATED: {},
    AskState.REJECTED: {},
    AskState.EXPIRED: {},
}
"""Source: the life cycle of AllocationAsk up to 2023-12, later that of Allocation.

From 2024-10 on it is the part of that of
Allocation up to Allocated. The timeout of a pending ask (not drawn) is in the gang scheduling
design, with the same name as for allocations.
"""


class AllocationState(Symbol):
    """State of an allocation."""

    ALLOCATED = "Allocated"
    COMPLETED = "Completed"
    PREEMPTED = "Preempted"
    EXPIRED = "Expired"
    REPLACED = "Replaced"


class TerminationType(Symbol):
    """Why an allocation or ask is released."""

    UNSET = "not set"
    STOPPED_BY_RM = "stopped by the RM"
    TIMEOUT = "timed out"
    PREEMPTED_BY_SCHEDULER = "preempted by the scheduler"
    PLACEHOLDER_REPLACED = "placeholder replaced"
    UNRECOGNISED = "unknown type"


ALLOCATION_TRANSITIONS: Final[Table[AllocationState, TerminationType]] = {
    AllocationState.ALLOCATED: {
        TerminationType.STOPPED_BY_RM: AllocationState.COMPLETED,
        TerminationType.PREEMPTED_BY_SCHEDULER: AllocationState.PREEMPTED,
        TerminationType.TIMEOUT: AllocationState.EXPIRED,
        TerminationType.PLACEHOLDER_REPLACED: AllocationState.REPLACED,
    },
    AllocationState.COMPLETED: {},
    AllocationState.PREEMPTED: {},
    AllocationState.EXPIRED: {},
    AllocationState.REPLACED: {},
}
"""Source: the life cycle of allocations, all revisions; Replaced, the fourth final state (not
drawn), is from the gang scheduling design.
"""


class ApplicationState(Symbol):
    """State of an application; the values are those of UpdatedApplication.state."""

    NEW = "New"
    ACCEPTED = "Accepted"
    STARTING = "Starting"
    RUNNING = "Running"
    RESUMING = "Resuming"
    COMPLETING = "Completing"
    COMPLETED = "Completed"
    FAILING = "Failing"
    FAILED = "Failed"
    EXPIRED = "Expired"


class ApplicationTrigger(Symbol):
    """Trigger of an application transition."""

    RUN = "run"
    COMPLETE = "complete"
    RESUME = "resume"
    FAIL = "fail"
    EXPIRE = "expire"


_RUN, _COMPLETE = ApplicationTrigger.RUN, ApplicationTrigger.COMPLETE
_RESUME, _FAIL = ApplicationTrigger.RESUME, ApplicationTrigger.FAIL
_EXPIRE: Final = ApplicationTrigger.EXPIRE

APPLICATION_TRANSITIONS: Final[Table[ApplicationState, ApplicationTrigger]] = {
    ApplicationState.NEW: {
        _RUN: ApplicationState.ACCEPTED,
        _RESUME: ApplicationState.RESUMING,
        _FAIL: ApplicationState.FAILING,
    },
    ApplicationState.ACCEPTED: {
        _RUN: ApplicationState.STARTING,
        _COMPLETE: ApplicationState.COMPLETING,
        _RESUME: ApplicationState.RESUMING,
        _FAIL: ApplicationState.FAILING,
    },
    ApplicationState.STARTING: {
        _RUN: ApplicationState.RUNNING,
        _COMPLETE: ApplicationState.COMPLETING,
        _FAIL: ApplicationState.FAILING,
    },
    ApplicationState.RUNNING: {
        _COMPLETE: ApplicationState.COMPLETING,
        _FAIL: ApplicationState.FAILING,
    },
    ApplicationState.RESUMING: {_RUN: ApplicationState.ACCEPTED},
    ApplicationState.COMPLETING: {
        _RUN: ApplicationState.RUNNING,
        _COMPLETE: ApplicationState.COMPLETED,
    },
    ApplicationState.COMPLETED: {_EXPIRE: ApplicationState.EXPIRED},
    ApplicationState.FAILING: {_FAIL: ApplicationState.FAILED},
    ApplicationState.FAILED: {_EXPIRE: ApplicationState.EXPIRED},
    ApplicationState.EXPIRED: {},
}
"""Source: the gang scheduling design (New, Accepted, running, waiting, completed, killed), named as
the ChangeDetail values of 2023-08 and 2023-12 name them; edges as in yunikorn-core 1.5."""

WITHOUT_STARTING: Final[Table[ApplicationState, ApplicationTrigger]] = {
    **{
        state: edges
        for state, edges in APPLICATION_TRANSITIONS.items()
        if state is not ApplicationState.STARTING
    },
    ApplicationState.ACCEPTED: {
        **APPLICATION_TRANSITIONS[ApplicationState.ACCEPTED],
        _RUN: ApplicationState.RUNNING,
    },
}
"""The same without Starting: the first allocation makes an application run. Source: the
ChangeDetail values of 2024-10 and 2026-04, which have no Starting; edges as in yunikorn-core 1.6
and later."""
