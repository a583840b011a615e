"""What an RM reported is taken over once a later fence is answered, and is told so once."""

from siconform.monitors.recovered_allocations import TakenOver
from siconform.protocol.requests import ExistingAllocationRequest

from .told_histories import ASKS_FENCED, allocated, exchange_of

FENCE, ANSWER = ASKS_FENCED
REPORT = ExistingAllocationRequest(allocated())


def test_a_fence_of_before_shows_nothing_and_a_later_one_shows_it_once() -> None:
    taken = TakenOver()
    said = (FENCE, REPORT, ANSWER, FENCE, ANSWER, FENCE, ANSWER)

    told = [list(taken.hears(entry)) for entry in exchange_of(said).entries()]

    assert told == [[], [], [], [], [allocated()], [], []]
