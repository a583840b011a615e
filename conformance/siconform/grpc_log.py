"""gRPC's own lines on standard error, which would precede the sentence of the kit.

gRPC reads its environment when it is imported.
"""

import os
from typing import Final

_VERBOSITY: Final = "GRPC_VERBOSITY"
_SILENT: Final = "none"


def silence() -> None:
    """Silence gRPC in this process and in workers, unless GRPC_VERBOSITY requests its lines."""
    os.environ.setdefault(_VERBOSITY, _SILENT)


def environment_of_targets() -> dict[str, str]:
    """Return the environment of the user: a started scheduler writes what it always writes."""
    return {k: v for k, v in os.environ.items() if (k, v) != (_VERBOSITY, _SILENT)}
