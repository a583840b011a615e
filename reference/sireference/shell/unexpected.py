"""Errors nobody expected: each is logged once, with its traceback, wherever it comes up.

Clients are told that something went wrong (``MESSAGES``), and nothing of what it was.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

import grpc

from sireference.shell.logs import LOGGER, fields

MESSAGES: Final = "the scheduler itself went wrong; what happened is in its log"
_MARK: Final = "_sireference_is_logged"


class Refusal(Exception):
    """A call is to end with a status and a sentence; no error of the scheduler."""

    def __init__(self, code: grpc.StatusCode, problem: str) -> None:
        super().__init__(problem)
        self.code = code
        self.problem = problem


def report(error: BaseException, problem: str = "an unexpected error", **about: Any) -> None:
    """Log ``error`` with its traceback, and what it is ``about``, unless that was done before.

    What it was raised in place of is in its traceback, so that counts as logged, too.
    """
    if getattr(error, _MARK, False):
        return
    for one in _chain(error):
        with suppress(AttributeError):  # it has slots
            setattr(one, _MARK, True)
    LOGGER.error(problem, exc_info=error, extra=fields(**about))


def report_leftovers(*tasks: "asyncio.Task[Any]", **about: Any) -> None:
    """Report what any of these tasks ends with, in case nobody waits for it any more."""
    for task in tasks:
        task.add_done_callback(partial(_report_end, about))


def in_event_loop(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report what a deadline or a forgotten task ended with; a handler for asyncio's loop."""
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
    """Whether gRPC ends a call with it, or says with it that the connection broke."""
    return isinstance(error, grpc.aio.BaseError) and not isinstance(error, grpc.aio.UsageError)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """It, and everything it was raised because or in place of."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            waiting += [one.__cause__, one.__context__]
            yield one
