"""gRPC's own lines on standard error are switched off, unless GRPC_VERBOSITY asks for them.

It reads its environment when it is imported, so this has to be imported before it.
"""

import os

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
