"""Steps with callbacks: the RM offers to take them and answers them."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from siconform.expecting.checks import agrees
from siconform.expecting.endpoint import Endpoint
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.callbacks import (
    Answered,
    CallbacksEnded,
    EvictionCheck,
    InvalidCall,
    PlacementCheck,
    SchedulingReported,
)
from siconform.protocol.facets import Facet
from siconform.protocol.matchers import OneOf
from siconform.protocol.notifications import Allocated, Fact, Released
from siconform.protocol.requests import AskRequest
from siconform.rm.optional_extension import OptionalExtension
from siconform.rm.steps.preemption import PreemptionSteps
from siconform.transport.callback_stream import CallbackStream

_WELCOME: Final = Answered(fits=True, index=0, reason="")
_HELD_BACK: Final = 60.0  # seconds an answer is held back at most
_UNWANTED: Final = Answered(fits=False, index=0, reason="the test does not want it there")


class CallbackSteps(PreemptionSteps, OptionalExtension):
    """Callbacks. The RM agrees to every question unless the test set another answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._streams: tuple[CallbackStream, ...] = ()
        self._refused: frozenset[tuple[str, str]] = frozenset()
        self._refuses_evictions = False
        self._may_answer = threading.Event()
        self._may_answer.set()

    def takes_callbacks(self, *facets: Facet) -> int:
        """Given: an offer to take only these callbacks; its number. NotOffered without them."""
        extension = None
        for facet in facets:
            extension = self.offered(facet)
        if extension is None:
            raise NotOffered("the target does not offer the extension's callbacks")
        number = len(self._streams) + 1
        stream = CallbackStream(
            extension,
            self.connection.dialect,
            self.exchange.history,
            rm_id=self.connection.rm_id,
            facets=facets,
            offer=number,
            answers=self._answers,
        )
        self._streams = (*self._streams, stream)
        self.compensates(stream.cut)
        stream.holds(self.deadlines.quiet)
        ended = self.observe(CallbacksEnded(offer=number))
        if ended:
            raise PreconditionFailed(f"the target ends the callbacks it offers: {ended[0]}")
        return number

    def refuses(self, key: str, *, on: str) -> None:
        """From now on reject containers of this ask on that node."""
        self._refused = self._refused | {(str(key), str(on))}

    def refuses_evictions(self) -> None:
        """From now on no ask fits even after evictions; the index in the answers is meaningless."""
        self._refuses_evictions = True

    def welcomes_evictions(self) -> None:
        """From now on an ask fits once the first attempt's victims are gone."""
        self._refuses_evictions = False

    @contextmanager
    def holds_answers_back(self) -> Iterator[None]:
        """Given: the RM answers no question in this block, and the scheduler goes on meanwhile.

        NotOffered if it does not, shown by what could not be done in the block.
        """
        self._may_answer.clear()
        try:
            yield
        except PreconditionFailed as lost:
            raise NotOffered(f"the target waits for an answer first: {lost.message}") from lost
        finally:
            self._may_answer.set()

    def is_asked_about(self, key: str) -> None:
        """Given: the scheduler asks whether this ask can run on a node; NotOffered otherwise."""
        if not self.collects(PlacementCheck(key), most=1):
            raise NotOffered("the target does not offer placement checks here")

    def every_check_names(self, keys: Sequence[str], nodes: Sequence[str]) -> None:
        """Check that every placement check so far named one of these asks and nodes."""
        known = PlacementCheck(OneOf(keys), OneOf(nodes))
        for check in self.observe(PlacementCheck()):
            agrees(check, known)

    def sees_eviction_check(self, key: str) -> EvictionCheck:
        """Given: the scheduler asks which victims this ask needs; NotOffered otherwise."""
        check = self.receive_if_any(EvictionCheck(key), window=self.deadlines.place)
        if not isinstance(check, EvictionCheck):
            raise NotOffered("the target does not offer eviction checks here")
        return check

    def sees_a_report(self) -> None:
        """Given: a report on the scheduling of some ask; NotOffered if there is none.

        Its content is checked later, against all that was received.
        """
        look = partial(
            self.exchange.history.look, lambda: self.observe(SchedulingReported()) or None
        )
        if self.exchange.history.clock.advance_and_look(look, self.deadlines.place) is None:
            raise NotOffered("the target does not offer a report on an ask that has to wait")

    def every_report_names_an_ask(self) -> None:
        """Check that every report so far names an ask of this RM and its application."""
        sent = [e.content for e in self.exchange.everything() if isinstance(e.content, AskRequest)]
        asks = {(ask.key, ask.application) for ask in sent}
        for report in self.observe(SchedulingReported()):
            if (report.key, report.application) not in asks:
                raise ConformanceFailure(
                    f"received {report}",
                    expected="the key of an ask and its application",
                    happened=str(report),
                )

    def names_victims(self, check: EvictionCheck, live: Sequence[Allocated]) -> None:
        """Check that victims are distinct live allocations of the node, and start is valid."""
        there = {allocation.key for allocation in live if allocation.node == check.node}
        unknown = [key for key in check.victims if key not in there]
        if unknown or not check.victims:
            raise ConformanceFailure(
                f"victims are {'no allocations of the node' if unknown else 'missing'}",
                expected=f"keys of live allocations on {check.node}",
                happened=str(check),
            )
        if len(set(check.victims)) < len(check.victims):
            raise ConformanceFailure(
                "a victim is named twice",
                expected="allocations in the order in which they are removed",
                happened=str(check),
            )
        if not 0 <= check.start < len(check.victims):
            raise ConformanceFailure(
                f"startIndex {check.start} with {len(check.victims)} victims",
                expected=f"startIndex from 0 to {len(check.victims) - 1}",
                happened=str(check),
            )

    def evicts_no_more_than(self, allowed_for: str, live: Sequence[Allocated]) -> None:
        """Check that only victims are released that the RM approved in checks for this ask.

        It approves those of the first attempt. A scheduler may ask about several attempts.
        """
        self.synchronise_all()
        self.stays_quiet(window=self._long())
        checks = self.observe(EvictionCheck(allowed_for))
        allowed = {key for check in checks for key in check.victims[: check.start + 1]}
        spared = {one.identity for one in live if one.key not in allowed}
        unapproved = [one for one in self.observe(Released()) if one.identity in spared]
        if unapproved:
            raise ConformanceFailure(
                f"{len(unapproved)} released that the RM did not approve",
                expected=f"releases of {', '.join(sorted(allowed))} at most",
                happened=str(unapproved[0]),
            )

    def has_been_called_properly(self) -> None:
        """Check that no unexpected call came on the callback streams."""
        for strange in self.observe(InvalidCall()):
            raise ConformanceFailure(strange.problem, expected="calls of the kinds offered")

    def _answers(self, received: Fact) -> Answered:
        self._may_answer.wait(_HELD_BACK)
        match received:
            case PlacementCheck(key=key, node=node) if (key, node) in self._refused:
                return _UNWANTED
            case EvictionCheck(start=start) if self._refuses_evictions:
                return Answered(fits=False, index=start, reason="")
            case EvictionCheck(start=start):
                return Answered(fits=True, index=start, reason="")
            case _:
                return _WELCOME
