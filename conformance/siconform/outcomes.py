"""How a test ends that did not see what it expected, and what that says about the target.

Whatever else a test raises is the kit's own fault and becomes KIT_ERROR.
"""

import re
from collections.abc import Mapping
from typing import Final

_UNSAID: Final = re.compile(r" cannot be (said|heard) any more$")
_ELEMENT: Final = re.compile(r"\bsi\.v1\.\w+(?:\.\w+)*")


IN_SHORT: Final = 160  # characters of what a target says, within a sentence


def in_short(sent: str, *, its_end: bool = False) -> str:
    """What a target said, on one line and no longer than a sentence bears; its end or its start."""
    line = " ".join(sent.split())
    if len(line) <= IN_SHORT:
        return line
    return f"...{line[-IN_SHORT:].lstrip()}" if its_end else f"{line[:IN_SHORT].rstrip()}..."


class Outcome(Exception):
    """Base of everything a test can find out by raising.

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
        """The expectation and what received instead, for people."""
        lines = [f"expected   {self.expected}"] if self.expected else []
        return "\n".join([*lines, f"happened   {self.happened}"])


class ConformanceFailure(Outcome, AssertionError):
    """The target did something else than the requirement says: FAIL.

    Where that is a matter of facts alone, it says which: none of ``awaited`` was told, or one of
    ``unwanted`` was.
    """

    awaited: tuple[object, ...] = ()
    unwanted: tuple[object, ...] = ()


class LacksMandatoryFeature(ConformanceFailure):
    """The target was said not to offer what a text demands: FAIL, without trying."""


class CameLate(ConformanceFailure):
    """The right thing came, but after the deadline of its class: LATE."""


class PreconditionFailed(Outcome):
    """The situation the requirement is about could not be had: COULD_NOT_RUN."""


class NotExpressible(PreconditionFailed):
    """An edited text has no words for what the test says or is told: COULD_NOT_RUN.

    ``elements`` are those of the revision, by full name, each with why the text lacks it.
    """

    def __init__(self, elements: Mapping[str, str], *, what: str = "said") -> None:
        self.elements = dict(elements)
        named = (f"{name} ({why})" if why else name for name, why in elements.items())
        super().__init__(f"{', '.join(named)} cannot be {what} any more")


def unsaid_in(message: str) -> tuple[str, ...]:
    """The elements that the message of a ``NotExpressible`` names; none of another message."""
    return tuple(dict.fromkeys(_ELEMENT.findall(message))) if _UNSAID.search(message) else ()


class TargetLost(PreconditionFailed):
    """The target died or cut the connection for good: COULD_NOT_RUN for all that needs it."""


class Unreachable(TargetLost):
    """Nothing answers where the target should be."""


class NotForThisTarget(Outcome):
    """The target cannot be brought there without harm to other tests: left out, never green."""


class NotOffered(Outcome):
    """The target does not claim what the requirement presupposes: NOT_APPLICABLE, never green."""
