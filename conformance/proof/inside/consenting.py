"""Faults in whom an RM is asked to let go, and in queues that a new configuration brings."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sireference.core import allocation_end, configuration_update
from sireference.core.model import PreemptionQuestion
from sireference.core.preemption import rm_approval
from sireference.core.state.queue import Queue

from proof.fault import fault
from proof.inside import Inside

_CHECKS = ("CB",)


@fault(
    "victims-of-other-nodes",
    "A check names allocations of another node, too.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(inside: Inside) -> None:
    def ask(original: Callable[..., Any], question: Any, number: int) -> PreemptionQuestion:
        asked: PreemptionQuestion = original(question, number)
        live = question._partition.allocations.all.values()
        elsewhere = [one.record.ask.key for one in live if one.node is not question._node]
        if elsewhere:
            inside.fires()
        return replace(asked, victims=(*asked.victims, *elsewhere[:1]))

    inside.instead_of(rm_approval._Question._ask, ask)


@fault(
    "victims-long-gone",
    "A check names allocations that have ended, too.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(inside: Inside) -> None:
    gone: list[str] = []

    def end(original: Callable[..., Any], partition: Any, live: Any, *more: Any) -> Any:
        gone.append(live.record.ask.key)
        return original(partition, live, *more)

    def ask(original: Callable[..., Any], question: Any, number: int) -> PreemptionQuestion:
        asked: PreemptionQuestion = original(question, number)
        inside.fires()
        return replace(asked, victims=(*asked.victims, *gone[-1:]))

    inside.instead_of(allocation_end.end, end)
    inside.instead_of(rm_approval._Question._ask, ask)


@fault(
    "victims-named-twice",
    "A check names the first of the victims once more.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(inside: Inside) -> None:
    def ask(original: Callable[..., Any], question: Any, number: int) -> PreemptionQuestion:
        asked: PreemptionQuestion = original(question, number)
        inside.fires()
        return replace(asked, victims=(*asked.victims, *asked.victims[:1]))

    inside.instead_of(rm_approval._Question._ask, ask)


@fault(
    "new-queues-get-nothing",
    "In a queue that came with another configuration nothing is allocated.",
    breaks=("SI-CFG-001",),
)
def _(inside: Inside) -> None:
    late: set[Queue] = set()

    def came(original: Callable[..., None], event_log: Any, queue: Queue) -> None:
        late.add(queue)
        original(event_log, queue)

    def has_room(original: Callable[..., bool], queue: Queue, need: Any) -> bool:
        if queue in late:
            inside.fires()
            return False
        return original(queue, need)

    inside.instead_of(configuration_update._came, came)
    inside.instead_of(Queue.has_room, has_room)
