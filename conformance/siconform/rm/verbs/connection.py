"""The end of an RM's streams: it drops, closes or loses them, or the scheduler ends them."""

from siconform.expecting.checks import premise
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.expectations import Expectations
from siconform.expecting.fencing import Fencing
from siconform.expecting.link import Link
from siconform.outcomes import NotAsTheTextSays
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.rm.clean_up import CleanUp


class ConnectionVerbs:
    """What is said after any of these goes to streams that are opened anew."""

    def __init__(
        self,
        *,
        link: Link,
        deadlines: Deadlines,
        fencing: Fencing,
        expectations: Expectations,
        clean_up: CleanUp,
    ) -> None:
        self._link = link
        self._deadlines = deadlines
        self._fencing = fencing
        self._expectations = expectations
        self._clean_up = clean_up

    def drops_its_streams(self) -> None:
        """Cut every stream; what is said next goes to a new one."""
        self._link.connection.drops_streams()
        self._fencing.forgets()

    def shuts_down(self) -> None:
        """Given: a voluntary shutdown; every stream is half-closed and seen to end."""
        for kind in UpdateKind:
            self._link.connection.opens(kind)
        for kind in UpdateKind:
            self._link.connection.half_closes(kind)
        with premise("half-closed streams end"):
            for kind in UpdateKind:
                self._expectations.is_told(StreamEnded(kind))
        self._fencing.forgets()

    def loses_its_connection(self) -> None:
        """Everything between this RM and the scheduler breaks; it says nothing any more."""
        self._link.connection.close(self._deadlines.ack)
        self._fencing.forgets()
        self._clean_up.forgets()

    def is_turned_away(self, kind: UpdateKind) -> None:
        """The stream of this kind ends with an error status."""
        ended = self._expectations.is_told(StreamEnded(kind))
        if ended.status == "OK":
            raise NotAsTheTextSays(
                f"the {kind.value} stream ended as if all were well", expected="an error status"
            )
