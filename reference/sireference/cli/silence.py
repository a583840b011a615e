"""Silence gRPC's own lines on standard error, unless GRPC_VERBOSITY requests them.

gRPC reads its environment when it is imported, so import this module first.
"""

import os

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
