"""State machines as tables, and the one function that applies a transition."""

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeVar

State = TypeVar("State", bound=Enum)
Trigger = TypeVar("Trigger", bound=Enum)

Table = Mapping[State, Mapping[Trigger, State]]


class NotAllowedError(Exception):
    """The trigger is not allowed in this state; the state is unchanged."""

    def __init__(self, state: Enum, trigger: Enum) -> None:
        super().__init__(f"{trigger.value} is not possible in state {state.value}")


def fire(table: Table[State, Trigger], state: State, trigger: Trigger) -> State:
    """Return the state after ``trigger``. Raises NotAllowedError if the table has no such edge."""
    try:
        return table[state][trigger]
    except KeyError:
        raise NotAllowedError(state, trigger) from None


class ConnectionState(Enum):
    """State of the RM's registration."""

    UNREGISTERED = "unregistered"
    REGISTERING = "registering"
    REGISTERED = "registered"
    GIVEN_UP = "given up"


class ConnectionTrigger(Enum):
    """Trigger of a connection transition."""

    REGISTER = "register"
    REGISTERED = "registered"
    LOST = "lost"
    GIVE_UP = "give up"


CONNECTION: Final[Table[ConnectionState, ConnectionTrigger]] = {
    ConnectionState.UNREGISTERED: {
        ConnectionTrigger.REGISTER: ConnectionState.REGISTERING,
        ConnectionTrigger.GIVE_UP: ConnectionState.GIVEN_UP,
    },
    ConnectionState.REGISTERING: {
        ConnectionTrigger.REGISTERED: ConnectionState.REGISTERED,
        ConnectionTrigger.LOST: ConnectionState.UNREGISTERED,
    },
    ConnectionState.REGISTERED: {ConnectionTrigger.LOST: ConnectionState.UNREGISTERED},
    ConnectionState.GIVEN_UP: {},
}


class ContainerState(Enum):
    """State of a container in its cluster."""

    WAITING = "waiting"  # not placed yet
    RUNNING = "running"
    STOPPING = "stopping"
    OVER = "over"


class ContainerTrigger(Enum):
    """Trigger of a container transition."""

    ALLOCATED = "allocated"
    GIVEN_UP = "given up"
    STOP = "stop"
    GONE = "gone"


CONTAINER: Final[Table[ContainerState, ContainerTrigger]] = {
    ContainerState.WAITING: {
        ContainerTrigger.ALLOCATED: ContainerState.RUNNING,
        ContainerTrigger.GIVEN_UP: ContainerState.OVER,
    },
    ContainerState.RUNNING: {
        ContainerTrigger.STOP: ContainerState.STOPPING,
        ContainerTrigger.GONE: ContainerState.OVER,
    },
    ContainerState.STOPPING: {ContainerTrigger.GONE: ContainerState.OVER},
    ContainerState.OVER: {},
}


class ApplicationState(Enum):
    """State of an application in its cluster."""

    LIVE = "live"
    ENDING = "ending"  # its containers are being stopped
    OVER = "over"


class ApplicationTrigger(Enum):
    """Trigger of an application transition."""

    END = "end"
    ENDED = "ended"


APPLICATION: Final[Table[ApplicationState, ApplicationTrigger]] = {
    ApplicationState.LIVE: {
        ApplicationTrigger.END: ApplicationState.ENDING,
        ApplicationTrigger.ENDED: ApplicationState.OVER,
    },
    ApplicationState.ENDING: {ApplicationTrigger.ENDED: ApplicationState.OVER},
    ApplicationState.OVER: {},
}


class Verdict(Enum):
    """What the scheduler has answered to a node or an application of this registration."""

    AWAITED = "awaited"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
