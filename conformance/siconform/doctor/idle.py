"""Schedulers that schedule nothing, to check that the kit does not pass them.

Run as ``python -m siconform.doctor.idle KIND REVISION``; it picks a port and prints it.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from enum import Enum
from typing import Any

import grpc
from siwire import Capability, Revision, find_revision, rpc


class Idle(Enum):
    """Behaviour of such a scheduler once it has accepted the registration."""

    SILENT = "silent"  # sends nothing
    REJECTING = "rejecting"  # rejects every node, application and ask
    ACCEPTING = "accepting"  # accepts every node and application
    ENDING = "ending"  # ends every stream
    GRANTING = "granting"  # accepts everything, allocates every ask on the newest node, at once


def main(arguments: list[str]) -> None:
    """Serve until the process is ended."""
    kind, revision = Idle(arguments[0]), find_revision(arguments[1])
    asyncio.run(_serve(kind, revision))


async def _serve(kind: Idle, revision: Revision) -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (rpc.scheduler_handlers(revision, _behaviours(kind, revision)),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"listening on 127.0.0.1:{port}", flush=True)  # noqa: T201  # how the kit finds it
    await server.wait_for_termination()


def _behaviours(kind: Idle, revision: Revision) -> dict[str, Callable[..., Any]]:
    si: Any = revision.si
    if not revision.can(Capability.THREE_UPDATE_STREAMS):
        raise LookupError(f"an idle scheduler does not implement {revision}")

    async def registers(_request: Any, _context: Any) -> Any:
        return si.RegisterResourceManagerResponse()

    answers = _Answers(kind, si, are_asks_apart=revision.can(Capability.ASKS_APART))

    def stream(answer: Callable[[Any], Iterable[Any]]) -> Callable[..., AsyncIterator[Any]]:
        async def conversation(requests: AsyncIterator[Any], _context: Any) -> AsyncIterator[Any]:
            async for request in requests:
                if kind is Idle.ENDING:
                    return
                if kind is not Idle.SILENT:
                    for response in answer(request):
                        yield response

        return conversation

    return {
        "RegisterResourceManager": registers,
        "UpdateNode": stream(answers.to_nodes),
        "UpdateApplication": stream(answers.to_applications),
        "UpdateAllocation": stream(answers.to_allocations),
    }


class _Answers:
    """One response for each element that gets any."""

    def __init__(self, kind: Idle, si: Any, *, are_asks_apart: bool) -> None:
        self._kind = kind
        self._si = si
        self._are_asks_apart = are_asks_apart
        self._node = ""
        self._number = 0

    def to_nodes(self, request: Any) -> Iterable[Any]:
        for node in request.nodes:
            if self._kind is Idle.REJECTING:
                yield self._si.NodeResponse(rejected=[{"nodeID": node.nodeID, "reason": "no"}])
            else:
                self._node = node.nodeID
                yield self._si.NodeResponse(accepted=[{"nodeID": node.nodeID}])

    def to_applications(self, request: Any) -> Iterable[Any]:
        for application in request.new:
            named = {"applicationID": application.applicationID}
            if self._kind is Idle.REJECTING:
                rejected = [{**named, "reason": "no"}]
                yield self._si.ApplicationResponse(rejected=rejected)
            else:
                yield self._si.ApplicationResponse(accepted=[named])

    def to_allocations(self, request: Any) -> Iterable[Any]:
        for ask in request.asks if self._are_asks_apart else self._asked(request):
            if self._kind is Idle.REJECTING:
                yield self._rejected(ask)
            elif self._kind is Idle.GRANTING:
                yield self._si.AllocationResponse(new=[self._granted(ask)])
        if self._kind is Idle.GRANTING:
            for release in request.releases.allocationsToRelease:
                yield self._si.AllocationResponse(released=[release])

    def _asked(self, request: Any) -> Iterable[Any]:
        return (one for one in request.allocations if not one.nodeID)

    def _rejected(self, ask: Any) -> Any:
        named = {"allocationKey": ask.allocationKey, "applicationID": ask.applicationID}
        among = "rejected" if self._are_asks_apart else "rejectedAllocations"
        return self._si.AllocationResponse(**{among: [{**named, "reason": "no"}]})

    def _granted(self, ask: Any) -> Any:
        if not self._are_asks_apart:
            granted = self._si.Allocation.FromString(ask.SerializeToString())
            granted.nodeID = self._node
            return granted
        self._number += 1
        allocation = self._si.Allocation(
            allocationKey=ask.allocationKey,
            applicationID=ask.applicationID,
            partitionName=ask.partitionName,
            nodeID=self._node,
            resourcePerAlloc=ask.resourceAsk,
        )
        by_id = "allocationID" in allocation.DESCRIPTOR.fields_by_name
        setattr(allocation, "allocationID" if by_id else "UUID", f"grant-{self._number}")
        return allocation


if __name__ == "__main__":
    main(sys.argv[1:])
