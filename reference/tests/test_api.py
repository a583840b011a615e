"""The SI as an in-process API: calls and callbacks."""

import inspect
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from patience import patient
from sireference.api import (
    OneStreamAPI,
    PreemptionPredicatesPlugin,
    ResourceManagerCallback,
    SchedulerAPI,
    SIError,
    StateDumpPlugin,
)
from sireference.clock import VirtualClock
from siwire import DEFAULT_REVISION, REVISIONS, Revision
from tests.embedded import QUEUES, EmbeddedRM, Embedding, PlainRM, Recorder, refuse, settled

LATER = [revision for name, revision in REVISIONS.items() if name != "2021-02"]
PAGE = Path(__file__).parents[2] / "docs" / "api.md"
OLDEST = REVISIONS["2021-02"]
TIMEOUT = patient()  # seconds, where another thread has to act

of_later_revisions = pytest.mark.parametrize("revision", LATER, ids=str)


@pytest.fixture
def rm() -> Embedding:
    return settled(DEFAULT_REVISION, clock=VirtualClock())


def calls_of(kind: type) -> dict[str, list[str]]:
    """Return the public methods of ``kind`` and its protocols, with their parameters."""
    return {
        name: [
            parameter for parameter in inspect.signature(method).parameters if parameter != "self"
        ]
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


# requirement: SI-CB-012
def test_api_has_the_six_calls_of_the_si() -> None:
    alongside = {"close", "keep_deadlines", "next_deadline", "state_dump"}

    calls = calls_of(SchedulerAPI)

    assert {name: sent for name, sent in calls.items() if name not in alongside} == {
        "register_resource_manager": ["request", "callback"],
        "update_allocation": ["request"],
        "update_application": ["request"],
        "update_node": ["request"],
        "update_configuration": ["request"],
        "stop": [],
    }


# requirement: SI-CB-012
def test_callback_has_the_seven_methods_of_the_si() -> None:
    assert calls_of(ResourceManagerCallback) == {
        "update_allocation": ["response"],
        "update_application": ["response"],
        "update_node": ["response"],
        "predicates": ["args"],
        "preemption_predicates": ["args"],
        "send_event": ["events"],
        "update_container_scheduling_state": ["request"],
    }
    assert calls_of(StateDumpPlugin) == {"get_state_dump": []}


# requirement: SI-CB-012
@of_later_revisions
def test_call_is_answered_by_callback(revision: Revision) -> None:
    rm = Embedding(SchedulerAPI(revision, clock=VirtualClock()), EmbeddedRM())

    response = rm.registers()
    rm.creates("n1", memory=10)
    rm.submits("a1")
    rm.asks("k1", memory=3)
    (allocation,) = rm.rm.allocations()
    rm.releases(allocation)

    assert type(response) is revision.si.RegisterResourceManagerResponse
    assert [sent.accepted[0].nodeID for sent in rm.rm.messages("update_node")] == ["n1"]
    (accepted, *_) = rm.rm.messages("update_application")
    assert accepted.accepted[0].applicationID == "a1"
    assert (allocation.allocationKey, allocation.nodeID) == ("k1", "n1")
    (released,) = rm.rm.released()
    assert released.terminationType == revision.si.TerminationType.Value("STOPPED_BY_RM")


# requirement: SI-CB-012
@of_later_revisions
def test_invalid_call_raises_an_error_without_callback(revision: Revision) -> None:
    rm = Embedding(SchedulerAPI(revision, clock=VirtualClock()), EmbeddedRM())

    with pytest.raises(SIError, match="not registered"):
        rm.creates("n1", memory=10)
    with pytest.raises(SIError, match="1 error"):
        rm.registers(config="partitions: 7")
    with pytest.raises(SIError, match="no rmID"):
        Embedding(rm.api, rm.rm, rm_id="").registers()

    assert rm.rm.received == []


# requirement: SI-CB-012
def test_configuration_is_updated_atomically(rm: Embedding) -> None:
    def updates(config: str, group: str = "") -> None:
        request = rm.si.UpdateConfigurationRequest(rmID="rm", config=config, policyGroup=group)
        rm.api.update_configuration(request)

    with pytest.raises(SIError, match="1 error"):
        updates("partitions: 7")
    with pytest.raises(SIError, match="not registered with policy group"):
        updates(QUEUES, group="another")
    updates(QUEUES.replace("entitled", "renamed"))
    rm.submits("a2", "root.renamed")

    received = rm.rm.messages("update_application")
    assert [new.applicationID for sent in received for new in sent.accepted] == ["a1", "a2"]


# requirement: SI-CB-002
def test_predicates_are_asked_and_an_error_excludes_the_node(rm: Embedding) -> None:
    rm.rm.reacts = {"predicates": refuse}

    rm.asks("k1", memory=3)

    (args,) = rm.rm.messages("predicates")
    assert (args.allocationKey, args.nodeID, args.allocate) == ("k1", "n1", True)
    assert rm.rm.allocations() == []


# requirement: SI-CB-005, SI-CB-007
@of_later_revisions
@pytest.mark.parametrize(("success", "index", "gone"), [(True, 1, 2), (True, 2, 3), (False, 2, 0)])
def test_preemption_predicates_are_asked_and_followed(
    revision: Revision,
    success: bool,  # noqa: FBT001  # an answer
    index: int,
    gone: int,
) -> None:
    clock = VirtualClock()
    rm = settled(revision, clock=clock)
    answer = rm.si.PreemptionPredicatesResponse(success=success, index=index)
    rm.rm.reacts = {"preemption_predicates": lambda _: answer}
    victims = [f"v{number}" for number in range(10)]
    for victim in victims:
        rm.asks(victim, memory=1)
    rm.submits("entitled", "root.entitled")

    rm.asks("k1", "entitled", memory=2)
    clock.move_to(clock.now() + 0.5)
    rm.api.keep_deadlines()

    (args,) = rm.rm.messages("preemption_predicates")
    assert (args.allocationKey, args.nodeID, args.startIndex) == ("k1", "n1", 1)
    assert set(args.preemptAllocationKeys) == set(victims)
    assert len(rm.rm.released()) == gone


# requirement: SI-CB-009
@of_later_revisions
def test_events_and_container_states_are_reported(revision: Revision) -> None:
    rm = settled(revision, clock=VirtualClock())

    rm.asks("k1", memory=50)

    (state,) = rm.rm.messages("update_container_scheduling_state")
    failed = revision.si.UpdateContainerSchedulingStateRequest.FAILED
    assert (state.allocationKey, state.state) == ("k1", failed)
    assert {record.objectID for record in rm.rm.messages("send_event")} >= {"n1", "a1"}


# requirement: SI-CB-004
def test_unimplemented_callbacks_are_not_called() -> None:
    plain: Any = PlainRM()
    rm = Embedding(SchedulerAPI(DEFAULT_REVISION, clock=VirtualClock()), plain).settles()

    rm.asks("k1", memory=3)

    assert set(plain.methods()) == {"update_node", "update_application", "update_allocation"}
    assert not isinstance(plain, PreemptionPredicatesPlugin)


# requirement: SI-CB-001
def test_new_registration_replaces_the_callback(rm: Embedding) -> None:
    first, second = rm.rm, EmbeddedRM()
    before = len(first.received)

    rm.registers(second)
    rm.creates("n2", memory=10)

    assert len(first.received) == before
    assert "update_node" in second.methods()


# requirement: SI-CB-001
def test_pending_callbacks_of_the_earlier_registration_are_dropped(rm: Embedding) -> None:
    first, second = rm.rm, EmbeddedRM()
    first.reacts = {"update_application": lambda _: rm.registers(second)}

    rm.asks("k1", memory=3)

    assert first.allocations() == []
    assert "update_allocation" not in second.methods()


def test_two_rms_receive_only_their_own_callbacks(rm: Embedding) -> None:
    other = Embedding(rm.api, EmbeddedRM(), rm_id="other").settles()

    rm.asks("k1", memory=3)
    other.asks("k2", memory=3)

    assert [new.allocationKey for new in rm.rm.allocations()] == ["k1"]
    assert [new.allocationKey for new in other.rm.allocations()] == ["k2"]


def test_scheduler_can_be_called_from_a_callback(rm: Embedding) -> None:
    def ends(response: Any) -> None:
        for new in response.new:
            rm.releases(new)

    rm.rm.reacts = {"update_allocation": ends}

    rm.asks("k1", memory=3)

    assert [len(sent.new) for sent in rm.rm.messages("update_allocation")] == [1, 0]
    assert len(rm.rm.released()) == 1
    assert rm.rm.overlaps == 0


def test_call_refused_inside_a_callback_raises_there(rm: Embedding) -> None:
    stranger = Embedding(rm.api, EmbeddedRM(), rm_id="stranger")
    errors: list[str] = []

    def implements(_: Any) -> None:
        with pytest.raises(SIError) as raised:
            stranger.creates("n9", memory=1)
        errors.append(str(raised.value))

    rm.rm.reacts = {"update_allocation": implements}
    rm.asks("k1", memory=3)

    assert errors == ["resource manager 'stranger' is not registered"]


def test_callback_error_is_logged_and_changes_nothing(
    rm: Embedding, caplog: pytest.LogCaptureFixture
) -> None:
    rm.rm.reacts = {"update_allocation": refuse}

    rm.asks("k1", memory=3)
    rm.asks("k2", memory=3)

    assert len(rm.rm.allocations()) == 2
    assert "update_allocation of the resource manager: not here" in caplog.text


def test_other_exception_leaves_the_call_and_loses_no_callback(rm: Embedding) -> None:
    def breaks(_: Any) -> None:
        rm.rm.reacts = {}
        raise ZeroDivisionError

    rm.rm.reacts = {"update_application": breaks}
    with pytest.raises(ZeroDivisionError):
        rm.asks("k1", memory=3)

    rm.asks("k2", memory=3)

    assert [new.allocationKey for new in rm.rm.allocations()] == ["k1", "k2"]


def test_failing_predicate_is_a_refusal(rm: Embedding) -> None:
    def breaks(_: Any) -> None:
        raise ZeroDivisionError

    rm.rm.reacts = {"predicates": breaks}
    with pytest.raises(ZeroDivisionError):
        rm.asks("k1", memory=3)
    rm.rm.reacts = {}

    rm.asks("k2", memory=3)

    assert [new.allocationKey for new in rm.rm.allocations()] == ["k2"]


def test_callbacks_are_serialised_across_threads(rm: Embedding) -> None:
    another = threading.Thread(target=rm.asks, args=("k2",), kwargs={"memory": 3})
    waited: list[bool] = []

    def is_slow(_: Any) -> None:
        rm.rm.reacts = {}
        another.start()
        another.join(0.2)
        waited.append(another.is_alive())

    rm.rm.reacts = {"update_allocation": is_slow}

    rm.asks("k1", memory=3)
    another.join(TIMEOUT)

    assert waited == [True], "the other call is served when this one is over"
    assert [new.allocationKey for new in rm.rm.allocations()] == ["k1", "k2"]
    assert rm.rm.overlaps == 0


def test_message_of_another_revision_is_refused(rm: Embedding) -> None:
    ours = DEFAULT_REVISION.name
    for other in (REVISIONS["2023-08"], OLDEST):
        with pytest.raises(TypeError, match=f"a RegisterResourceManagerRequest of {ours}"):
            rm.api.register_resource_manager(other.si.RegisterResourceManagerRequest(), rm.rm)
    with pytest.raises(TypeError, match=f"AllocationRequest of {ours} is needed, not NodeReq"):
        rm.api.update_allocation(rm.si.NodeRequest())
    with pytest.raises(TypeError, match="an UpdateConfigurationRequest"):
        rm.api.update_configuration(rm.si.NodeRequest())


def test_state_dump_includes_that_of_the_rm(rm: Embedding) -> None:
    dump = json.loads(rm.api.state_dump())

    (held,) = dump["resource_managers"]
    assert (dump["revision"], held["rm_id"]) == (DEFAULT_REVISION.name, "rm")
    assert [node["node_id"] for node in held["nodes"]] == ["n1"]
    assert dump["dumps"] == {"rm": {"pods": 3}}


@pytest.mark.parametrize("sent", ["{", None], ids=["no JSON", "an error"])
def test_failed_state_dump_of_the_rm_has_a_reason(
    rm: Embedding, monkeypatch: pytest.MonkeyPatch, sent: str | None
) -> None:
    def dump(_: EmbeddedRM) -> str:
        if sent is None:
            raise SIError("busy")
        return sent

    monkeypatch.setattr(EmbeddedRM, "get_state_dump", dump)

    (error,) = json.loads(rm.api.state_dump())["dumps"].values()

    assert list(error) == ["error"]


class OneStreamRM(Recorder):
    """An RM of 2021-02 that takes all callbacks."""

    def recv_update_response(self, response: Any) -> None:
        self.take("recv_update_response", response)

    def predicates(self, args: Any) -> None:
        self.take("predicates", args)

    def re_sync_scheduler_cache(self, args: Any) -> None:
        self.take("re_sync_scheduler_cache", args)


# requirement: SI-CB-011
def test_api_of_2021_02_has_one_update_and_one_callback() -> None:
    si: Any = OLDEST.si
    api, rm = OneStreamAPI(OLDEST, clock=VirtualClock()), OneStreamRM()
    quantity = si.Resource(resources={"memory": si.Quantity(value=3)})
    new = si.NewNodeInfo(nodeID="n1", schedulableResource=quantity)
    application = si.AddApplicationRequest(applicationID="a1", queueName="root.default")
    ask = si.AllocationAsk(
        allocationKey="k1", applicationID="a1", resourceAsk=quantity, maxAllocations=1
    )

    response = api.register_resource_manager(si.RegisterResourceManagerRequest(rmID="rm"), rm)
    api.update(
        si.UpdateRequest(
            rmID="rm", newSchedulableNodes=[new], newApplications=[application], asks=[ask]
        )
    )

    assert type(response) is si.RegisterResourceManagerResponse
    received = rm.messages("recv_update_response")
    assert [one.nodeID for sent in received for one in sent.newAllocations] == ["n1"]
    assert len(rm.messages("predicates")) == 1
    (cache,) = rm.messages("re_sync_scheduler_cache")
    assert [(one.allocationKey, one.nodeID) for one in cache.assumedAllocations] == [("k1", "n1")]
    with pytest.raises(SIError, match="not registered"):
        api.update(si.UpdateRequest(rmID="stranger"))


def test_revision_has_one_of_the_two_apis() -> None:
    with pytest.raises(ValueError, match="OneStreamAPI"):
        SchedulerAPI(OLDEST)
    with pytest.raises(ValueError, match="SchedulerAPI"):
        OneStreamAPI(DEFAULT_REVISION)


def test_example_in_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)

    exec(compile(example, str(PAGE), "exec"), {})  # noqa: S102  # our own code

    assert capsys.readouterr().out == "k1 runs on n2\n"
