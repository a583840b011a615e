"""Only a fence that was put up afterwards shows, once it is answered, that something was taken."""

from collections.abc import Sequence

import pytest
from selftest.told_histories import (
    APP,
    APPS_FENCED,
    ASK,
    ASKS_FENCED,
    CONFIRMATION,
    DECOMMISSION,
    DRAIN,
    NODE,
    NODES_FENCED,
    OLD_ITSELF,
    PREEMPTION,
    REMOVAL,
    WITHDRAWAL,
    Part,
    allocated,
    exchange_of,
    released,
    withdrawn,
)
from siconform import monitors
from siconform.protocol.notifications import (
    AskRejected,
    AskReleased,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import AskRequest

FENCE, ANSWER = ASKS_FENCED
NODE_FENCE, NODE_ANSWER = NODES_FENCED
APP_FENCE, APP_ANSWER = APPS_FENCED
ANOTHER = AskRequest("fence-other", "nobody", "default", {})
TAKEN_BACK = withdrawn("fence-k", "nobody")
END = AskReleased("fence-k", "nobody", Termination.STOPPED_BY_RM, message="", partition="default")


CASES = [
    (
        "ended_allocations_stay_ended",
        [allocated(), PREEMPTION, FENCE],
        [CONFIRMATION, ANSWER],
        [PREEMPTION],
    ),
    (
        "confirmations_are_not_confirmed",
        [allocated(), PREEMPTION, FENCE],
        [CONFIRMATION, ANSWER],
        [PREEMPTION],
    ),
    (
        "confirmations_are_not_confirmed",
        [allocated(), PREEMPTION, FENCE],
        [CONFIRMATION, ANSWER],
        [REMOVAL, released()],
    ),
    (
        "nodes_are_not_overfilled",
        [NODE, FENCE],
        [OLD_ITSELF, ANSWER],
        [allocated()],
    ),
    (
        "withdrawn_asks_are_not_allocated",
        [ASK, FENCE],
        [WITHDRAWAL, ANSWER, *ASKS_FENCED],
        [allocated()],
    ),
    (
        "draining_nodes_get_nothing_new",
        [NODE, NODE_FENCE],
        [DRAIN, NODE_ANSWER, *ASKS_FENCED],
        [allocated()],
    ),
    (
        "nodes_of_allocations_exist",
        [NODE, NODE_FENCE],
        [DECOMMISSION, NODE_ANSWER, *ASKS_FENCED],
        [allocated()],
    ),
    (
        "removed_applications_get_nothing",
        [APP, APP_FENCE],
        [REMOVAL, APP_ANSWER, *ASKS_FENCED],
        [allocated()],
    ),
    (
        "removed_applications_get_nothing",
        [APP],
        [REMOVAL, APP_FENCE, FENCE, APP_ANSWER, ANSWER],  # the last one not put up after it
        [allocated()],
    ),
]
"""The monitor, what went before, what was said behind an open fence, what is wrong if certain."""


@pytest.mark.parametrize(("monitor", "before", "said", "after"), CASES)
def test_an_earlier_fence_shows_nothing(
    monitor: str, before: Sequence[Part], said: Sequence[Part], after: Sequence[Part]
) -> None:
    fences = (*NODES_FENCED, *APPS_FENCED, *ASKS_FENCED, *ASKS_FENCED)

    assert violation(monitor, [*before, *said, *after]) is None
    assert violation(monitor, [*before, *said, *fences, *after]) is not None


@pytest.mark.parametrize(
    "fences",
    [
        pytest.param([TAKEN_BACK, END], id="the earlier one is taken back"),
        pytest.param([ANOTHER, ANSWER], id="a later one is not answered"),
    ],
)
def test_whose_answer_it_is_counts(fences: Sequence[Part]) -> None:
    parts = [allocated(), PREEMPTION, FENCE, CONFIRMATION, *fences, PREEMPTION]

    assert violation("ended_allocations_stay_ended", parts) is None


@pytest.mark.parametrize(
    ("monitor", "before", "after"),
    [
        ("ended_allocations_stay_ended", [allocated(), PREEMPTION, CONFIRMATION], [PREEMPTION]),
        ("nodes_are_not_overfilled", [NODE, OLD_ITSELF], [allocated()]),
        ("withdrawn_asks_are_not_allocated", [ASK, WITHDRAWAL], [allocated()]),
    ],
)
def test_what_was_said_on_a_stream_that_ended_is_never_certain(
    monitor: str, before: Sequence[Part], after: Sequence[Part]
) -> None:
    ended = StreamEnded(UpdateKind.ALLOCATIONS, "INTERNAL", "it went wrong")
    fences = (*ASKS_FENCED, *ASKS_FENCED)

    assert violation(monitor, [*before, ended, *fences, *after]) is None
    assert violation(monitor, [*before, *fences, ended, *after]) is not None


def test_the_answer_to_a_later_one_counts() -> None:
    answered = AskRejected("fence-other", "nobody", "?")
    parts = [allocated(), PREEMPTION, FENCE, CONFIRMATION, ANOTHER, ANSWER, answered, PREEMPTION]

    assert violation("ended_allocations_stay_ended", parts) is not None


def violation(monitor: str, parts: Sequence[Part]) -> str | None:
    found = monitors.check(exchange_of(parts))
    return next(one.violation for one in found if one.monitor == monitor)
