"""Fixtures of the suite: a registered RM, a second one, or an isolated one."""

import os
import time
from collections.abc import Callable, Iterator
from enum import Enum
from math import ceil
from typing import TYPE_CHECKING

import pytest

from siconform.catalogue import known_requirements
from siconform.catalogue.features import find_feature
from siconform.config.option_list import SEED
from siconform.config.options import read_settings, starts_on_virtual_time
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.marks import waits
from siconform.recording.history import Exchange
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.session import Session
from siconform.rm.unregistered_rm import UnregisteredRM
from siconform.running.selecting import REQUIREMENTS
from siconform.running.stash import HISTORY, PROBED_BEHAVIOUR
from siconform.targets import Target

if TYPE_CHECKING:
    from siconform.exploring.exploration import Exploration

STEPS = 25  # of one random history, at most
HISTORIES_A_SECOND = 1.2  # at most, so that a fast scheduler finishes earlier


class Runs(Enum):
    """The clock on which the target of a test runs."""

    AS_GIVEN = "as-given"
    ON_REAL_CLOCK = "real-clock"


ON_BOTH_CLOCKS = (
    pytest.param(Runs.AS_GIVEN, id="virtual-clock"),
    pytest.param(Runs.ON_REAL_CLOCK, id="real-clock", marks=waits),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests with this mark on both clocks, if the kit can choose."""
    marked = metafunc.definition.get_closest_marker("real_clock") is not None
    if marked and starts_on_virtual_time(metafunc.config):
        metafunc.parametrize("session", ON_BOTH_CLOCKS, indirect=True)


@pytest.fixture(scope="session")
def sessions(
    target: Target, target_on_real_clock: Callable[[], Target], worker: str
) -> Iterator[Callable[[Runs], Session]]:
    """Provide the worker's sessions with its target, on either clock."""
    name = f"{worker}-{os.getpid()}-{int(time.time())}"  # unique to this run
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
    """Return the session this test uses."""
    return sessions(getattr(request, "param", Runs.AS_GIVEN))


@pytest.fixture
def rm(
    session: Session, request: pytest.FixtureRequest, short_name: str
) -> Iterator[ResourceManager]:
    """Provide a registered RM whose ids are unique to this test."""
    request.node.stash[PROBED_BEHAVIOUR] = session.observed
    rm = session.resource_manager(short_name)
    request.node.stash[HISTORY] = rm.exchange
    try:
        _needs_features(rm, request)
        yield rm
    finally:  # also if the test is skipped: the RM would go on answering
        is_clean = _finish(rm, rm.exchange)
    if request.node.get_closest_marker("disruptive"):
        session.renew()
    elif not is_clean:
        session.starts_clean()


@pytest.fixture
def second_rm(session: Session, rm: ResourceManager, short_name: str) -> Iterator[UnregisteredRM]:
    """Provide another RM, not registered yet, on the same scheduler."""
    second = session.second_rm(rm.exchange, f"{short_name}b")
    yield second
    _leave(second, rm.exchange)


@pytest.fixture
def unregistered_rm(
    session: Session, request: pytest.FixtureRequest, short_name: str
) -> Iterator[UnregisteredRM]:
    """Provide an unregistered RM that has the scheduler to itself as far as possible."""
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
    """Provide random histories from a fixed seed, each with a separate RM if possible."""
    from siconform.exploring.exploration import (  # noqa: PLC0415  # only this test needs it
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
    """Return a function that restarts the scheduler and reconnects an RM without registering."""
    return session.restarts_under


def _needs_features(rm: ResourceManager, request: pytest.FixtureRequest) -> None:
    """Raise NotOffered if the target lacks a feature that the test's requirements need."""
    for identifier in request.node.stash.get(REQUIREMENTS, ()):
        for name in sorted(known_requirements()[identifier].features):
            rm.needs(find_feature(name))


def _finish(rm: ResourceManager, exchange: Exchange) -> bool:
    exchange.end = len(exchange.history)
    return _leave(rm, exchange)


def _leave(rm: ResourceManager, exchange: Exchange) -> bool:
    """Clean up; return whether nothing of the test is left."""
    problems = rm.leaves()
    _notes(exchange, problems)
    return not problems


def _notes(exchange: Exchange, problems: list[str]) -> None:
    exchange.notes.extend(f"  not cleared up: {problem}" for problem in problems)
