"""The call of RegisterResourceManager and its outcome."""

from dataclasses import dataclass

from siconform.protocol.matchers import ANY
from siconform.protocol.notifications import Fact


@dataclass(frozen=True, slots=True)
class RegistrationRequested:
    """An RM called; the message has the values."""

    rm: str

    def __str__(self) -> str:
        return f"registers as {self.rm}"


@dataclass(frozen=True, slots=True)
class RegistrationAnswered(Fact):
    """The call ended; ``status`` is the gRPC status name (OK, INVALID_ARGUMENT, ...)."""

    rm: str = ANY
    status: str = ANY
    details: str = ANY

    def _without(self, left_out: frozenset[str]) -> str:
        if self.status == "OK":
            return f"{self.rm} is registered"
        details = "" if "details" in left_out else self.details
        return f"registration of {self.rm} failed: {self.status} {details}".rstrip()


def is_registered(content: object) -> bool:
    """Return whether this answers a registration that succeeded."""
    return isinstance(content, RegistrationAnswered) and content.status == "OK"
