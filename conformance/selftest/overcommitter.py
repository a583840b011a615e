"""A scheduler that allocates every ask on the newest node, ignoring capacity."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import grpc
from siwire import DEFAULT_REVISION, find_revision, rpc


async def _serve() -> None:
    server = grpc.aio.server()
    revision = find_revision(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_REVISION
    behaviours = _behaviours(revision.si)
    server.add_generic_rpc_handlers((rpc.scheduler_handlers(revision, behaviours),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"listening on 127.0.0.1:{port}", flush=True)  # noqa: T201  # how the kit finds it
    await server.wait_for_termination()


def _behaviours(si: Any) -> dict[str, Callable[..., Any]]:
    scheduler = _Overcommitting(si)

    async def registers(_request: Any, _context: Any) -> Any:
        return si.RegisterResourceManagerResponse()

    def stream(answer: Callable[[Any], Iterable[Any]]) -> Callable[..., AsyncIterator[Any]]:
        async def conversation(requests: AsyncIterator[Any], _context: Any) -> AsyncIterator[Any]:
            async for request in requests:
                for response in answer(request):
                    yield response

        return conversation

    return {
        "RegisterResourceManager": registers,
        "UpdateNode": stream(scheduler.to_nodes),
        "UpdateApplication": stream(scheduler.to_applications),
        "UpdateAllocation": stream(scheduler.to_allocations),
    }


class _Overcommitting:
    """Tracks nodes and applications, but no capacity."""

    def __init__(self, si: Any) -> None:
        self._si = si
        self._asks_apart = hasattr(si, "AllocationAsk")
        self._number = 0
        self._known: set[str] = set()
        self._usable: list[str] = []
        self._applications: set[str] = set()

    def to_nodes(self, request: Any) -> Iterable[Any]:
        action = self._si.NodeInfo.ActionFromRM
        for node in request.nodes:
            name, wanted = node.nodeID, action.Name(node.action)
            is_new = name not in self._known
            if wanted.startswith("CREATE") and not is_new:
                yield self._si.NodeResponse(rejected=[{"nodeID": name, "reason": "known"}])
            elif wanted.startswith("CREATE"):
                self._known.add(name)
                yield self._si.NodeResponse(accepted=[{"nodeID": name}])
            if (wanted == "CREATE" and is_new) or wanted == "DRAIN_TO_SCHEDULABLE":
                self._usable.append(name)
            elif wanted in ("DRAIN_NODE", "DECOMISSION") and name in self._usable:
                self._usable.remove(name)
            if wanted == "DECOMISSION":
                self._known.discard(name)

    def to_applications(self, request: Any) -> Iterable[Any]:
        for application in request.new:
            named = {"applicationID": application.applicationID}
            if application.applicationID in self._applications:
                rejected = [{**named, "reason": "known"}]
                yield self._si.ApplicationResponse(rejected=rejected)
            else:
                self._applications.add(application.applicationID)
                yield self._si.ApplicationResponse(accepted=[named])
        for application in request.remove:
            self._applications.discard(application.applicationID)

    def to_allocations(self, request: Any) -> Iterable[Any]:
        for ask in request.asks if self._asks_apart else _requests(request.allocations):
            named = {"allocationKey": ask.allocationKey, "applicationID": ask.applicationID}
            if ask.applicationID not in self._applications:
                rejected = [{**named, "reason": "unknown application"}]
                field = "rejected" if self._asks_apart else "rejectedAllocations"
                yield self._si.AllocationResponse(**{field: rejected})
            elif self._usable:
                yield self._si.AllocationResponse(new=[self._granted(ask)])
        for release in request.releases.allocationsToRelease:
            yield self._si.AllocationResponse(released=[release])

    def _granted(self, ask: Any) -> Any:
        self._number += 1
        identity = {"allocationID": f"scheduler-{self._number}"} if self._asks_apart else {}
        return self._si.Allocation(
            **identity,
            allocationKey=ask.allocationKey,
            applicationID=ask.applicationID,
            partitionName=ask.partitionName,
            nodeID=self._usable[-1],
            resourcePerAlloc=ask.resourceAsk if self._asks_apart else ask.resourcePerAlloc,
            taskGroupName=ask.taskGroupName,
            placeholder=ask.placeholder,
        )


def _requests(allocations: Iterable[Any]) -> Iterable[Any]:
    return (one for one in allocations if not one.nodeID)


if __name__ == "__main__":
    asyncio.run(_serve())
