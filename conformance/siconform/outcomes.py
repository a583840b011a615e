"""Outcomes that a test raises, and the verdicts they stand for.

Any other exception is an error of the kit: KIT_ERROR.
"""

import re
from collections.abc import Mapping
from typing import Final

_INEXPRESSIBLE: Final = re.compile(r" can no longer be (sent|received)$")
_ELEMENT: Final = re.compile(r"\bsi\.v1\.\w+(?:\.\w+)*")


IN_SHORT: Final = 160  # maximum characters of a target's message within a sentence


def in_short(sent: str, *, its_end: bool = False) -> str:
    """Shorten a target's message to one line: its start or, with ``its_end``, its end."""
    line = " ".join(sent.split())
    if len(line) <= IN_SHORT:
        return line
    return f"...{line[-IN_SHORT:].lstrip()}" if its_end else f"{line[:IN_SHORT].rstrip()}..."


class Outcome(Exception):
    """Base of all outcomes that a test raises.

    ``message`` is one line (verdict reason, baseline signature); ``expected`` and ``happened``
    are the two lines of the failure text.
    """

    def __init__(self, message: str, *, expected: str = "", happened: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.happened = happened or message

    @property
    def story(self) -> str:
        """The expectation and what happened instead, for display."""
        lines = [f"expected   {self.expected}"] if self.expected else []
        return "\n".join([*lines, f"happened   {self.happened}"])


class ConformanceFailure(Outcome, AssertionError):
    """The target violates the requirement: FAIL.

    If facts alone decide, they are attached: none of ``awaited`` was received, or one of
    ``unwanted`` was.
    """

    awaited: tuple[object, ...] = ()
    unwanted: tuple[object, ...] = ()


class LacksMandatoryFeature(ConformanceFailure):
    """``--without`` names a feature that the specification demands: FAIL without a test."""


class CameLate(ConformanceFailure):
    """The expected message came after the deadline of its class: LATE."""


class PreconditionFailed(Outcome):
    """The precondition of the requirement could not be established: COULD_NOT_RUN."""


class NotExpressible(PreconditionFailed):
    """An edited specification cannot express what the test sends or receives: COULD_NOT_RUN.

    ``elements`` maps full names of the revision to why the specification lacks them.
    """

    def __init__(self, elements: Mapping[str, str], *, what: str = "sent") -> None:
        self.elements = dict(elements)
        named = (f"{name} ({why})" if why else name for name, why in elements.items())
        super().__init__(f"{', '.join(named)} can no longer be {what}")


def inexpressible_in(message: str) -> tuple[str, ...]:
    """Return the elements named by the message of a ``NotExpressible``, () for others."""
    return tuple(dict.fromkeys(_ELEMENT.findall(message))) if _INEXPRESSIBLE.search(message) else ()


class TargetLost(PreconditionFailed):
    """The target died or closed the connection: COULD_NOT_RUN for all tests that need it."""


class Unreachable(TargetLost):
    """Nothing answers at the target's address."""


class NotForThisTarget(Outcome):
    """The test would disturb others on this target: NOT_SELECTED, never a pass."""


class NotOffered(Outcome):
    """The target lacks a feature that the requirement needs: NOT_APPLICABLE, never a pass."""
