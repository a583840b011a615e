"""Ends of an RM's streams: dropped, closed, lost, or ended by the scheduler."""

from siconform.expecting.checks import precondition
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.notifications import RegistrationWanted, StreamEnded, UpdateKind
from siconform.rm.clean_up import CleanUp


class ConnectionSteps(CleanUp):
    """Ends of streams; later requests are sent on reopened streams."""

    def drops_its_streams(self) -> None:
        """Cut every stream; later requests use new ones."""
        self.connection.drops_streams()
        self._synchronisation.forgets()

    def replaces_its_stream(self, kind: UpdateKind) -> None:
        """Given: a stream is half-closed and another one of its kind open.

        NotOffered if that is not served: no sentence is about a second stream of a kind.
        """
        not_offered = NotOffered("the target does not offer to open a stream again")
        self.connection.replaces(kind)
        try:
            self.barriers(kind)
        except PreconditionFailed:
            if self.observe(RegistrationWanted()):  # the one stream of 2021-02: it was a shutdown
                raise not_offered from None
            raise
        if not self.connection.is_open(kind):
            raise not_offered

    def shuts_down(self) -> None:
        """Given: a voluntary shutdown; every stream is half-closed and ends."""
        for kind in UpdateKind:
            self.connection.opens(kind)
        for kind in UpdateKind:
            self.connection.half_closes(kind)
        with precondition("half-closed streams end"):
            for kind in UpdateKind:
                self.expect(StreamEnded(kind))
        self._synchronisation.forgets()

    def loses_its_connection(self) -> None:
        """Break the connection to the scheduler; the RM sends nothing more."""
        self.connection.close(self.deadlines.ack)
        self._synchronisation.forgets()
        self.discards_clean_up()

    def is_turned_away(self, kind: UpdateKind) -> None:
        """Check that the stream of this kind ends with an error status, or asks to register again.

        After the action RESYNC (2021-02) any end of the stream is right, and so is none.
        """
        received = self.expect_one_of(RegistrationWanted(), StreamEnded(kind))
        if isinstance(received, StreamEnded) and received.status == "OK":
            raise ConformanceFailure(
                f"the {kind.value} stream ended with status OK",
                expected="an error status or the action RESYNC",
            )
