"""A reported allocation is recovered once a later barrier is answered, and reported once."""

from siconform.monitors.recovered_allocations import TakenOver
from siconform.protocol.requests import ExistingAllocationRequest

from .sample_histories import ASKS_SYNCHRONISED, allocated, exchange_of

BARRIER, ANSWER = ASKS_SYNCHRONISED
REPORT = ExistingAllocationRequest(allocated())


def test_later_barrier_reports_recovery_once() -> None:
    taken = TakenOver()
    sent = (BARRIER, REPORT, ANSWER, BARRIER, ANSWER, BARRIER, ANSWER)

    received = [list(taken.observe(entry)) for entry in exchange_of(sent).entries()]

    assert received == [[], [], [], [], [allocated()], [], []]
