"""Resource managers for tests of the core, and fixtures for every test of the shell."""

import asyncio
import gc
import logging
import sys
from collections.abc import Iterator
from functools import partialmethod
from inspect import iscoroutinefunction
from socketserver import BaseServer
from typing import Final

import pytest
from sireference.shell import gc_tuning, http_server
from tests.driving import RM

_LOGGERS = tuple(map(logging.getLogger, ("sireference", "asyncio")))
_SWITCH_INTERVAL: Final = sys.getswitchinterval()
_LOOKS_AGAIN: Final = 0.01  # seconds between an HTTP server's checks for shutdown


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session", autouse=True)
def _pages_stop_soon() -> Iterator[None]:
    """Stop HTTP servers of tests without their default delay of half a second."""
    with pytest.MonkeyPatch.context() as patch:
        serve = partialmethod(BaseServer.serve_forever, poll_interval=_LOOKS_AGAIN)
        patch.setattr(http_server._BoundedThreads, "serve_forever", serve, raising=False)
        yield


@pytest.fixture(autouse=True)
def _process_as_usual() -> Iterator[None]:
    """Undo what a server that ran in this process did to the cycle collector and to threads."""
    yield
    gc_tuning.restore_collections()
    sys.setswitchinterval(_SWITCH_INTERVAL)


@pytest.fixture(scope="session", autouse=True)
def _quiet_about_earlier_loops() -> Iterator[None]:
    """Drop log records about the event loop of an earlier test.

    gRPC has one poller per process: a test's loop may receive events left by the closed loop of the
    test before. A scheduler has one loop.
    """
    for logger in _LOGGERS:
        logger.addFilter(_is_of_this_loop)
    yield
    for logger in _LOGGERS:
        logger.removeFilter(_is_of_this_loop)


def _is_of_this_loop(record: logging.LogRecord) -> bool:
    where = f"{record.getMessage()} {getattr(record, 'fields', {}).get('where', '')}"
    error = record.exc_info[1] if record.exc_info else None
    is_closed = isinstance(error, RuntimeError) and str(error) == "Event loop is closed"
    return not (is_closed and "PollerCompletionQueue._handle_events" in where)


@pytest.fixture(scope="module")
def _only_new_objects_are_collected() -> Iterator[None]:
    """Freeze existing objects, so that the collector skips them."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def rm() -> RM:
    """A registered RM with the default queues and nothing else."""
    return RM()


@pytest.fixture
def busy() -> RM:
    """A registered RM with node n1 (memory 10, vcore 10) and application a1."""
    rm = RM()
    rm.creates("n1", memory=10, vcore=10)
    rm.submits("a1")
    return rm
