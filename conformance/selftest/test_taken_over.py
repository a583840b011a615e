"""A reported allocation is recovered once it was processed and a later barrier is answered."""

from collections.abc import Sequence

import pytest
from siconform.monitors.recovered_allocations import TakenOver
from siconform.protocol.notifications import NodeAccepted, StreamEnded, UpdateKind
from siconform.protocol.requests import ExistingAllocationRequest

from .sample_histories import ASKS_SYNCHRONISED, NODE, OLD, OLD_WITH_NODE, Part, exchange_of

BARRIER, ANSWER = ASKS_SYNCHRONISED
REPORT = ExistingAllocationRequest(OLD)
ACCEPTED = NodeAccepted("n")


def taken_over_with(parts: Sequence[Part]) -> list[int]:
    """Return the positions of the parts with which the allocation was taken over."""
    taken = TakenOver()
    received = [taken.observe(entry) for entry in exchange_of(parts).entries()]
    assert [one for found in received for one in found] in ([], [OLD])
    return [position for position, found in enumerate(received) if found]


@pytest.mark.parametrize(
    ("parts", "position"),
    [
        pytest.param([REPORT, *ASKS_SYNCHRONISED * 3], 4, id="second barrier"),
        pytest.param([BARRIER, REPORT, ANSWER, *ASKS_SYNCHRONISED * 3], 6, id="crossed"),
        pytest.param([OLD_WITH_NODE, ACCEPTED, *ASKS_SYNCHRONISED * 2], 3, id="node accepted"),
        pytest.param([OLD_WITH_NODE, *ASKS_SYNCHRONISED, ACCEPTED, BARRIER, ANSWER], 5, id="after"),
    ],
)
def test_recovered_once(parts: Sequence[Part], position: int) -> None:
    assert taken_over_with(parts) == [position]


def test_end_of_stream_may_lose_rejection() -> None:
    end = StreamEnded(UpdateKind.ALLOCATIONS)

    assert taken_over_with([OLD_WITH_NODE, ACCEPTED, end, *ASKS_SYNCHRONISED * 2]) == []
    assert taken_over_with([NODE, REPORT, *ASKS_SYNCHRONISED, end, *ASKS_SYNCHRONISED * 2]) == []


def test_echo_shows_that_report_was_processed() -> None:
    taken = TakenOver()
    report, *barrier = exchange_of([REPORT, *ASKS_SYNCHRONISED]).entries()

    taken.observe(report)
    taken.is_echoed(OLD)

    assert [list(taken.observe(entry)) for entry in barrier] == [[], [OLD]]
