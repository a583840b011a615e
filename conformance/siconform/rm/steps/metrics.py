"""Steps with auto-scaling metrics: the demand that only more nodes could meet."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from siconform.expecting.expectations import Expectations
from siconform.outcomes import ConformanceFailure
from siconform.protocol.facets import Facet
from siconform.protocol.handles import Ask
from siconform.rm.optional_extension import OptionalExtension

_LOOK_AGAIN: Final = 0.005  # seconds of real time between two requests


@dataclass(frozen=True, slots=True)
class Outstanding:
    """One listed request."""

    request: str
    resource: Mapping[str, int]

    def __str__(self) -> str:
        amounts = " ".join(f"{name}={amount}" for name, amount in sorted(self.resource.items()))
        return f"request {self.request!r} of {{{amounts}}}"


class MetricsSteps(Expectations, OptionalExtension):
    """Auto-scaling metrics (2021-02). Asks are identified by their resources: make them differ."""

    def outstanding(self) -> list[Outstanding]:
        """Return what is listed for this RM now."""
        received = self.offered(Facet.METRICS).metrics(self.connection.rm_id)
        return [Outstanding(one.request_id, dict(one.resource)) for one in received.outstanding]

    def sees_outstanding(self, *asks: Ask) -> None:
        """Check that each of these is listed once, with its resource and a unique id."""
        listed = self._look_until(lambda there: all(_of(ask, there) for ask in asks))
        for ask in asks:
            if not _of(ask, listed):
                raise _unlike(f"not listed: {ask.sent}", listed)
            if len(_of(ask, listed)) > 1:
                raise _unlike(f"listed more than once: {ask.sent}", listed)
        ids = [one.request for one in listed]
        if "" in ids or len(set(ids)) < len(ids):
            raise _unlike("the ids of the requests are not unique", listed)

    def does_not_see_outstanding(self, *asks: Ask) -> None:
        """Check that none of these is listed, now or in a quiet window."""
        listed = self._look_until(
            lambda there: any(_of(ask, there) for ask in asks), self.quiet_window()
        )
        for ask in asks:
            if _of(ask, listed):
                raise _unlike(f"listed: {ask.sent}", listed)

    def no_longer_sees_outstanding(self, *asks: Ask) -> None:
        """Check that the list, which may be collected now and then, soon has none of these."""
        self._look_until(lambda there: not any(_of(ask, there) for ask in asks))
        self.does_not_see_outstanding(*asks)

    def _look_until(
        self, is_it: Callable[[Sequence[Outstanding]], bool], seconds: float | None = None
    ) -> list[Outstanding]:
        """Return the first list that satisfies ``is_it``, or the last one."""
        last: list[Outstanding] = []

        def look(seconds: float) -> bool | None:
            until = time.monotonic() + seconds
            while True:
                last[:] = self.outstanding()
                if is_it(last):
                    return True
                if time.monotonic() >= until:
                    return None
                time.sleep(_LOOK_AGAIN)

        self.exchange.history.clock.wait_for_answer(
            look, self.deadlines.ack if seconds is None else seconds
        )
        return last


def _of(ask: Ask, listed: Sequence[Outstanding]) -> list[Outstanding]:
    wanted = {name: amount for name, amount in (ask.sent.resource or {}).items() if amount}
    return [one for one in listed if dict(one.resource) == wanted]


def _unlike(message: str, listed: Sequence[Outstanding]) -> ConformanceFailure:
    what = "; ".join(map(str, listed)) or "nothing"
    return ConformanceFailure(message, happened=f"listed: {what}")
