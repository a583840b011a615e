"""Nothing gets lost: when everything has ended, all there was to give away can be given again."""

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
"""The room of what has ended, whichever way it ended, becomes available."""

_LIMITED: Final = {QUOTA_QUEUE: 10, TAKING_QUEUE: 10, ENTITLED_QUEUE: 10}
"""How much memory a queue takes when nothing is in it."""

F = TypeVar("F", bound=Fact)


class Missing(ConformanceFailure):
    """What should have been told when everything had ended; ``pattern`` is what was expected."""

    def __init__(self, pattern: Fact, message: str, failure: ConformanceFailure) -> None:
        super().__init__(message, expected=failure.expected, happened=failure.happened)
        self.pattern = pattern


def ends_everything(has: ModelState) -> None:
    """Every other allocation is released by itself; the rest ends with its application."""
    has.rm.confirms_everything()
    for allocation in has.allocations()[::2]:
        has.rm.releases(allocation)
    if isinstance(has, ModelStateByKey):
        for foreign in has.foreign:
            has.rm.releases_foreign(foreign)
    for application in has.applications:
        has.rm.removes_application(application)
    for node in has.nodes:
        if node not in has.draining:
            has.rm.drains(node)
    has.rm.synchronise_all()


def fills_again(has: ModelState, timeout: float) -> float:
    """One ask takes all of a node, one node after the other, and one all of a queue; or Missing.

    Whatever was there has ended, and every node is draining. ``timeout`` is for one allocation;
    returned is how long the slowest took, in seconds.
    """
    longest = 0.0
    rm = has.rm
    application = rm.submits_application()
    expects(rm, ApplicationAccepted(application), "no application is accepted any more")
    for node in has.nodes:
        rm.undrains(node)
        ask = rm.asks(application, resources=node.capacity)
        message = f"a node of {_amounts(node)} on which everything ended is not filled again"
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
    expects(rm, NodeAccepted(node), "no node is accepted any more")
    application = rm.submits_application(queue=queue)
    expects(rm, ApplicationAccepted(application), f"no application is accepted in {queue}")
    ask = rm.asks(application, memory=_LIMITED[queue])
    message = f"the queue {queue}, in which everything ended, is not filled again"
    filled = expects(rm, Allocated(ask, node=node), message, timeout)
    rm.releases(filled)
    expects(rm, Released(identity=filled.identity), "a release is not confirmed")
    rm.removes_application(application)
    rm.drains(node)


def expects(rm: ResourceManager, pattern: F, message: str, timeout: float | None = None) -> F:
    """What is told; Missing with this sentence where it is not told in time."""
    try:
        return rm.expect(pattern, timeout=timeout)
    except CameLate:
        raise
    except ConformanceFailure as failure:
        raise Missing(pattern, message, failure) from failure


def _amounts(node: Node) -> str:
    return " ".join(f"{name} {amount}" for name, amount in sorted(node.capacity.items()))
