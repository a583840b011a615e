"""The simulated RM confirms releases by the scheduler unless switched off."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from siconform.catalogue.features import Feature
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.notifications import Released, Termination, UpdateKind
from siconform.protocol.requests import AskReleaseRequest, ReleaseRequest, Request
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk
from siconform.rm.resource_manager import ResourceManager
from siconform.running.selecting import REQUIREMENTS
from siconform.targets.profile import TargetProfile
from siconform.targets.terms import PLAIN
from siwire import REVISIONS
from siwire.r2023_12 import si_pb2
from siwire.r2024_10 import si_pb2 as si24

from .resource_managers import RecordingConnection, rm_on

OWN = [
    Termination.TIMEOUT,
    Termination.PREEMPTED_BY_SCHEDULER,
    Termination.PLACEHOLDER_REPLACED,
]
ASK_CONFIRMED = AskReleaseRequest(OneAsk("app", "key"), "default", Termination.TIMEOUT)


@pytest.fixture
def connection() -> RecordingConnection:
    return RecordingConnection(REVISIONS["2023-12"], UpdateKind.ALLOCATIONS)


@pytest.fixture
def rm(connection: RecordingConnection) -> ResourceManager:
    return rm_on(connection, Deadlines())


def released(termination: Termination) -> si_pb2.AllocationResponse:
    release = si_pb2.AllocationRelease(
        partitionName="default",
        applicationID="app",
        allocationID="id",
        allocationKey="key",
        terminationType=si_pb2.TerminationType.Value(termination.value),
    )
    return si_pb2.AllocationResponse(released=[release])


def ask_released(termination: Termination) -> si_pb2.AllocationResponse:
    release = si_pb2.AllocationAskRelease(
        partitionName="default",
        applicationID="app",
        allocationKey="key",
        terminationType=si_pb2.TerminationType.Value(termination.value),
    )
    return si_pb2.AllocationResponse(releasedAsks=[release])


def all_released(application: str) -> si_pb2.AllocationResponse:
    release = si_pb2.AllocationRelease(applicationID=application, terminationType=si_pb2.TIMEOUT)
    return si_pb2.AllocationResponse(released=[release])


@pytest.mark.parametrize("termination", OWN)
@pytest.mark.usefixtures("rm")
def test_scheduler_release_is_confirmed_with_its_type(
    connection: RecordingConnection, termination: Termination
) -> None:
    connection.receives(released(termination))

    assert connection.requests == [ReleaseRequest(OneAllocation("app", "id", "key"), termination)]


@pytest.mark.usefixtures("rm")
def test_scheduler_confirmation_is_not_confirmed(connection: RecordingConnection) -> None:
    connection.receives(released(Termination.STOPPED_BY_RM))
    connection.receives(ask_released(Termination.STOPPED_BY_RM))

    assert connection.requests == []


def test_releases_can_stay_open_but_not_ask_releases(
    connection: RecordingConnection, rm: ResourceManager
) -> None:
    with rm.confirming_nothing():
        connection.receives(released(Termination.TIMEOUT))
        connection.receives(ask_released(Termination.TIMEOUT))
    assert connection.requests == [ASK_CONFIRMED]

    connection.receives(released(Termination.TIMEOUT))  # repeated; it stays open
    assert len(connection.requests) == 1
    connection.receives(released(Termination.PREEMPTED_BY_SCHEDULER))
    assert len(connection.requests) == 2


class ObservedConnection(RecordingConnection):
    """A connection that also records requests in its history, as real ones do."""

    def send_all(self, kind: UpdateKind, requests: Sequence[Request]) -> None:
        super().send_all(kind, requests)
        message = self.dialect.request(kind, self.rm_id, requests)
        self.history.add(self.rm_id, requests, sent_by_rm=True, message=message)


def test_reused_key_is_confirmed_separately() -> None:
    connection = ObservedConnection(REVISIONS["2024-10"], UpdateKind.ALLOCATIONS)
    rm = rm_on(connection, Deadlines(ack=0.1, release=0.1))
    release = si24.AllocationRelease(
        applicationID="app", allocationKey="key", terminationType=si24.PREEMPTED_BY_SCHEDULER
    )
    preempted = si24.AllocationResponse(released=[release])
    with rm.confirming_nothing():
        connection.receives(preempted)
    received = rm.expect(Released(identity="key"))
    connection.receives(preempted)
    assert connection.requests == []
    with pytest.raises(ConformanceFailure):
        rm.expect(Released(identity="key"))

    rm.confirms(received)
    rm.asks("app", key="key")
    new = si24.Allocation(applicationID="app", allocationKey="key", nodeID="node")
    connection.receives(si24.AllocationResponse(new=[new]))
    connection.receives(preempted)

    assert rm.expect(Released(identity="key")) == received
    assert connection.requests[-1] == connection.requests[0]
    assert len(connection.requests) == 3


def test_releases_of_all_of_two_applications_are_confirmed_separately() -> None:
    connection = ObservedConnection(REVISIONS["2023-12"], UpdateKind.ALLOCATIONS)
    rm = rm_on(connection, Deadlines())
    confirmed = [
        ReleaseRequest(AllOf(application), Termination.TIMEOUT, "")
        for application in ("first", "second")
    ]

    with rm.confirming_nothing():
        connection.receives(all_released("first"))
    connection.receives(all_released("second"))
    assert connection.requests == confirmed[1:]

    for application in ("first", "second"):
        rm.expect(Released(application=application, identity=""))
    rm.confirms_everything()
    assert connection.requests == confirmed[::-1]


def test_unconfirmed_release_stays_open(
    connection: RecordingConnection, rm: ResourceManager
) -> None:
    connection.listeners.insert(0, lambda _: time.sleep(0.05))  # late, due to the confirming thread
    receiving = threading.Thread(target=connection.receives, args=[released(Termination.TIMEOUT)])

    with rm.confirming_nothing():
        receiving.start()
        rm.expect(Released(termination=Termination.TIMEOUT))

    receiving.join()
    assert connection.requests == []


def test_rm_of_skipped_test_does_not_confirm_later(
    connection: RecordingConnection, pytestconfig: pytest.Config
) -> None:
    for mark in ("disruptive", "race_where", "waits", "explores", "real_clock"):
        pytestconfig.addinivalue_line("markers", mark)
    suite = import_module("siconform.suite.conftest")
    profile = TargetProfile(terms=replace(PLAIN, without=frozenset({Feature.GANG})))
    rm = rm_on(connection, Deadlines(), profile=profile)
    session = SimpleNamespace(observed=rm.observed, resource_manager=lambda _: rm)
    stash = pytest.Stash()
    stash[REQUIREMENTS] = ("SI-GANG-012",)
    of_a_gang = SimpleNamespace(node=SimpleNamespace(stash=stash))
    fixture: Callable[..., Iterator[Any]] = suite.rm.__wrapped__

    with pytest.raises(NotOffered):
        next(fixture(session, of_a_gang, "t"))
    connection.receives(released(Termination.TIMEOUT))

    assert connection.requests == []
