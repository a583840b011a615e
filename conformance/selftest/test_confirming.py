"""The simulated RM confirms what the scheduler releases of its own accord, unless told not to."""

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
from siconform.outcomes import NotOffered
from siconform.protocol.notifications import Released, Termination, UpdateKind
from siconform.protocol.requests import AskReleaseRequest, ReleaseRequest, Request
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager
from siconform.running.selecting import REQUIREMENTS
from siconform.targets.profile import TargetProfile
from siconform.targets.terms import PLAIN
from siconform.transport.connection import Connection
from siwire import DEFAULT_REVISION
from siwire.r2023_12 import si_pb2

from .resource_managers import rm_on

OWN = [
    Termination.TIMEOUT,
    Termination.PREEMPTED_BY_SCHEDULER,
    Termination.PLACEHOLDER_REPLACED,
]
ASK_CONFIRMED = AskReleaseRequest(OneAsk("app", "key"), "default", Termination.TIMEOUT)


class Overheard(Connection):
    """A connection to nowhere that keeps what the RM says."""

    def __init__(self) -> None:
        super().__init__("127.0.0.1:1", DEFAULT_REVISION, "rm", History())
        self.said: list[Request] = []

    def say(self, kind: UpdateKind, requests: Sequence[Request]) -> None:
        assert kind is UpdateKind.ALLOCATIONS
        self.said += requests

    def hears(self, response: si_pb2.AllocationResponse) -> None:
        self._hears(UpdateKind.ALLOCATIONS, response.SerializeToString())


@pytest.fixture
def connection() -> Overheard:
    return Overheard()


@pytest.fixture
def rm(connection: Overheard) -> ResourceManager:
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


@pytest.mark.parametrize("termination", OWN)
@pytest.mark.usefixtures("rm")
def test_a_release_of_the_scheduler_is_confirmed_with_its_type(
    connection: Overheard, termination: Termination
) -> None:
    connection.hears(released(termination))

    assert connection.said == [ReleaseRequest(OneAllocation("app", "id", "key"), termination)]


@pytest.mark.usefixtures("rm")
def test_a_confirmation_of_the_scheduler_is_not_confirmed(connection: Overheard) -> None:
    connection.hears(released(Termination.STOPPED_BY_RM))
    connection.hears(ask_released(Termination.STOPPED_BY_RM))

    assert connection.said == []


@pytest.mark.usefixtures("rm")
def test_a_withdrawn_ask_is_confirmed_with_its_type(connection: Overheard) -> None:
    connection.hears(ask_released(Termination.TIMEOUT))

    assert connection.said == [ASK_CONFIRMED]


def test_releases_can_be_left_open_and_withdrawn_asks_cannot(
    connection: Overheard, rm: ResourceManager
) -> None:
    with rm.confirming_nothing():
        connection.hears(released(Termination.TIMEOUT))
        connection.hears(ask_released(Termination.TIMEOUT))
    assert connection.said == [ASK_CONFIRMED]

    connection.hears(released(Termination.TIMEOUT))  # told again; it stays as open as it was left
    assert len(connection.said) == 1
    connection.hears(released(Termination.PREEMPTED_BY_SCHEDULER))
    assert len(connection.said) == 2


def test_a_release_that_was_seen_while_nothing_was_confirmed_stays_open(
    connection: Overheard, rm: ResourceManager
) -> None:
    connection.listeners.insert(0, lambda _: time.sleep(0.05))  # who confirms comes to it late
    hearing = threading.Thread(target=connection.hears, args=[released(Termination.TIMEOUT)])

    with rm.confirming_nothing():
        hearing.start()
        rm.is_told(Released(termination=Termination.TIMEOUT))

    hearing.join()
    assert connection.said == []


def test_an_rm_whose_test_is_not_for_the_target_confirms_nothing_in_the_tests_after_it(
    connection: Overheard, pytestconfig: pytest.Config
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
    connection.hears(released(Termination.TIMEOUT))

    assert connection.said == []
