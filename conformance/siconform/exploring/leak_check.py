"""Leak check: when everything has ended, all capacity can be allocated again."""

from typing import Final, TypeVar

from siconform.exploring.model_state import ModelState
from siconform.exploring.model_state_by_key import ModelStateByKey
from siconform.outcomes import CameLate, ConformanceFailure
from siconform.protocol.handles import Node
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    Fact,
    NodeAccepted,
    Released,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE
from siconform.rm.steps.preemption import ENTITLED_QUEUE, TAKING_QUEUE

REQUIREMENTS: Final = ("SI-ALLOC-010", "SI-APP-018", "SI-REL-001")
"""The capacity of an ended allocation becomes available, however it ended."""

_LIMITED: Final = {QUOTA_QUEUE: 10, TAKING_QUEUE: 10, ENTITLED_QUEUE: 10}
"""The memory limits of queues."""

F = TypeVar("F", bound=Fact)


class Missing(ConformanceFailure):
    """A message expected after everything ended is missing; ``pattern`` describes it."""

    def __init__(self, pattern: Fact, message: str, failure: ConformanceFailure) -> None:
        super().__init__(message, expected=failure.expected, happened=failure.happened)
        self.pattern = pattern


def ends_everything(has: ModelState) -> None:
    """Release every other allocation, end the rest with its application, and drain all nodes."""
    has.rm.confirms_everything()
    for allocation in has.allocations()[::2]:
        has.rm.releases(allocation)
    if isinstance(has, ModelStateByKey):
        for foreign in has.foreign:
            has.rm.releases_foreign(foreign)
        for allocation in has.reported:  # of an unknown application: it may count all the same
            if allocation.application not in has.applications:
                has.rm.releases(allocation)
    for application in has.applications:
        has.rm.removes_application(application)
    for node in has.nodes:
        if node not in has.draining:
            has.rm.drains(node)
    has.rm.synchronise_all()


def fills_again(has: ModelState, timeout: float) -> float:
    """Fill each node and each limited queue with one ask; raise Missing if one is not allocated.

    Everything must have ended and every node be draining. ``timeout`` is for one allocation.
    Returns the seconds that the slowest one took.
    """
    longest = 0.0
    rm = has.rm
    application = rm.submits_application()
    expects(rm, ApplicationAccepted(application), "an application is not accepted")
    for node in has.nodes:
        rm.undrains(node)
        ask = rm.asks(application, resources=node.capacity)
        message = f"an emptied node of {_amounts(node)} cannot be filled again"
        begun = rm.now()
        filled = expects(rm, Allocated(ask, node=node), message, timeout)
        longest = max(longest, rm.now() - begun)
        rm.releases(filled)
        expects(rm, Released(identity=filled.identity), "a release is not confirmed")
        rm.drains(node)
    for queue in sorted({application.queue for application in has.applications} & set(_LIMITED)):
        _fills_queue(rm, queue, timeout)
    return longest


def _fills_queue(rm: ResourceManager, queue: str, timeout: float) -> None:
    node = rm.registers_node(memory=_LIMITED[queue])
    expects(rm, NodeAccepted(node), "a node is not accepted")
    application = rm.submits_application(queue=queue)
    expects(rm, ApplicationAccepted(application), f"an application in {queue} is not accepted")
    ask = rm.asks(application, memory=_LIMITED[queue])
    message = f"the emptied queue {queue} cannot be filled again"
    filled = expects(rm, Allocated(ask, node=node), message, timeout)
    rm.releases(filled)
    expects(rm, Released(identity=filled.identity), "a release is not confirmed")
    rm.removes_application(application)
    rm.drains(node)


def expects(rm: ResourceManager, pattern: F, message: str, timeout: float | None = None) -> F:
    """Return the received fact; raise Missing with this message if it does not arrive in time."""
    try:
        return rm.expect(pattern, timeout=timeout)
    except CameLate:
        raise
    except ConformanceFailure as failure:
        raise Missing(pattern, message, failure) from failure


def _amounts(node: Node) -> str:
    return " ".join(f"{name} {amount}" for name, amount in sorted(node.capacity.items()))
