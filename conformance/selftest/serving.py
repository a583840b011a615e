"""gRPC servers with behaviour defined by a test."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from siwire import DEFAULT_REVISION, Revision, rpc

_STOPPED_WITHIN = 5.0  # seconds


@contextmanager
def served(
    prepare: Callable[[grpc.Server], None],
    workers: int = 4,
    interceptors: Sequence[grpc.ServerInterceptor] = (),
) -> Iterator[str]:
    """Yield the address of a server prepared by the function, until the block ends."""
    server = grpc.server(ThreadPoolExecutor(max_workers=workers), interceptors=list(interceptors))
    prepare(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait(_STOPPED_WITHIN)


@contextmanager
def scheduler(
    behaviours: Mapping[str, Callable[..., Any]],
    revision: Revision = DEFAULT_REVISION,
    workers: int = 4,
    interceptors: Sequence[grpc.ServerInterceptor] = (),
) -> Iterator[str]:
    """Yield the address of a scheduler that serves these methods of the SI."""
    handlers = rpc.scheduler_handlers(revision, behaviours)
    with served(
        lambda server: server.add_generic_rpc_handlers((handlers,)), workers, interceptors
    ) as address:
        yield address
