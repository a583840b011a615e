"""Checks of what was told already, and what a test takes for granted: they need no RM."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from siconform.outcomes import NotAsTheTextSays, NotOffered, PremiseLost
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
    except NotAsTheTextSays as failure:
        message = f"control failed ({legal_twin}): {failure.says}"
        raise PremiseLost(message, expected=legal_twin, happened=failure.happened) from failure


@contextmanager
def premise(situation: str) -> Iterator[None]:
    """The situation a test starts from: if it cannot be had, the test is inconclusive."""
    try:
        yield
    except NotAsTheTextSays as failure:
        message = f"premise lost ({situation}): {failure.says}"
        raise PremiseLost(message, expected=situation, happened=failure.happened) from failure


@contextmanager
def unless_over(is_over: Callable[[], bool], why: str) -> Iterator[None]:
    """Then, as long as something lasts: a failure after its end is inconclusive."""
    try:
        yield
    except NotAsTheTextSays as failure:
        if is_over():
            raise PremiseLost(why) from failure
        raise


def says_why(
    rejection: NodeRejected | ApplicationRejected | AskRejected | AllocationRejected,
) -> None:
    """The rejection carries a reason a person can read."""
    if not rejection.reason.strip():
        raise NotAsTheTextSays(
            "the rejection gives no reason", expected="a reason", happened=str(rejection)
        )


def agrees(told: Fact, pattern: Fact) -> None:
    """What was told in any case says the right thing."""
    if not pattern.matches(told):
        raise NotAsTheTextSays(f"told {told}", expected=str(pattern), happened=str(told))


def is_told_none_of(told: Fact, *patterns: Fact) -> None:
    """What was told in any case says none of these things."""
    for pattern in patterns:
        if pattern.matches(told):
            raise NotAsTheTextSays(f"told {told}", expected=f"not {pattern}", happened=str(told))


def agrees_if_repeated(told: Fact, pattern: Allocated) -> None:
    """An allocation that repeats the priority of its ask, which it need not, says that one."""
    if isinstance(told, Allocated) and (told.priority or told.priority_class):
        agrees(told, pattern)


def has_at_least(count: int, observed: Sequence[Fact], why: str) -> None:
    """Premise: at least ``count`` elements came, without which there is nothing to judge."""
    if len(observed) < count:
        raise PremiseLost(f"premise lost ({why}): {len(observed)} of at least {count} came")


def needs_some(observed: Sequence[Fact], of: str) -> None:
    """NotOffered where nothing of a kind came that no text demands: nothing is to be judged."""
    if not observed:
        raise NotOffered(f"the target does not offer {of}")


def have_different_identities(allocations: Sequence[Allocated]) -> None:
    """No two of the allocations share their identity, and none is without."""
    seen: set[str] = set()
    for allocation in allocations:
        if not allocation.identity or allocation.identity in seen:
            raise NotAsTheTextSays(
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
            raise NotAsTheTextSays(
                f"{later.state} came after {earlier.state} with an earlier timestamp",
                expected=f"a timestamp of {earlier.timestamp} or later",
                happened=f"{later.timestamp}",
            )
