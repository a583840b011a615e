"""Mutants of preemption checks, and of queues that a new configuration adds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sireference.core import allocation_end, configuration_update, proposals
from sireference.core.model import Effect, PreemptionQuestion
from sireference.core.state.queue import Queue

from mutation.inside import Patch
from mutation.mutant import mutant

_CHECKS = ("CB",)
Keys = Sequence[str]


def _names_more(patch: Patch, more: Callable[[Any, Any, Keys], Keys]) -> None:
    """Add these allocations to the victims of a preemption check."""

    def question(
        original: Callable[..., Effect], partition: Any, proposal: Any, number: int
    ) -> Effect:
        asked = original(partition, proposal, number)
        if not isinstance(asked, PreemptionQuestion):
            return asked
        others = more(partition, proposal, asked.victims)
        if others:
            patch.fires()
        return replace(asked, victims=(*asked.victims, *others))

    patch.instead_of(proposals.question, question)


@mutant(
    "victims-of-other-nodes",
    "A check also names allocations of another node.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(patch: Patch) -> None:
    def more(partition: Any, proposal: Any, _victims: Keys) -> Keys:
        live = partition.allocations.all.values()
        elsewhere = [one.record.ask.key for one in live if one.node is not proposal.node]
        return elsewhere[:1]

    _names_more(patch, more)


@mutant(
    "victims-long-gone",
    "A check also names allocations that have ended.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(patch: Patch) -> None:
    gone: list[str] = []

    def end(original: Callable[..., Any], partition: Any, live: Any, *more: Any) -> Any:
        gone.append(live.record.ask.key)
        return original(partition, live, *more)

    patch.instead_of(allocation_end.end, end)
    _names_more(patch, lambda *_: gone[-1:])


@mutant(
    "victims-named-twice",
    "A check names the first of the victims twice.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(patch: Patch) -> None:
    _names_more(patch, lambda _partition, _proposal, victims: victims[:1])


@mutant(
    "new-queues-get-nothing",
    "In a queue added by a new configuration nothing is allocated.",
    breaks=("SI-CFG-001",),
)
def _(patch: Patch) -> None:
    late: set[Queue] = set()

    def came(original: Callable[..., None], event_log: Any, queue: Queue) -> None:
        late.add(queue)
        original(event_log, queue)

    def has_capacity(original: Callable[..., bool], queue: Queue, need: Any) -> bool:
        if queue in late:
            patch.fires()
            return False
        return original(queue, need)

    patch.instead_of(configuration_update.report_created, came)
    patch.instead_of(Queue.has_capacity, has_capacity)
