"""Repeated health checks of a server, which prints the seconds each answer took.

It is a separate process, so that other work does not delay it. It ends with its standard input.
"""

import sys
import threading
import time
from typing import Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it has no types

PAUSE: Final = 0.01
TIMEOUT: Final = 30.0  # seconds until the server counts as dead


def main() -> None:
    """Check the server at the address that is the only argument."""
    over = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    with grpc.insecure_channel(sys.argv[1]) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        while not over.wait(PAUSE):
            began = time.perf_counter()
            stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
            sys.stdout.write(f"{time.perf_counter() - began}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
