"""A rejected ask excuses an application that waits, on whichever stream is heard of it first."""

from collections.abc import Sequence

import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.facets import Facet
from siconform.protocol.notifications import (
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    Fact,
)
from siconform.protocol.requests import ApplicationRequest, AskRequest, Request
from siconform.rm.resource_manager import ResourceManager
from siwire.ext import extension_pb2 as ext

from .resource_managers import FakeConnection, rm_on

BRIEF = Deadlines(ack=0.05, place=0.05, quiet=0.02, settle=0.02)
ACCEPTED = ApplicationUpdated("a", "Accepted", 1, "")
WAITS = ApplicationUpdated("a", "Completing", 1, "")


class Scheduler:
    """Answers barriers; an answer on the allocation stream comes after what is held back there."""

    def __init__(self, held_back: Sequence[Fact]) -> None:
        self._held_back = list(held_back)

    def __call__(self, request: Request) -> Sequence[Fact]:
        match request:
            case ApplicationRequest(application=name, partition="default"):
                return [ApplicationAccepted(name)]
            case ApplicationRequest(application=name):
                return [ApplicationRejected(name)]
            case AskRequest(key=key, application=application):
                held_back, self._held_back = self._held_back, []
                return [*held_back, AskRejected(key, application, "unknown")]
            case _:
                return []


class Snapshots:
    """Shows the application as waiting."""

    def offers(self, facet: Facet) -> bool:
        return facet is Facet.SNAPSHOT

    def presupposes(self, facet: Facet) -> None:
        assert facet is Facet.SNAPSHOT

    def snapshot(self, _: str) -> ext.SnapshotResult:
        return ext.SnapshotResult(
            applications=[ext.AppView(application_id="a", state="Completing")]
        )


REPORTED, SHOWN = "reported", "shown"


def rm_of(held_back: Sequence[Fact], seen: str) -> ResourceManager:
    connection = FakeConnection(Scheduler(held_back))
    if seen is REPORTED:
        connection.receives(ACCEPTED, WAITS)
    return rm_on(connection, BRIEF, extension=Snapshots() if seen is SHOWN else None)


@pytest.mark.parametrize("seen", [REPORTED, SHOWN])
def test_rejection_on_its_way_excuses_waiting(seen: str) -> None:
    rm = rm_of([AskRejected("k", "a", "waited too long")], seen)

    with pytest.raises(NotOffered):
        rm.is_not_seen_waiting("a")


@pytest.mark.parametrize("seen", [REPORTED, SHOWN])
@pytest.mark.parametrize("held_back", [[], [AskRejected("k", "b", "waited too long")]])
def test_waiting_with_pending_ask_fails(seen: str, held_back: Sequence[Fact]) -> None:
    rm = rm_of(held_back, seen)

    with pytest.raises(ConformanceFailure, match="Completing"):
        rm.is_not_seen_waiting("a")


def test_new_application_may_wait_for_its_first_ask() -> None:
    connection = FakeConnection(Scheduler([]))
    connection.receives(WAITS, ACCEPTED)
    rm = rm_on(connection, BRIEF)

    rm.is_not_seen_waiting("a")
