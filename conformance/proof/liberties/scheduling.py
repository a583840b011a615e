"""Liberties in what is scheduled, and how."""

from siwire.r2023_12 import si_pb2 as si

from proof.fault import liberty


@liberty("nobody-preempts", "No ask may preempt others.")
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.preemptionPolicy.allowPreemptOther = False


@liberty("ask-served-once", "An ask yields one allocation, however many it wants.")
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.maxAllocations = min(ask.maxAllocations, 1)


@liberty("required-node-ignored", "An ask goes to any node.")
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.tags.pop("si.io/required-node", None)
        for name in [name for name in ask.tags if "node" in name.lower()]:
            del ask.tags[name]
