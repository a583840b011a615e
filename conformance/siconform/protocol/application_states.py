"""The states of an application by every name the texts and the schedulers give them.

No text fixes the strings, so they are compared without regard to case and through these aliases.
"""

from collections.abc import Iterable
from typing import Final, Self

from siconform.protocol.matchers import Matcher


class State(Matcher):
    """Every name of one state, or of several the texts do not tell apart."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, *names: str) -> Self:
        """The state called by any of these names."""
        state = super().__new__(cls, " or ".join(names))
        state.names = frozenset(name.casefold() for name in names)
        return state

    def accepts(self, received: object) -> bool:
        """Whether the state is called so."""
        return isinstance(received, str) and received.casefold() in self.names

    @property
    def only(self) -> str | None:
        """Its name, where it has one."""
        return str(self) if len(self.names) == 1 else None


class AnotherState(Matcher):
    """Every state that is none of those given."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, *states: State) -> Self:
        """Any state but these."""
        names = _names(states)
        state = super().__new__(cls, f"anything but {' or '.join(sorted(names))}")
        state.names = frozenset(names)
        return state

    def accepts(self, received: object) -> bool:
        """Whether it is the name of a state, and of none of these."""
        return (
            isinstance(received, str) and received != "" and received.casefold() not in self.names
        )


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
"""Failing or failed."""

OVER: Final = State("Completed", "Failing", "Failed", "Killed", "Expired")
"""Where an application is that is not kept running; only the names of an end are known."""

KNOWN: Final = State(
    *_names((NEW, ACCEPTED, RUNNING, RESUMING, WAITING, COMPLETED, FAILURE)), "Expired", "Rejected"
)
"""Any state by a name of the texts; who uses others says nothing that can be judged."""
