"""The states of an application by every name the texts and the schedulers give them.

No text fixes the strings, so they are compared without regard to case and through these aliases.
"""

from collections.abc import Iterable
from typing import Final, Self


class State(str):
    """Equal to every name of one state, or of several the texts do not tell apart."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, *names: str) -> Self:
        """The state called by any of these names."""
        state = super().__new__(cls, " or ".join(names))
        state.names = frozenset(name.casefold() for name in names)
        return state

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.casefold() in self.names

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.names)


class AnotherState(State):
    """Equal to every state that is none of those given."""

    __slots__ = ()

    def __new__(cls, *states: State) -> Self:
        """Any state but these."""
        return super().__new__(cls, *sorted(_names(states)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other != "" and other.casefold() not in self.names

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("not", self.names))

    def __str__(self) -> str:
        return f"anything but {str.__str__(self)}"


def _names(states: Iterable[State]) -> set[str]:
    return {name for state in states for name in state.names}


NEW: Final = State("New")
ACCEPTED: Final = State("Accepted")
RUNNING: Final = State("Running", "Starting")
"""The text draws start and run together: which of the two comes first is not fixed."""

RESUMING: Final = State("Resuming")
WAITING: Final = State("Completing", "Waiting")
"""One state under the name of the design and that of the events."""

COMPLETED: Final = State("Completed")
FAILING: Final = State("Failing", "Killed")
FAILED: Final = State("Failed", "Killed")
"""The design knows one killed state where the events tell failing from failed."""

FAILURE: Final = State("Failing", "Failed", "Killed")
"""Either of the two."""

OVER: Final = State("Completed", "Failing", "Failed", "Killed", "Expired")
"""Where an application is that is not kept running; only the names of an end are known."""

KNOWN: Final = State(
    *_names((NEW, ACCEPTED, RUNNING, RESUMING, WAITING, COMPLETED, FAILURE)), "Expired", "Rejected"
)
"""Any state by a name of the texts; who uses others says nothing that can be judged."""
