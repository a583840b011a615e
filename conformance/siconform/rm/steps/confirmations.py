"""Confirmation of releases that the scheduler initiates, automatic unless a test defers it."""

from collections.abc import Iterator
from contextlib import contextmanager

from siconform.expecting.endpoint import Endpoint
from siconform.expecting.inbox import OpenRelease, is_renamed, opened_by
from siconform.protocol.availability import omitting
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    AskReleased,
    Fact,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import AskReleaseRequest, AskRequest, ReleaseRequest
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk
from siconform.rm.sender import Sender


class ConfirmationSteps(Sender):
    """Confirms releases of allocations and asks that the scheduler initiates.

    Each once and with the same type; inside ``confirming_nothing`` only those of asks.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._confirms_releases = True
        self._left_open: dict[OpenRelease, int] = {}  # since this index

    def confirms(self, release: Released, termination: Termination | None = None) -> None:
        """Confirm a release of the scheduler with the same message (or with another type)."""
        self.send(
            ReleaseRequest(
                release.subject,
                release.termination if termination is None else termination,
                release.partition,
            )
        )

    def confirms_ask(self, release: AskReleased) -> None:
        """Confirm the scheduler's release of an ask with the same message."""
        self.send(self._confirmation(release))

    @contextmanager
    def confirming_nothing(self) -> Iterator[None]:
        """Leave releases of allocations unconfirmed that come inside this block."""
        self.stops_confirming()
        try:
            yield
        finally:
            self.confirms_from_now_on()

    @property
    def is_confirming(self) -> bool:
        """Whether releases of allocations are confirmed as they come."""
        return self._confirms_releases

    def _is_left_open(self, release: Released) -> bool:
        """Return whether this repeats a release that is to stay unconfirmed."""
        since = self._left_open.get(opened_by(release))
        return since is not None and not is_renamed(
            release.identity, self.exchange.history.since(since)
        )

    def stops_confirming(self) -> None:
        """Leave releases of allocations unconfirmed from now on."""
        self._confirms_releases = False

    def confirms_from_now_on(self) -> None:
        """Confirm releases again as they come, but not those received before."""
        with self.connection.receive_lock:  # a release seen earlier was passed over
            now = len(self.exchange.history)
            self._left_open |= {opened_by(one): now for one in self._unconfirmed()}
            self._confirms_releases = True

    def confirms_everything(self) -> None:
        """Confirm all unconfirmed releases, and later ones as they come."""
        with self.connection.receive_lock:
            left = self._unconfirmed()
            self._left_open = {}
            self._confirms_releases = True
        for release in left:
            self.confirms(release)

    def _unconfirmed(self) -> list[Released]:
        answered: set[OpenRelease] = set()
        for entry in self.exchange.entries():
            if isinstance(sent := entry.content, ReleaseRequest):
                answered.add(_answered_by(sent))
            elif isinstance(sent, AskRequest):  # a reused key names another allocation
                answered = {one for one in answered if one[0] != sent.key}
        received = {  # a release may be repeated until it is confirmed
            (release.application, release.identity, release.termination): release
            for release in self.observe(Released())
            if release.termination in BY_THE_SCHEDULER
        }
        return [release for release in received.values() if opened_by(release) not in answered]

    def confirms_by_itself(self, fact: Fact) -> None:
        """Confirm this at once if it is a release to be confirmed automatically."""
        if isinstance(fact, Released) and fact.termination in BY_THE_SCHEDULER:
            if self._confirms_releases and not self._is_left_open(fact):
                self._confirms_by(ReleaseRequest(fact.subject, fact.termination, fact.partition))
        elif (
            isinstance(fact, AskReleased)
            and fact.termination in BY_THE_SCHEDULER
            and not self._may_be_an_answer(fact)
        ):
            self._confirms_by(self._confirmation(fact))

    def _confirmation(self, release: AskReleased) -> AskReleaseRequest:
        request = AskReleaseRequest(release.subject, release.partition, release.termination)
        return omitting(request, "termination", self.connection.revision.name)

    def _confirms_by(self, request: ReleaseRequest | AskReleaseRequest) -> None:
        self._synchronisation.has_confirmed()
        self.connection.send_all(UpdateKind.ALLOCATIONS, [request])

    def _may_be_an_answer(self, release: AskReleased) -> bool:
        """Return whether this may confirm a withdrawal; without a type it is ambiguous."""
        if self.connection.dialect.ask_releases_state_why:
            return False
        return any(
            entry.rm == self.connection.rm_id
            and isinstance(sent := entry.content, AskReleaseRequest)
            and _covers(sent.subject, release)
            for entry in self.exchange.entries()
        )


def _answered_by(sent: ReleaseRequest) -> OpenRelease:
    """Return what this confirms if it is a confirmation."""
    subject = sent.subject
    if isinstance(subject, OneAllocation):
        return subject.identity, sent.termination, ""
    return "", sent.termination, subject.application


def _covers(withdrawn: OneAsk | AllOf | AllThereIs, release: AskReleased) -> bool:
    match withdrawn:
        case OneAsk(application=application, key=key):
            return key == release.key and application in ("", release.application)
        case AllOf(application=application):
            return application == release.application
        case AllThereIs():
            return True
