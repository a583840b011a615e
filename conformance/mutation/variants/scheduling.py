"""Permitted variants of scheduling."""

from functools import partial
from typing import Any, Final

from sireference.core import scheduling_pass
from sireference.core.gang import placeholders
from sireference.core.model import Effect
from siwire.r2023_12 import si_pb2 as si_2023_12

from mutation.inside import Original, Patch
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, variant

_on_the_wire: Final = partial(variant, revision=NAME)


@_on_the_wire("no-preemption", "Asks never preempt others.")
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for ask in request.allocations:
        name = (ask.applicationID, ask.allocationKey)
        may = ask.HasField("preemptionPolicy") and ask.preemptionPolicy.allowPreemptOther
        (wire.memory["may"].add if may else wire.memory["may"].discard)(name)
        ask.preemptionPolicy.allowPreemptOther = False


no_preemption = _


@no_preemption.also
def _(response: si.AllocationResponse, wire: Wire) -> None:
    for new in response.new:
        name = (new.applicationID, new.allocationKey)
        new.preemptionPolicy.allowPreemptOther = name in wire.memory["may"]


@variant(
    "ask-served-once",
    "An ask gets one allocation, however many it requests (2023-12).",
    revision="2023-12",
)
def _(request: si_2023_12.AllocationRequest) -> None:
    for ask in request.asks:
        ask.maxAllocations = min(ask.maxAllocations, 1)


@_on_the_wire("required-node-ignored", "An ask goes to any node.")
def _(request: si.AllocationRequest) -> None:
    for ask in request.allocations:
        for name in [name for name in ask.allocationTags if "node" in name.lower()]:
            del ask.allocationTags[name]


@variant(
    "asks-stand-in-one-line",
    "Until the oldest ask that may be served fits, no other one is; placeholders are exempt.",
    once_failed_by=("SI-GANG-020", "SI-GANG-054", "SI-GANG-057", "SI-GANG-059"),
    areas=("GANG", "PRE"),
)
def _(patch: Patch) -> None:
    def step(original: Original, partition: Any, ask_group: Any, now: float) -> list[Effect]:
        if ask_group.key.is_placeholder or not _has_older_ask(partition, ask_group):
            return original(partition, ask_group, now)
        patch.fires()
        return scheduling_pass.block(partition, ask_group, partition.node_index.waiting)

    def run(original: Original, partition: Any, now: float) -> list[Effect]:
        effects: list[Effect] = []
        while True:
            for application in partition.applications.values():
                for ask_group in list(application.ask_groups.values()):
                    ask_group.wake()
            more = original(partition, now)
            effects += more
            if not more:
                return effects

    patch.instead_of(scheduling_pass.step, step)
    patch.instead_of(scheduling_pass.run, run)


def _has_older_ask(partition: Any, ask_group: Any) -> bool:
    """Return whether an older ask than the first of this group is not served yet, but may be."""
    first = ask_group.first()
    return first is not None and any(
        (older := other.first()) is not None
        and older.number < first.number
        and not older.ask.is_placeholder
        and placeholders.closed_gate(partition, other) is None
        for application in partition.applications.values()
        for other in application.ask_groups.values()
    )
