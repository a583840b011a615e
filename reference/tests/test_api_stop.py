"""End of the API's service: no callback after stop()."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from patience import patient
from sireference.api import SchedulerAPI, SIError
from sireference.clock import VirtualClock
from siwire import REVISIONS, Capability, Revision
from tests.embedded import EmbeddedRM, Embedding, settled

STOPPING = [revision for revision in REVISIONS.values() if revision.can(Capability.API_STOP)]
OTHERS = [
    revision
    for revision in REVISIONS.values()
    if revision.can(Capability.THREE_UPDATE_STREAMS) and revision not in STOPPING
]
of_those_that_stop = pytest.mark.parametrize("revision", STOPPING, ids=str)


def embedded(revision: Revision) -> Embedding:
    return settled(revision, clock=VirtualClock())


# requirement: SI-CB-015
def test_which_revisions_have_stop() -> None:
    assert [revision.name for revision in STOPPING] == ["2024-10", "2026-04"]


# requirement: SI-CB-015
@of_those_that_stop
@pytest.mark.parametrize(
    "call",
    [
        lambda rm: rm.registers(),
        lambda rm: rm.creates("n2", memory=1),
        lambda rm: rm.submits("a2"),
        lambda rm: rm.asks("k1", memory=1),
        lambda rm: rm.api.update_configuration(rm.si.UpdateConfigurationRequest(rmID="rm")),
    ],
    ids=["register", "node", "application", "allocation", "configuration"],
)
def test_further_calls_are_refused_without_callback(
    revision: Revision, call: Callable[[Embedding], object]
) -> None:
    rm = embedded(revision)
    rm.api.stop()
    received = len(rm.rm.received)

    with pytest.raises(SIError, match="the scheduler was stopped"):
        call(rm)

    assert len(rm.rm.received) == received


# requirement: SI-CB-015
@of_those_that_stop
def test_no_deadline_fires_after_stop(revision: Revision) -> None:
    clock = VirtualClock()
    rm = settled(revision, clock=clock)
    rm.asks("k1", memory=1)
    rm.releases(rm.rm.allocations()[0])
    assert rm.api.next_deadline() is not None  # of the application, which is Completing
    received = len(rm.rm.received)

    rm.api.stop()
    clock.move_to(clock.now() + 100_000.0)
    rm.api.keep_deadlines()

    assert rm.api.next_deadline() is None
    assert len(rm.rm.received) == received


# requirement: SI-CB-015
@of_those_that_stop
def test_callback_that_stops_is_the_last_one(revision: Revision) -> None:
    rm = embedded(revision)
    received = len(rm.rm.received)

    def stop(_: Any) -> None:
        rm.api.stop()

    rm.rm.reacts = dict.fromkeys(("predicates", "send_event", "update_allocation"), stop)
    rm.asks("k1", memory=1)

    assert len(rm.rm.received) == received + 1


# requirement: SI-CB-015
@of_those_that_stop
def test_rest_of_an_answer_is_not_reported(revision: Revision) -> None:
    rm = embedded(revision)
    for number in range(3):
        rm.asks(f"k{number}", memory=1)
    rm.rm.received.clear()
    rm.rm.reacts = {"update_application": lambda _: rm.api.stop()}

    request = rm.si.ApplicationRequest(
        rmID="rm",
        new=[rm.si.AddApplicationRequest(applicationID="a2", queueName="root.default")],
        remove=[rm.si.RemoveApplicationRequest(applicationID="a1")],
    )
    rm.api.update_application(request)

    assert rm.rm.methods()[-1] == "update_application"
    assert rm.rm.methods().count("update_application") == 1


# requirement: SI-CB-015
@of_those_that_stop
def test_stop_waits_for_the_running_callback(revision: Revision) -> None:
    rm = embedded(revision)
    expect, may_go_on = threading.Event(), threading.Event()

    def linger(_: Any) -> None:
        expect.set()
        may_go_on.wait(patient())

    rm.rm.reacts = {"update_node": linger}
    caller = threading.Thread(target=rm.creates, args=("n2",), kwargs={"memory": 1})
    caller.start()
    assert expect.wait(patient())
    stopper = threading.Thread(target=rm.api.stop)
    stopper.start()
    assert stopper.is_alive()

    may_go_on.set()
    stopper.join(patient())
    received = len(rm.rm.received)
    caller.join(patient())

    assert not stopper.is_alive()
    assert len(rm.rm.received) == received


@of_those_that_stop
def test_stop_may_be_repeated_and_leaves_nothing(revision: Revision) -> None:
    rm = embedded(revision)
    rm.asks("k1", memory=1)

    rm.api.stop()
    rm.api.stop()
    rm.api.close()

    assert "k1" not in rm.api.state_dump()
    assert "pods" not in rm.api.state_dump()


# requirement: SI-CB-015
@pytest.mark.parametrize("revision", OTHERS, ids=str)
def test_other_revisions_have_no_stop(revision: Revision) -> None:
    with SchedulerAPI(revision, clock=VirtualClock()) as api:
        rm = Embedding(api, EmbeddedRM()).settles()

        with pytest.raises(ValueError, match="has no call Stop"):
            api.stop()

        rm.asks("k1", memory=1)
    assert rm.rm.allocations()
