"""Fixtures of the suite for RMs: the kit's scheduler, and the RM under test."""

from collections.abc import Iterator

import pytest

from siconform.catalogue.features import Feature, not_offered
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import NotOffered
from siconform.running.rm_session import RmSession
from siconform.running.stash import HISTORY
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.simulated_scheduler import SimulatedScheduler
from siconform.targets.rm_target import RmTarget


@pytest.fixture(scope="session")
def session(target: RmTarget) -> Iterator[RmSession]:
    """Provide the worker's server and the RM that uses it."""
    session = RmSession(target, Deadlines().scaled(target.time_scale))
    yield session
    session.ends()


@pytest.fixture
def scheduler(session: RmSession, request: pytest.FixtureRequest) -> Iterator[SimulatedScheduler]:
    """Provide a scheduler with empty state, to which the RM has just registered."""
    exchange = request.node.stash[HISTORY] = session.exchange()
    scheduler = session.scheduler(exchange)
    yield scheduler
    exchange.end = len(exchange.history)
    exchange.notes.extend(f"  not cleared up: {one}" for one in session.leaves(scheduler))


@pytest.fixture
def rm(session: RmSession, scheduler: SimulatedScheduler, short_name: str) -> DrivenRM:  # noqa: ARG001  # it has registered
    """Return the RM under test, registered and without nodes and applications."""
    return session.rm(short_name)


@pytest.fixture
def gang(target: RmTarget) -> None:
    """Skip the test if the RM has no gang scheduling."""
    if Feature.GANG in target.terms.without:
        raise NotOffered(not_offered(Feature.GANG))
