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


ENDED, CONFIRMED = "ended_allocations_stay_ended", "confirmations_are_not_confirmed"
FULL, WITHDRAWN = "nodes_are_not_overfilled", "withdrawn_asks_are_not_allocated"
DRAINING, ABSENT = "draining_nodes_get_nothing_new", "nodes_of_allocations_exist"
REMOVED = "removed_applications_get_nothing"
PREEMPTED = [allocated(), PREEMPTION, BARRIER]

CASES = [
    (ENDED, PREEMPTED, [CONFIRMATION, ANSWER], [PREEMPTION]),
    (CONFIRMED, PREEMPTED, [CONFIRMATION, ANSWER], [PREEMPTION]),
    (CONFIRMED, PREEMPTED, [CONFIRMATION, ANSWER], [REMOVAL, released()]),
    (FULL, [NODE, BARRIER], [OLD_ITSELF, ANSWER], [allocated()]),
    (WITHDRAWN, [ASK, BARRIER], [WITHDRAWAL, ANSWER, *ASKS_SYNCHRONISED], [allocated()]),
    (DRAINING, [NODE, NODE_BARRIER], [DRAIN, NODE_ANSWER, *ASKS_SYNCHRONISED], [allocated()]),
    (ABSENT, [NODE, NODE_BARRIER], [DECOMMISSION, NODE_ANSWER, *ASKS_SYNCHRONISED], [allocated()]),
    (REMOVED, [APP, APP_BARRIER], [REMOVAL, APP_ANSWER, *ASKS_SYNCHRONISED], [allocated()]),
    # the last barrier was not raised after it
    (REMOVED, [APP], [REMOVAL, APP_BARRIER, BARRIER, APP_ANSWER, ANSWER], [allocated()]),
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

    assert violation(ENDED, parts) is None


@pytest.mark.parametrize(
    ("monitor", "before", "after"),
    [
        (ENDED, [allocated(), PREEMPTION, CONFIRMATION], [PREEMPTION]),
        (FULL, [NODE, OLD_ITSELF], [allocated()]),
        (WITHDRAWN, [ASK, WITHDRAWAL], [allocated()]),
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

    assert violation(ENDED, parts) is not None


def violation(monitor: str, parts: Sequence[Part]) -> str | None:
    found = monitors.check(exchange_of(parts))
    return next(one.violation for one in found if one.monitor == monitor)
