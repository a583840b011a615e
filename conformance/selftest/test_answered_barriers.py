"""Only a later answered barrier proves that a message was processed."""

from collections.abc import Sequence

import pytest
from selftest.sample_histories import (
    APP,
    APPS_SYNCHRONISED,
    ASK,
    ASKS_SYNCHRONISED,
    CONFIRMATION,
    DECOMMISSION,
    DRAIN,
    NODE,
    NODES_SYNCHRONISED,
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

BARRIER, ANSWER = ASKS_SYNCHRONISED
NODE_BARRIER, NODE_ANSWER = NODES_SYNCHRONISED
APP_BARRIER, APP_ANSWER = APPS_SYNCHRONISED
ANOTHER = AskRequest("barrier-other", "absent", "default", {})
TAKEN_BACK = withdrawn("barrier-k", "absent")
END = AskReleased("barrier-k", "absent", Termination.STOPPED_BY_RM, message="", partition="default")


CASES = [
    (
        "ended_allocations_stay_ended",
        [allocated(), PREEMPTION, BARRIER],
        [CONFIRMATION, ANSWER],
        [PREEMPTION],
    ),
    (
        "confirmations_are_not_confirmed",
        [allocated(), PREEMPTION, BARRIER],
        [CONFIRMATION, ANSWER],
        [PREEMPTION],
    ),
    (
        "confirmations_are_not_confirmed",
        [allocated(), PREEMPTION, BARRIER],
        [CONFIRMATION, ANSWER],
        [REMOVAL, released()],
    ),
    (
        "nodes_are_not_overfilled",
        [NODE, BARRIER],
        [OLD_ITSELF, ANSWER],
        [allocated()],
    ),
    (
        "withdrawn_asks_are_not_allocated",
        [ASK, BARRIER],
        [WITHDRAWAL, ANSWER, *ASKS_SYNCHRONISED],
        [allocated()],
    ),
    (
        "draining_nodes_get_nothing_new",
        [NODE, NODE_BARRIER],
        [DRAIN, NODE_ANSWER, *ASKS_SYNCHRONISED],
        [allocated()],
    ),
    (
        "nodes_of_allocations_exist",
        [NODE, NODE_BARRIER],
        [DECOMMISSION, NODE_ANSWER, *ASKS_SYNCHRONISED],
        [allocated()],
    ),
    (
        "removed_applications_get_nothing",
        [APP, APP_BARRIER],
        [REMOVAL, APP_ANSWER, *ASKS_SYNCHRONISED],
        [allocated()],
    ),
    (
        "removed_applications_get_nothing",
        [APP],
        [REMOVAL, APP_BARRIER, BARRIER, APP_ANSWER, ANSWER],  # the last one not raised after it
        [allocated()],
    ),
]
"""The monitor, what went before, what came after an open barrier, what is wrong if certain."""


@pytest.mark.parametrize(("monitor", "before", "sent", "after"), CASES)
def test_earlier_barrier_proves_nothing(
    monitor: str, before: Sequence[Part], sent: Sequence[Part], after: Sequence[Part]
) -> None:
    barriers = (*NODES_SYNCHRONISED, *APPS_SYNCHRONISED, *ASKS_SYNCHRONISED, *ASKS_SYNCHRONISED)

    assert violation(monitor, [*before, *sent, *after]) is None
    assert violation(monitor, [*before, *sent, *barriers, *after]) is not None


@pytest.mark.parametrize(
    "barriers",
    [
        pytest.param([TAKEN_BACK, END], id="the earlier one is taken back"),
        pytest.param([ANOTHER, ANSWER], id="a later one is not answered"),
    ],
)
def test_barrier_answer_of_other_stream_does_not_count(barriers: Sequence[Part]) -> None:
    parts = [allocated(), PREEMPTION, BARRIER, CONFIRMATION, *barriers, PREEMPTION]

    assert violation("ended_allocations_stay_ended", parts) is None


@pytest.mark.parametrize(
    ("monitor", "before", "after"),
    [
        ("ended_allocations_stay_ended", [allocated(), PREEMPTION, CONFIRMATION], [PREEMPTION]),
        ("nodes_are_not_overfilled", [NODE, OLD_ITSELF], [allocated()]),
        ("withdrawn_asks_are_not_allocated", [ASK, WITHDRAWAL], [allocated()]),
    ],
)
def test_request_on_ended_stream_stays_uncertain(
    monitor: str, before: Sequence[Part], after: Sequence[Part]
) -> None:
    ended = StreamEnded(UpdateKind.ALLOCATIONS, "INTERNAL", "it went wrong")
    barriers = (*ASKS_SYNCHRONISED, *ASKS_SYNCHRONISED)

    assert violation(monitor, [*before, ended, *barriers, *after]) is None
    assert violation(monitor, [*before, *barriers, ended, *after]) is not None


def test_answer_to_later_barrier_counts() -> None:
    answered = AskRejected("barrier-other", "absent", "?")
    parts = [allocated(), PREEMPTION, BARRIER, CONFIRMATION, ANOTHER, ANSWER, answered, PREEMPTION]

    assert violation("ended_allocations_stay_ended", parts) is not None


def violation(monitor: str, parts: Sequence[Part]) -> str | None:
    found = monitors.check(exchange_of(parts))
    return next(one.violation for one in found if one.monitor == monitor)
