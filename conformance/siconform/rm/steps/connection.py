"""The end of an RM's streams: it drops, closes or loses them, or the scheduler ends them."""

from siconform.expecting.checks import precondition
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.rm.clean_up import CleanUp


class ConnectionSteps(CleanUp):
    """What is said after any of these goes to streams that are opened anew."""

    def drops_its_streams(self) -> None:
        """Cut every stream; what is said next goes to a new one."""
        self.connection.drops_streams()
        self._synchronisation.forgets()

    def shuts_down(self) -> None:
        """Given: a voluntary shutdown; every stream is half-closed and seen to end."""
        for kind in UpdateKind:
            self.connection.opens(kind)
        for kind in UpdateKind:
            self.connection.half_closes(kind)
        with precondition("half-closed streams end"):
            for kind in UpdateKind:
                self.expect(StreamEnded(kind))
        self._synchronisation.forgets()

    def loses_its_connection(self) -> None:
        """Everything between this RM and the scheduler breaks; it says nothing any more."""
        self.connection.close(self.deadlines.ack)
        self._synchronisation.forgets()
        self.discards_clean_up()

    def is_turned_away(self, kind: UpdateKind) -> None:
        """The stream of this kind ends with an error status."""
        ended = self.expect(StreamEnded(kind))
        if ended.status == "OK":
            raise ConformanceFailure(
                f"the {kind.value} stream ended as if all were well", expected="an error status"
            )
