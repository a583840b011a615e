"""The gRPC server of the simulated scheduler: one for all tests of a run."""

import grpc
from siwire import Revision

from siconform.recording.history import History


class SchedulerServer:
    """Serves si.v1.Scheduler, the extension's Describe and Callbacks, and health, on loopback.

    ``address`` is where it listens; port 0 takes a free one, which it keeps.
    """

    def __init__(self, revision: Revision, history: History, listen: str = "127.0.0.1:0") -> None:
        self.revision = revision
        self.history = history
        self.address = listen

    def starts(self) -> None:
        """Listen, on the same port as before."""
        raise NotImplementedError

    def stops(self) -> None:
        """End all streams and connections, and listen no more."""
        raise NotImplementedError

    def drops_connections(self) -> None:
        """Drop every connection and listen again at once."""
        raise NotImplementedError

    def aborts(self, status: grpc.StatusCode) -> None:
        """Abort a stream."""
        raise NotImplementedError
