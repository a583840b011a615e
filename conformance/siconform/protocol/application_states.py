"""Application states, by every name that the specification and schedulers use.

The specification does not fix the strings, so they are compared case-insensitively and through
these aliases.
"""

from collections.abc import Iterable
from typing import Final, Self

from siconform.protocol.matchers import Matcher


class State(Matcher):
    """All names of one state, or of several that the specification does not distinguish."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, *names: str) -> Self:
        """Create the state with these names."""
        state = super().__new__(cls, " or ".join(names))
        state.names = frozenset(name.casefold() for name in names)
        return state

    def accepts(self, received: object) -> bool:
        """Return whether this is a name of the state."""
        return isinstance(received, str) and received.casefold() in self.names

    @property
    def only(self) -> str | None:
        """Its only name; None if it has several."""
        return str(self) if len(self.names) == 1 else None


class AnotherState(Matcher):
    """Every state except those given."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, *states: State) -> Self:
        """Create the pattern of any state but these."""
        names = _names(states)
        state = super().__new__(cls, f"anything but {' or '.join(sorted(names))}")
        state.names = frozenset(names)
        return state

    def accepts(self, received: object) -> bool:
        """Return whether it is the name of a state other than these."""
        return (
            isinstance(received, str) and received != "" and received.casefold() not in self.names
        )


def _names(states: Iterable[State]) -> set[str]:
    return {name for state in states for name in state.names}


NEW: Final = State("New")
ACCEPTED: Final = State("Accepted")
RUNNING: Final = State("Running", "Starting")
"""The specification draws start and run together and does not fix which comes first."""

RESUMING: Final = State("Resuming")
WAITING: Final = State("Completing", "Waiting")
"""One state, by its name in the design and that in the events."""

COMPLETED: Final = State("Completed")
FAILING: Final = State("Failing", "Killed")
FAILED: Final = State("Failed", "Killed")
"""The design has one killed state where events distinguish failing and failed."""

FAILURE: Final = State("Failing", "Failed", "Killed")
"""Failing or failed."""

OVER: Final = State("Completed", "Failing", "Failed", "Killed", "Expired")
"""States of an application that is not kept running; only names of an end are known."""

KNOWN: Final = State(
    *_names((NEW, ACCEPTED, RUNNING, RESUMING, WAITING, COMPLETED, FAILURE)), "Expired", "Rejected"
)
"""Any state by a specified name; other names cannot be evaluated."""
