"""How a scheduler spells the styles of gangs: the SI names hard and soft, and fixes no tokens."""

from collections.abc import Iterable
from typing import Final

from siwire import Capability

from siconform.outcomes import ConformanceFailure, NotOffered, Outcome, TargetLost
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
)
from siconform.rm.steps.gang_timeouts import GangTimeoutSteps, PartialGang
from siconform.rm.steps.gangs import Style

_LARGEST: Final = 5  # of memory, for the members of the first gang; each gang after it has less


ACCEPTABLE: Final = ("Soft", "soft", "")
"""How the style may be spelled where a test is not about it: the first the scheduler takes."""


def spellings(style: Style) -> tuple[str, str]:
    """As the comment of the SI spells the style, and as a name is."""
    return style.value, style.value.title()


class GangStyleSteps(GangTimeoutSteps):
    """Finds out once how each style is spelled, by gangs side by side that run out of time.

    A scheduler may refuse other spellings, or take them for the other style without a word. So each
    spelling is tried: a style that is given as plain text is sent as it is.
    """

    def spelled(self, style: str | None) -> str:
        """How the style is sent; None is one the scheduler accepts, whichever it is."""
        if not self.connection.revision.can(Capability.GANG_STYLE):
            return ""
        if style is None:
            return self._accepted()
        if not isinstance(style, Style):
            return style
        known = self.observed.gang_styles
        if not known:
            known.update(self._found_out())
            self.observed.others["gang styles"] = ", ".join(
                f'{style} is spelled "{spelling}"' for style, spelling in known.items()
            )
        return known.get(style, style.value)

    def takes_gangs_spelled(self, spelling: str) -> bool:
        """Whether the scheduler accepts a gang with this style; it is removed again."""
        gang = self.submits_gang(style=spelling)
        verdict = self.expect_one_of(ApplicationAccepted(gang), ApplicationRejected(gang))
        self.removes_application(gang)
        return isinstance(verdict, ApplicationAccepted)

    def _accepted(self) -> str:
        """A spelling with which this scheduler takes gangs; found out once."""
        known = self.observed.accepted_gang_style
        if known is None:
            with self.meanwhile():
                takes = (spelling for spelling in ACCEPTABLE if self.takes_gangs_spelled(spelling))
                known = self.observed.accepted_gang_style = next(takes, ACCEPTABLE[0])
        return known

    def _found_out(self) -> dict[str, str]:
        """The first spelling with which a style means what it says; else that of the comment.

        Nothing where gangs do not run out of time; the tests of that will say so.
        """
        try:
            with self.aside():
                fails = self._tried(spelling for style in Style for spelling in spellings(style))
        except (NotOffered, TargetLost):
            raise
        except Outcome:
            return {}
        wanted = {Style.SOFT: False, Style.HARD: True}
        return {
            style: next((s for s in spellings(style) if fails.get(s) is wanted[style]), style.value)
            for style in Style
        }

    def _tried(self, candidates: Iterable[str]) -> dict[str, bool]:
        """Whether a gang of each accepted spelling fails when its time is over."""
        gangs: dict[str, PartialGang] = {}
        limit = self.short_limit()
        with self.confirming_nothing():
            for memory, style in enumerate(filter(self.takes_gangs_spelled, candidates)):
                gangs[style] = self.has_partial_gang(
                    members=2, memory=_LARGEST - memory, style=style, limit=limit
                )
            releases = [release for one in gangs.values() for release in self.has_expired(one)]
        self.has_confirmed(releases)
        return {style: self._fails(partial) for style, partial in gangs.items()}

    def _fails(self, partial: PartialGang) -> bool:
        """What is asked for next is allocated exactly to an application that goes on."""
        real = self.asks_member(partial.gang)
        try:
            received = self.expect_one_of(Allocated(real), AskRejected(real))
        except ConformanceFailure:
            return True
        return isinstance(received, AskRejected)
