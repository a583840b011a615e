"""What an RM finds out about the service itself: its methods and its description."""

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.link import Link
from siconform.outcomes import NotAsTheTextSays, NotForThisTarget
from siconform.transport.reflection import Description

SERVICE_PATH = "/si.v1.Scheduler/"


class ServiceVerbs:
    """Calls by raw name, and server reflection."""

    def __init__(
        self,
        *,
        link: Link,
        deadlines: Deadlines,
    ) -> None:
        self._link = link
        self._deadlines = deadlines

    def is_answered_at(self, path: str) -> None:
        """A call by this raw path is answered in time, as one of an implemented method."""
        status = self._link.connection.calls_raw(path, self._deadlines.register)
        if status in ("UNIMPLEMENTED", "UNAVAILABLE", "DEADLINE_EXCEEDED"):
            raise NotAsTheTextSays(f"{path}: {status}", expected=f"{path} is implemented")

    def finds_other_generation_unimplemented(self) -> None:
        """An update method that only another generation has ends with UNIMPLEMENTED in time."""
        path = SERVICE_PATH + self._link.connection.dialect.foreign_method()
        status = self._link.connection.calls_raw(path, self._deadlines.ack)
        if status != "UNIMPLEMENTED":
            raise NotAsTheTextSays(f"{path}: {status}", expected=f"{path} is UNIMPLEMENTED")

    def has_description(self) -> Description:
        """Given: the scheduler describes its service; left out where it offers no reflection."""
        description = self._link.connection.asks_for_description(self._deadlines.ack)
        if description is None:
            raise NotForThisTarget("the target offers no server reflection")
        return description
