"""Checks of what was told already, and what a test takes for granted: they need no RM."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    Fact,
    NodeRejected,
)


@contextmanager
def control(legal_twin: str) -> Iterator[None]:
    """The legal twin of a negative test: if it fails, the test proved nothing."""
    try:
        yield
    except ConformanceFailure as failure:
        message = f"control failed ({legal_twin}): {failure.message}"
        raise PreconditionFailed(
            message, expected=legal_twin, happened=failure.happened
        ) from failure


@contextmanager
def precondition(situation: str) -> Iterator[None]:
    """The situation a test starts from: if it cannot be had, the test is inconclusive."""
    try:
        yield
    except ConformanceFailure as failure:
        message = f"precondition failed ({situation}): {failure.message}"
        raise PreconditionFailed(
            message, expected=situation, happened=failure.happened
        ) from failure


@contextmanager
def unless_over(is_over: Callable[[], bool], why: str) -> Iterator[None]:
    """If this fails when ``is_over``, the test is inconclusive: it holds only while that lasts."""
    try:
        yield
    except ConformanceFailure as failure:
        if is_over():
            raise PreconditionFailed(why) from failure
        raise


def states_reason(
    rejection: NodeRejected | ApplicationRejected | AskRejected | AllocationRejected,
) -> None:
    """The rejection carries a reason a person can read."""
    if not rejection.reason.strip():
        raise ConformanceFailure(
            "the rejection gives no reason", expected="a reason", happened=str(rejection)
        )


def agrees(received: Fact, pattern: Fact) -> None:
    """What was told in any case says the right thing."""
    if not pattern.matches(received):
        raise ConformanceFailure(f"told {received}", expected=str(pattern), happened=str(received))


def expect_none_of(received: Fact, *patterns: Fact) -> None:
    """What was told in any case says none of these things."""
    for pattern in patterns:
        if pattern.matches(received):
            raise ConformanceFailure(
                f"told {received}", expected=f"not {pattern}", happened=str(received)
            )


def agrees_if_repeated(received: Fact, pattern: Allocated) -> None:
    """An allocation that repeats the priority of its ask, which it need not, says that one."""
    if isinstance(received, Allocated) and (received.priority or received.priority_class):
        agrees(received, pattern)


def has_at_least(count: int, observed: Sequence[Fact], why: str) -> None:
    """Premise: at least ``count`` elements came, without which there is nothing to judge."""
    if len(observed) < count:
        raise PreconditionFailed(
            f"precondition failed ({why}): {len(observed)} of at least {count} came"
        )


def needs_some(observed: Sequence[Fact], of: str) -> None:
    """NotOffered where nothing of a kind came that no text demands: nothing is to be judged."""
    if not observed:
        raise NotOffered(f"the target does not offer {of}")


def have_different_identities(allocations: Sequence[Allocated]) -> None:
    """No two of the allocations share their identity, and none is without."""
    seen: set[str] = set()
    for allocation in allocations:
        if not allocation.identity or allocation.identity in seen:
            raise ConformanceFailure(
                f"{len(allocations)} allocations, and identity {allocation.identity!r}"
                f" {'twice' if allocation.identity else 'on one of them'}",
                expected=f"{len(allocations)} different identities",
                happened=f"a second {allocation}",
            )
        seen.add(allocation.identity)


def come_in_order_of_time(updates: Sequence[ApplicationUpdated]) -> None:
    """The timestamps of the updates, in the order they came, never go back."""
    for earlier, later in pairwise(updates):
        if later.timestamp < earlier.timestamp:
            raise ConformanceFailure(
                f"{later.state} came after {earlier.state} with an earlier timestamp",
                expected=f"a timestamp of {earlier.timestamp} or later",
                happened=f"{later.timestamp}",
            )
