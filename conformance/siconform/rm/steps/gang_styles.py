"""Spellings of gang styles: the SI names hard and soft, and does not fix their tokens."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from siwire import Capability

from siconform.catalogue.features import Feature
from siconform.outcomes import ConformanceFailure, NotOffered, Outcome, TargetLost
from siconform.protocol.handles import Gang
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
)
from siconform.rm.steps.application_ends import ApplicationEndSteps
from siconform.rm.steps.gang_timeouts import GangTimeoutSteps, PartialGang
from siconform.rm.steps.gangs import Style

_LARGEST: Final = 5  # of memory, for the members of the first gang; each gang after it has less


ACCEPTABLE: Final = ("Soft", "soft", "")
"""Spellings for tests that are not about the style: the first accepted one is used."""


def spellings(style: Style) -> tuple[str, str]:
    """Return the style as in the SI comment, and capitalised."""
    return style.value, style.value.title()


class GangStyleSteps(GangTimeoutSteps, ApplicationEndSteps):
    """Probes once how each style is spelled, with parallel gangs that time out.

    A scheduler may reject other spellings or silently treat them as the other style. So each
    spelling is tried; a style given as plain text is sent unchanged.
    """

    @property
    def sends_gang_styles(self) -> bool:
        """Whether a gang has a style; where it has none, it fails at its timeout."""
        return self.connection.revision.can(Capability.GANG_STYLE)

    def spelled(self, style: str | None) -> str:
        """Return the style as sent; None means any accepted style."""
        if not self.sends_gang_styles:
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
        """Return whether the scheduler accepts a gang with this style; the gang is removed."""
        gang = self.submits_gang(style=spelling)
        verdict = self.expect_one_of(ApplicationAccepted(gang), ApplicationRejected(gang))
        self.removes_application(gang)
        return isinstance(verdict, ApplicationAccepted)

    def _accepted(self) -> str:
        """Return a spelling with which this scheduler accepts gangs; probed once."""
        known = self.observed.accepted_gang_style
        if known is None:
            with self.meanwhile():
                takes = (spelling for spelling in ACCEPTABLE if self.takes_gangs_spelled(spelling))
                known = self.observed.accepted_gang_style = next(takes, ACCEPTABLE[0])
        return known

    def _found_out(self) -> dict[str, str]:
        """Return the first effective spelling of each style, or else that of the SI comment.

        Empty if gangs do not time out; the tests of that will fail.
        """
        fails: dict[str, bool | None] = {}
        try:
            with self.aside():
                for sizes in self._sizes():
                    fails |= self._tried(sizes)
        except (NotOffered, TargetLost):
            raise
        except Outcome:
            return {}
        return {style: _first_effective(style, fails) for style in Style}

    def _sizes(self) -> list[dict[str, int]]:
        """Return the spellings, and the memory of a member of their gangs, by groups tried at once.

        No later gang fits where an earlier one waits or waited. In one queue it may wait for it.
        """
        candidates = [spelling for style in Style for spelling in spellings(style)]
        if Feature.QUEUES in self.terms.without:
            return [{spelling: memory} for memory, spelling in enumerate(candidates, start=1)]
        return [{spelling: _LARGEST - number for number, spelling in enumerate(candidates)}]

    def _tried(self, sizes: Mapping[str, int]) -> dict[str, bool | None]:
        """Return whether a gang of each accepted spelling fails at its timeout; None if unclear."""
        gangs: dict[str, PartialGang] = {}
        limit = self.short_limit()
        with self.confirming_nothing():
            for style in filter(self.takes_gangs_spelled, sizes):
                gangs[style] = self.has_partial_gang(
                    members=2, memory=sizes[style], style=style, limit=limit
                )
            releases = [release for one in gangs.values() for release in self.has_expired(one)]
        self.has_confirmed(releases)
        fails = {style: self._fails(partial.gang) for style, partial in gangs.items()}
        for partial in gangs.values():
            self.removes_application(partial.gang)  # later ones may have to wait for its end
        self.synchronise_all()
        return fails

    def _fails(self, gang: Gang) -> bool | None:
        """Return False if the next ask is allocated, True if a failure was reported instead.

        None if neither: the application may have failed, or its ask takes too long.
        """
        real = self.asks_member(gang)
        with suppress(ConformanceFailure):
            if isinstance(self.expect_one_of(Allocated(real), AskRejected(real)), Allocated):
                return False
        failed = ApplicationUpdated(gang, state=self.failure())
        return True if self.observe(failed) else None


def _first_effective(style: Style, fails: Mapping[str, bool | None]) -> str:
    """Return the first spelling that had the style's effect, or else that of the SI comment.

    A reported failure is better evidence of the hard style than an ask that was not allocated.
    """
    for effect in (True, None) if style is Style.HARD else (False,):
        for spelling in spellings(style):
            if fails.get(spelling, not effect) is effect:
                return spelling
    return style.value
