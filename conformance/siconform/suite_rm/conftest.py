"""Fixtures of the suite for RMs: the kit's scheduler, and the RM under test."""

from collections.abc import Iterator

import pytest

from siconform.catalogue.features import Feature, not_offered
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import NotOffered
from siconform.recording.history import Exchange
from siconform.running.rm_session import RmSession
from siconform.running.stash import HISTORY
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.simulated_scheduler import SimulatedScheduler
from siconform.targets.rm_target import RmTarget


@pytest.fixture(scope="session")
def session(target: RmTarget) -> Iterator[RmSession]:
    """Provide the worker's scheduler process and the RM that uses it."""
    session = RmSession(target, Deadlines().scaled(target.time_scale))
    try:
        session.starts()
        yield session
    finally:
        session.ends()


@pytest.fixture
def exchange(session: RmSession, request: pytest.FixtureRequest) -> Exchange:
    """Return all messages of the test, from before the RM registers."""
    exchange = request.node.stash[HISTORY] = session.exchange()
    return exchange


@pytest.fixture
def rm(session: RmSession, short_name: str) -> DrivenRM:
    """Return the RM under test; with the fixture ``scheduler`` it is registered and empty."""
    return session.rm(short_name)


@pytest.fixture
def scheduler(session: RmSession, exchange: Exchange, rm: DrivenRM) -> Iterator[SimulatedScheduler]:
    """Provide a scheduler with empty state, to which the RM has just registered."""
    scheduler = session.scheduler(exchange, rm)
    try:
        session.registers(scheduler, rm)
        yield scheduler
    finally:
        exchange.end = len(exchange.history)
        problems = session.leaves(scheduler, rm)
        exchange.notes.extend(f"  not cleared up: {problem}" for problem in problems)


@pytest.fixture
def gang(target: RmTarget) -> None:
    """Skip the test if the RM has no gang scheduling."""
    if Feature.GANG in target.terms.without:
        raise NotOffered(not_offered(Feature.GANG))
