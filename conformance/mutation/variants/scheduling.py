"""Permitted variants of scheduling."""

from functools import partial
from typing import Final

from siwire.r2023_12 import si_pb2 as si_2023_12

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
