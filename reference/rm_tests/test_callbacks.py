"""Callbacks: predicates, preemption predicates, container states, state dump."""

import json

import pytest
from rm_tests.driving import Driven, requested
from sirm.codec import codec_for
from sirm.core import callbacks
from sirm.core import model as m
from siwire import REVISIONS
from siwire.ext import extension_pb2 as ext
from siwire.r2021_02 import si_pb2 as si2102
from siwire.r2024_10 import si_pb2 as si

CODEC = codec_for(REVISIONS["2024-10"]).callbacks
OLDEST = codec_for(REVISIONS["2021-02"]).callbacks


def waits(rm: Driven, resource: dict[str, int], *allowed_nodes: str) -> str:
    rm.submits("a9", m.Group(resource, allowed_nodes=allowed_nodes))
    (key,) = requested(rm.accepts("a9"))
    return key


def call(kind: "ext.CallbackKind.ValueType", message: object) -> ext.ToRm:
    full_name = message.DESCRIPTOR.full_name  # type: ignore[attr-defined]  # a message
    data = message.SerializeToString()  # type: ignore[attr-defined]  # the same
    return ext.ToRm(call_id=7, kind=kind, payloads=[ext.SiPayload(full_name=full_name, data=data)])


# requirement: SI-CB-014
@pytest.mark.parametrize(("node_id", "is_ok"), [("n1", True), ("n2", False), ("n9", False)])
def test_a_container_may_go_to_its_allowed_nodes(rm: Driven, node_id: str, is_ok: bool) -> None:  # noqa: FBT001  # a parameter
    rm.has_node("n1")
    rm.has_node("n2")
    key = waits(rm, {"memory": 1}, "n1")
    args = si.PredicatesArgs(allocationKey=key, nodeID=node_id, allocate=True)

    answer = CODEC.answer(rm.rm.state, call(ext.PLACEMENT_CHECK, args))

    assert (answer.call_id, answer.ok, bool(answer.text)) == (7, is_ok, not is_ok)


def test_a_container_that_does_not_exist_may_go_nowhere(rm: Driven) -> None:
    rm.has_node("n1")

    assert callbacks.predicate(rm.rm.state, "k9", "n1") == 'there is no container "k9"'


# requirement: SI-CB-006
@pytest.mark.parametrize(
    ("memory", "start", "index"), [(25, 1, 1), (100, 1, 2), (100, 0, 2), (101, 1, None)]
)
def test_preemption_takes_as_many_victims_as_needed(
    rm: Driven, memory: int, start: int, index: int | None
) -> None:
    rm.has_node()
    rm.submits("a1", m.Group({"memory": 30}, members=3))
    victims = requested(rm.accepts("a1"))
    for key in victims:
        rm.allocates(key)
    args = si.PreemptionPredicatesArgs(
        allocationKey=waits(rm, {"memory": memory}),
        nodeID="n1",
        preemptAllocationKeys=victims,
        startIndex=start,
    )

    answer = CODEC.answer(rm.rm.state, call(ext.EVICTION_CHECK, args))

    found = si.PreemptionPredicatesResponse.FromString(answer.payload.data)
    assert (found.success, found.index) == (index is not None, index or 0)
    assert answer.payload.full_name == "si.v1.PreemptionPredicatesResponse"


# requirement: SI-CB-008
def test_repeated_container_states_change_nothing(rm: Driven) -> None:
    key = waits(rm, {"memory": 1})
    before = callbacks.state_dump(rm.rm.state)
    failed = si.UpdateContainerSchedulingStateRequest.FAILED
    update = si.UpdateContainerSchedulingStateRequest(allocationKey=key, state=failed)

    answers = [CODEC.answer(rm.rm.state, call(ext.CONTAINER_STATE, update)) for _ in range(100)]

    assert all(answer.ok for answer in answers)
    assert callbacks.state_dump(rm.rm.state) == before


# requirement: SI-CB-010
def test_the_state_dump_is_json(rm: Driven) -> None:
    rm.runs("a1")

    answer = CODEC.answer(rm.rm.state, ext.ToRm(call_id=1, kind=ext.RM_STATE_DUMP))

    assert json.loads(answer.text)["containers"]["a1-1"]["node"] == "n1"


# requirement: SI-CB-011
def test_in_2021_02_the_cache_is_taken(rm: Driven) -> None:
    args = si2102.ReSyncSchedulerCacheArgs()
    args.assumedAllocations.add(allocationKey="k1", nodeID="n1")

    assert OLDEST.answer(rm.rm.state, call(ext.CACHE_SYNC, args)).ok


# requirement: SI-CFG-007
def test_in_2021_02_a_configuration_is_saved_unless_it_is_invalid(rm: Driven) -> None:
    rm.cluster.configuration = "partitions: [c1]"
    found = []
    for text in ("partitions: [c2]", "partitions: ["):
        update = si2102.UpdateConfigurationRequest(configs=text)
        answer = OLDEST.answer(rm.rm.state, call(ext.STORE_CONFIGURATION, update))
        found.append(si2102.UpdateConfigurationResponse.FromString(answer.payload.data))

    assert [(one.success, bool(one.reason)) for one in found] == [(True, False), (False, True)]
    assert found[0].oldConfig == "partitions: [c1]"
    assert rm.cluster.configuration == "partitions: [c2]"


def test_a_callback_of_another_kind_is_refused(rm: Driven) -> None:
    args = si2102.ReSyncSchedulerCacheArgs()

    assert not CODEC.answer(rm.rm.state, call(ext.CACHE_SYNC, args)).ok
