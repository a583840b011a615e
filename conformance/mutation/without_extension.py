"""The reference without its extension: a scheduler with the SI alone, on the real clock.

Run as ``python -m mutation.without_extension --listen HOST:PORT``; options are those of
``sireference serve``.
"""

import sys
from typing import Any, Final

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from sireference.cli import main as sireference
from siwire import rpc

_TIMERS: Final = (
    *("--placeholder-timeout", "1.5"),
    *("--completing-timeout", "1.5"),
    *("--connection-loss-timeout", "2"),
)
RECEIVED: Final = (
    *("--placeholder-timeout", "1.5"),
    *("--waiting-timeout", "1.5"),
    *("--connection-loss-timeout", "2"),
)
"""The options of the kit for it."""


def main() -> None:
    """Serve until the process ends."""
    served: Any = rpc
    every = rpc.handlers

    def only_the_si(service: ServiceDescriptor, behaviours: Any) -> grpc.GenericRpcHandler:
        if service.name == "SchedulerExtension":
            return grpc.method_handlers_generic_handler("nothing", {})
        return every(service, behaviours)

    served.handlers = only_the_si
    sireference(["serve", *_TIMERS, *sys.argv[1:]])


if __name__ == "__main__":
    main()
