"""Checks of received facts, and preconditions of tests; none of them needs an RM."""

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
    """Run the legal twin of a negative test: if it fails, the test is inconclusive."""
    try:
        yield
    except ConformanceFailure as failure:
        message = f"control failed ({legal_twin}): {failure.message}"
        raise PreconditionFailed(
            message, expected=legal_twin, happened=failure.happened
        ) from failure


@contextmanager
def precondition(situation: str) -> Iterator[None]:
    """Establish the starting situation of a test: if this fails, the test is inconclusive."""
    try:
        yield
    except ConformanceFailure as failure:
        message = f"precondition failed ({situation}): {failure.message}"
        raise PreconditionFailed(
            message, expected=situation, happened=failure.happened
        ) from failure


@contextmanager
def unless_over(is_over: Callable[[], bool], why: str) -> Iterator[None]:
    """Make a failure inconclusive if ``is_over()``: the check holds only until then."""
    try:
        yield
    except ConformanceFailure as failure:
        if is_over():
            raise PreconditionFailed(why) from failure
        raise


def states_reason(
    rejection: NodeRejected | ApplicationRejected | AskRejected | AllocationRejected,
) -> None:
    """Check that the rejection carries a human-readable reason."""
    if not rejection.reason.strip():
        raise ConformanceFailure(
            "the rejection gives no reason", expected="a reason", happened=str(rejection)
        )


def agrees(received: Fact, pattern: Fact) -> None:
    """Check that an optional message, once received, has the right content."""
    if not pattern.matches(received):
        raise ConformanceFailure(
            f"received: {received}", expected=str(pattern), happened=str(received)
        )


def expect_none_of(received: Fact, *patterns: Fact) -> None:
    """Check that an optional message, once received, matches none of the patterns."""
    for pattern in patterns:
        if pattern.matches(received):
            raise ConformanceFailure(
                f"received: {received}", expected=f"not {pattern}", happened=str(received)
            )


def agrees_if_repeated(received: Fact, pattern: Allocated) -> None:
    """If an allocation repeats the priority of its ask, which is optional, check it."""
    if isinstance(received, Allocated) and (received.priority or received.priority_class):
        agrees(received, pattern)


def has_at_least(count: int, observed: Sequence[Fact], why: str) -> None:
    """Require at least ``count`` elements as a precondition for the check that follows."""
    if len(observed) < count:
        raise PreconditionFailed(
            f"precondition failed ({why}): {len(observed)} of at least {count} came"
        )


def needs_some(observed: Sequence[Fact], of: str) -> None:
    """Raise NotOffered if no element of an optional kind was received."""
    if not observed:
        raise NotOffered(f"the target does not offer {of}")


def have_different_identities(allocations: Sequence[Allocated]) -> None:
    """Check that every allocation has an identity and all identities differ."""
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
    """Check that the timestamps of the updates never decrease in the order received."""
    for earlier, later in pairwise(updates):
        if later.timestamp < earlier.timestamp:
            raise ConformanceFailure(
                f"{later.state} came after {earlier.state} with an earlier timestamp",
                expected=f"a timestamp of {earlier.timestamp} or later",
                happened=f"{later.timestamp}",
            )
