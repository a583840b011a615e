"""Unexpected errors: each is logged once with its traceback, wherever it occurs.

Clients only learn that something went wrong (``MESSAGES``), not what.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

import grpc

from sireference.shell.logs import LOGGER, fields

MESSAGES: Final = "internal error of the scheduler; see its log"
_MARK: Final = "_sireference_is_logged"


class Refusal(Exception):
    """A call is to end with a status and a reason; not an error of the scheduler."""

    def __init__(self, code: grpc.StatusCode, problem: str) -> None:
        super().__init__(problem)
        self.code = code
        self.problem = problem


def report(error: BaseException, problem: str = "an unexpected error", **about: Any) -> None:
    """Log ``error`` with its traceback and context, unless already logged.

    Its chained exceptions are in the traceback, so they count as logged, too.
    """
    if getattr(error, _MARK, False):
        return
    for one in _chain(error):
        with suppress(AttributeError):  # it has slots
            setattr(one, _MARK, True)
    LOGGER.error(problem, exc_info=error, extra=fields(**about))


def report_leftovers(*tasks: "asyncio.Task[Any]", **about: Any) -> None:
    """Report the errors of tasks that may not be awaited any more."""
    for task in tasks:
        task.add_done_callback(partial(_report_end, about))


def in_event_loop(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report the error of a deadline or an abandoned task; a handler for asyncio's loop."""
    error = context.get("exception")
    if error is not None:
        report(error, "an unexpected error in a deadline or a task", where=context["message"])
    else:
        LOGGER.error("asyncio: %s", context["message"])


def _report_end(about: dict[str, Any], task: "asyncio.Task[Any]") -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, Refusal) and not is_of_transport(error):
        report(error, **about)


def is_of_transport(error: BaseException) -> bool:
    """Return whether gRPC uses it to end a call or to report a broken connection."""
    return isinstance(error, grpc.aio.BaseError) and not isinstance(error, grpc.aio.UsageError)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its chained exceptions."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            waiting += [one.__cause__, one.__context__]
            yield one
