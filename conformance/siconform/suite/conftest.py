"""What a test can ask for: a registered RM, a second one beside it, or one that is alone."""

import os
import time
from collections.abc import Callable, Iterator
from enum import Enum
from math import ceil
from typing import TYPE_CHECKING

import pytest

from siconform.catalogue import known_requirements
from siconform.catalogue.features import find_feature
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.marks import waits
from siconform.recording.history import Exchange
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.session import Session
from siconform.rm.unregistered_rm import UnregisteredRM
from siconform.running.option_list import SEED
from siconform.running.options import read_settings, starts_on_virtual_time
from siconform.running.selecting import REQUIREMENTS
from siconform.running.stash import HISTORY, PROBED_BEHAVIOUR
from siconform.targets import Target

if TYPE_CHECKING:
    from siconform.exploring.exploration import Exploration

STEPS = 25  # of one arbitrary history, at most
HISTORIES_A_SECOND = 1.2  # at most, so that a quick scheduler is done earlier


class Runs(Enum):
    """By which clock the target of a test runs."""

    AS_GIVEN = "as-given"
    ON_REAL_CLOCK = "real-clock"


ON_BOTH_CLOCKS = (
    pytest.param(Runs.AS_GIVEN, id="virtual-clock"),
    pytest.param(Runs.ON_REAL_CLOCK, id="real-clock", marks=waits),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests with this mark run on both clocks, where the kit has the choice."""
    marked = metafunc.definition.get_closest_marker("real_clock") is not None
    if marked and starts_on_virtual_time(metafunc.config):
        metafunc.parametrize("session", ON_BOTH_CLOCKS, indirect=True)


@pytest.fixture(scope="session")
def worker(pytestconfig: pytest.Config) -> str:
    """The name of this process among those that share the tests."""
    received: dict[str, str] = getattr(pytestconfig, "workerinput", {})
    return received.get("workerid", "master")


@pytest.fixture(scope="session")
def sessions(
    target: Target, target_on_real_clock: Callable[[], Target], worker: str
) -> Iterator[Callable[[Runs], Session]]:
    """The worker's connections to its target, and to the same on the real clock."""
    name = f"{worker}-{os.getpid()}-{int(time.time())}"  # no other run has it
    deadlines = Deadlines().scaled(target.time_scale)
    opened: dict[Runs, Session] = {}
    observed = ProbedBehaviour()

    def session(runs: Runs) -> Session:
        if runs not in opened:
            evaluated = target if runs is Runs.AS_GIVEN else target_on_real_clock()
            opened[runs] = Session(evaluated, deadlines, name, observed)
        return opened[runs]

    yield session
    for one in opened.values():
        one.discard()


@pytest.fixture
def session(request: pytest.FixtureRequest, sessions: Callable[[Runs], Session]) -> Session:
    """The connections this test is to use."""
    return sessions(getattr(request, "param", Runs.AS_GIVEN))


@pytest.fixture
def rm(
    session: Session, request: pytest.FixtureRequest, short_name: str
) -> Iterator[ResourceManager]:
    """A registered RM whose ids belong to this test alone."""
    request.node.stash[PROBED_BEHAVIOUR] = session.observed
    rm = session.resource_manager(short_name)
    request.node.stash[HISTORY] = rm.exchange
    try:
        _needs_features(rm, request)
        yield rm
    finally:  # also where the test is not for this target: what listens on would go on answering
        _finish(rm, rm.exchange)
    if request.node.get_closest_marker("disruptive"):
        session.renew()


@pytest.fixture
def second_rm(session: Session, rm: ResourceManager, short_name: str) -> Iterator[UnregisteredRM]:
    """Another RM, not registered yet, on the same scheduler."""
    second = session.second_rm(rm.exchange, f"{short_name}b")
    yield second
    _leave(second, rm.exchange)


@pytest.fixture
def unregistered_rm(
    session: Session, request: pytest.FixtureRequest, short_name: str
) -> Iterator[UnregisteredRM]:
    """An RM, not registered yet, that has the scheduler to itself as far as it can tell."""
    request.node.stash[PROBED_BEHAVIOUR] = session.observed
    unregistered_rm = session.isolated_rm(short_name)
    request.node.stash[HISTORY] = unregistered_rm.exchange
    try:
        _needs_features(unregistered_rm, request)
        yield unregistered_rm
    finally:
        exchange = unregistered_rm.exchange
        exchange.end = len(exchange.history)
        _notes(exchange, session.leaves_isolated_rm(unregistered_rm))


@pytest.fixture
def exploration(session: Session, request: pytest.FixtureRequest) -> "Exploration":
    """Arbitrary histories, always the same ones; each has an RM of its own if it can."""
    from siconform.exploring.exploration import (  # noqa: PLC0415  # no other test pays for it
        Budget,
        Exploration,
    )

    def keeps(exploration: "Exploration") -> None:
        exchange = exploration.evaluated()
        if exchange is not None:
            request.node.stash[HISTORY] = exchange

    request.node.stash[PROBED_BEHAVIOUR] = session.observed
    seconds = read_settings(request.config).explore
    few = Budget(histories=ceil(HISTORIES_A_SECOND * seconds), steps=STEPS, seconds=seconds)
    return Exploration(session, few, SEED, keeps)


@pytest.fixture
def restart_scheduler(session: Session) -> Callable[[UnregisteredRM], None]:
    """Restarts the scheduler under an RM, which is connected to it again but not registered."""
    return session.restarts_under


@pytest.fixture
def short_name(worker: str, numbers: Callable[[], int]) -> str:
    """A prefix for ids, unique in the run."""
    return f"{worker}-{numbers()}"


@pytest.fixture(scope="session")
def numbers() -> Callable[[], int]:
    """Counts the tests of a worker."""
    counter = iter(range(1, 1_000_000))
    return lambda: next(counter)


def _needs_features(rm: ResourceManager, request: pytest.FixtureRequest) -> None:
    """NotOffered where the target was seen not to have what the test's requirements presuppose."""
    for identifier in request.node.stash.get(REQUIREMENTS, ()):
        for name in sorted(known_requirements()[identifier].features):
            rm.needs(find_feature(name))


def _finish(rm: ResourceManager, exchange: Exchange) -> None:
    exchange.end = len(exchange.history)
    _leave(rm, exchange)


def _leave(rm: ResourceManager, exchange: Exchange) -> None:
    _notes(exchange, rm.leaves())


def _notes(exchange: Exchange, problems: list[str]) -> None:
    exchange.notes.extend(f"  not cleared up: {problem}" for problem in problems)
