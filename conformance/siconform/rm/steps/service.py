"""Steps with the gRPC service itself: its methods and its description."""

from siconform.expecting.endpoint import Steps
from siconform.outcomes import ConformanceFailure, NotForThisTarget
from siconform.transport.reflection import Description

SERVICE_PATH = "/si.v1.Scheduler/"


class ServiceSteps(Steps):
    """Calls by raw name, and server reflection."""

    def is_answered_at(self, path: str) -> None:
        """Check that a call by this path is answered in time, as an implemented method."""
        status = self.connection.calls_raw(path, self.deadlines.register)
        if status in ("UNIMPLEMENTED", "UNAVAILABLE", "DEADLINE_EXCEEDED"):
            raise ConformanceFailure(f"{path}: {status}", expected=f"{path} is implemented")

    def finds_other_generation_unimplemented(self) -> None:
        """Check that an update method of another generation ends with UNIMPLEMENTED in time."""
        path = SERVICE_PATH + self.connection.dialect.foreign_method()
        status = self.connection.calls_raw(path, self.deadlines.ack)
        if status != "UNIMPLEMENTED":
            raise ConformanceFailure(f"{path}: {status}", expected=f"{path} is UNIMPLEMENTED")

    def has_description(self) -> Description:
        """Given: a description of the service; NotForThisTarget without server reflection."""
        description = self.connection.asks_for_description(self.deadlines.ack)
        if description is None:
            raise NotForThisTarget("the target offers no server reflection")
        return description
