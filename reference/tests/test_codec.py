"""The codec of revisions with three streams: every field of every message, both ways.

Differences in the revisions where asks are allocations are in `test_codec_one_list`.
"""

import pytest
from sireference.codec import codec_for
from sireference.core import model
from sireference.core.resources import Resource
from sireference.core.states import ApplicationState, NodeAction, TerminationType
from siwire import REVISIONS, Capability, Revision
from tests.coding import TERMINATIONS, read, resource, write
from tests.fields import has_field, identity_in, recovers_by_allocations

REVISED = [REVISIONS[name] for name in ("2023-04", "2023-08", "2023-12", "2024-10", "2026-04")]
APART = [revision for revision in REVISED if revision.can(Capability.ASKS_APART)]
every_revision = pytest.mark.parametrize("revision", REVISED, ids=str)
with_asks = pytest.mark.parametrize("revision", APART, ids=str)
NEWEST = APART[-1]


@with_asks
def test_ask_fields_are_read(revision: Revision) -> None:
    si = revision.si
    message = si.AllocationAsk(
        allocationKey="k",
        applicationID="a",
        partitionName="p",
        resourceAsk=resource(si, memory=-5, gpu=0),
        maxAllocations=-3,
        priority=-7,
        executionTimeoutMilliSeconds=1500,
        tags={"t": "v", "yunikorn.apache.org/requiredNode": "n9"},
        taskGroupName="tg",
        placeholder=True,
        Originator=True,
        preemptionPolicy=si.PreemptionPolicy(allowPreemptSelf=True),
    )

    (ask,) = read(revision, "UpdateAllocation", asks=[message]).asks

    assert ask == model.Ask(
        key="k",
        application_id="a",
        partition="p",
        resource=Resource({"memory": -5, "gpu": 0}),
        max_allocations=-3,
        priority=-7,
        execution_timeout=1.5,
        tags={"t": "v", "yunikorn.apache.org/requiredNode": "n9"},
        task_group="tg",
        placeholder=True,
        originator=True,
        preemption_policy=model.PreemptionPolicy(allow_preempt_self=True),
        required_node="n9",
    )
    assert ask.resource.amounts == {"memory": -5, "gpu": 0}


@with_asks
def test_empty_ask_has_default_values(revision: Revision) -> None:
    (ask,) = read(revision, "UpdateAllocation", asks=[revision.si.AllocationAsk()]).asks

    assert ask == model.Ask("", "", "default", max_allocations=0)
    assert ask.preemption_policy is None


# requirement: SI-GANG-028
@with_asks
def test_placeholder_without_group_is_a_normal_ask(revision: Revision) -> None:
    si = revision.si
    event = read(
        revision,
        "UpdateAllocation",
        asks=[si.AllocationAsk(placeholder=True)],
        **(
            {"allocations": [si.Allocation(placeholder=True)]}
            if recovers_by_allocations(revision)
            else {}
        ),
    )

    assert [ask.placeholder for ask in event.asks] == [False]
    assert [one.ask.placeholder for one in event.allocations] in ([], [False])


@pytest.mark.parametrize("revision", APART[1:], ids=str)
def test_existing_allocation_fields_are_read(revision: Revision) -> None:
    si = revision.si
    has_policy = has_field(revision, "Allocation", "preemptionPolicy")
    more = (
        {"originator": True, "preemptionPolicy": si.PreemptionPolicy(allowPreemptOther=True)}
        if has_policy
        else {}
    )
    message = si.Allocation(
        allocationKey="k",
        applicationID="a",
        partitionName="p",
        nodeID="n",
        resourcePerAlloc=resource(si, memory=5),
        priority=3,
        allocationTags={"t": "v"},
        taskGroupName="tg",
        placeholder=True,
        **{identity_in(revision): "id", **more},
    )

    (allocation,) = read(revision, "UpdateAllocation", allocations=[message]).allocations

    policy = model.PreemptionPolicy(allow_preempt_other=True) if has_policy else None
    ask = model.Ask(
        key="k",
        application_id="a",
        partition="p",
        resource=Resource({"memory": 5}),
        priority=3,
        tags={"t": "v"},
        task_group="tg",
        placeholder=True,
        originator=has_policy,
        preemption_policy=policy,
    )
    assert allocation == model.AllocationRecord("id", ask, "n")


@with_asks
@pytest.mark.parametrize(("number", "meant"), TERMINATIONS)
def test_release_fields_are_read(revision: Revision, number: int, meant: TerminationType) -> None:
    si = revision.si
    common = {"partitionName": "p", "applicationID": "a", "allocationKey": "k", "message": "m"}
    event = read(
        revision,
        "UpdateAllocation",
        releases=si.AllocationReleasesRequest(
            allocationsToRelease=[
                si.AllocationRelease(
                    **common, terminationType=number, **{identity_in(revision): "id"}
                )
            ],
            allocationAsksToRelease=[si.AllocationAskRelease(**common, terminationType=number)],
        ),
    )

    assert event.releases == (
        model.ReleaseRequest("p", model.OneAllocation("a", "id", "k"), meant, "m"),
    )
    assert event.ask_releases == (
        model.AskReleaseRequest("p", model.OneOfKey("a", "k"), meant, "m"),
    )


@every_revision
def test_node_fields_are_read(revision: Revision) -> None:
    si = revision.si
    attributes = {"si/node-partition": "p", "zone": "z"}
    message = si.NodeInfo(
        nodeID="n",
        action=si.NodeInfo.CREATE,
        attributes=attributes,
        schedulableResource=resource(si, memory=9),
    )
    is_apart = revision in APART
    if is_apart:
        message.occupiedResource.SetInParent()
        message.existingAllocations.add(nodeID="n", **{identity_in(revision): "id"})

    full, empty = read(revision, "UpdateNode", nodes=[message, si.NodeInfo()]).nodes

    assert full == model.NodeInfo(
        node_id="n",
        action=NodeAction.CREATE,
        partition="p",
        attributes=attributes,
        capacity=Resource({"memory": 9}),
        occupied=Resource() if is_apart else None,
        allocations=(model.AllocationRecord("id", model.Ask("", ""), "n"),) if is_apart else (),
    )
    assert empty == model.NodeInfo("", NodeAction.UNSET)


@pytest.mark.parametrize(
    ("revision", "number", "meant"),
    [
        *[(revision, 1, NodeAction.CREATE) for revision in REVISED],
        *[(revision, 2, NodeAction.UPDATE) for revision in REVISED],
        *[(revision, 3, NodeAction.DRAIN_NODE) for revision in REVISED],
        *[(revision, 4, NodeAction.DECOMMISSION) for revision in REVISED],
        *[(revision, 5, NodeAction.DRAIN_TO_SCHEDULABLE) for revision in REVISED],
        (REVISED[0], 6, NodeAction.UNSET),
        *[(revision, 6, NodeAction.CREATE_DRAIN) for revision in REVISED[1:]],
        (NEWEST, 77, NodeAction.UNSET),
    ],
)
def test_node_actions_are_read_by_number(
    revision: Revision, number: int, meant: NodeAction
) -> None:
    (info,) = read(revision, "UpdateNode", nodes=[revision.si.NodeInfo(action=number)]).nodes

    assert info.action is meant


@every_revision
def test_application_fields_are_read(revision: Revision) -> None:
    si = revision.si
    message = si.AddApplicationRequest(
        applicationID="a",
        queueName="q",
        partitionName="p",
        ugi=si.UserGroupInformation(user="u", groups=["g", "h"]),
        tags={"t": "v"},
        executionTimeoutMilliSeconds=-1,
        placeholderAsk=resource(si, memory=4),
        gangSchedulingStyle="Hard",
    )
    removal = si.RemoveApplicationRequest(applicationID="r", partitionName="p")

    event = read(
        revision,
        "UpdateApplication",
        new=[message, si.AddApplicationRequest()],
        remove=[removal, si.RemoveApplicationRequest()],
    )

    assert event.new == (
        model.NewApplication(
            application_id="a",
            queue="q",
            partition="p",
            user="u",
            groups=("g", "h"),
            tags={"t": "v"},
            execution_timeout=-0.001,
            placeholder_ask=Resource({"memory": 4}),
            gang_style="Hard",
        ),
        model.NewApplication(""),
    )
    assert event.remove == (model.RemoveApplication("r", "p"), model.RemoveApplication(""))


@every_revision
def test_registration_fields_are_read(revision: Revision) -> None:
    message = revision.si.RegisterResourceManagerRequest(
        rmID="rm",
        version="v",
        policyGroup="pg",
        buildInfo={"b": "i"},
        config="partitions: [{name: default, queues: [{name: only}]}]",
        extraConfig={"e": "c"},
    )

    event = codec_for(revision).register(message)

    assert (event.rm_id, event.version, event.policy_group) == ("rm", "v", "pg")
    assert (event.build_info, event.extra_config) == ({"b": "i"}, {"e": "c"})
    assert [queue.name for queue in event.configuration.partitions[0].root.queues] == ["only"]


@every_revision
def test_new_allocation_fields_are_written(revision: Revision) -> None:
    ask = model.Ask(
        key="k",
        application_id="a",
        partition="p",
        resource=Resource({"memory": 2**63 - 1, "gpu": 0}),
        priority=-7,
        tags={"t": "v"},
        task_group="tg",
        placeholder=True,
        originator=True,
        preemption_policy=model.PreemptionPolicy(),
    )

    identity = "id" if revision in APART else "k"
    record = model.AllocationRecord(identity, ask, "n")
    (response,) = write(revision, model.NewAllocation("rm", record))

    (sent,) = response.new
    assert getattr(sent, identity_in(revision)) == identity
    assert (sent.allocationKey, sent.applicationID, sent.nodeID) == ("k", "a", "n")
    assert (sent.partitionName, sent.priority) == ("p", -7)
    assert {name: q.value for name, q in sent.resourcePerAlloc.resources.items()} == {
        "memory": 2**63 - 1,
        "gpu": 0,
    }
    assert dict(sent.allocationTags) == {"t": "v"}
    assert (sent.taskGroupName, sent.placeholder) == ("tg", True)
    if has_field(revision, "Allocation", "preemptionPolicy"):
        assert sent.originator
        assert sent.HasField("preemptionPolicy")


@pytest.mark.parametrize("revision", REVISED[2:], ids=str)
def test_preemption_policy_is_written_as_in_the_ask(revision: Revision) -> None:
    policy = model.PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)
    asks = [model.Ask("k", "a", preemption_policy=policy), model.Ask("k", "a")]

    records = [model.AllocationRecord("k", ask, "n") for ask in asks]
    (response,) = write(revision, *[model.NewAllocation("rm", record) for record in records])

    asked, plain = response.new
    assert asked.preemptionPolicy.allowPreemptSelf
    assert asked.preemptionPolicy.allowPreemptOther
    assert not plain.HasField("preemptionPolicy")


# requirement: SI-WIRE-010
@with_asks
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_release_fields_are_written(revision: Revision, number: int) -> None:
    kind = list(TerminationType)[number]

    released, asks = (
        *write(
            revision, model.ReleasedAllocation("rm", model.Release("p", "a", "id", kind, "k", "m"))
        ),
        *write(revision, model.ReleasedAsk("rm", model.AskRelease("p", "a", "k", kind, "m"))),
    )

    (sent,) = released.released
    assert getattr(sent, identity_in(revision)) == "id"
    assert (sent.partitionName, sent.applicationID, sent.allocationKey) == ("p", "a", "k")
    assert (sent.terminationType, sent.message) == (number, "m")
    (ask,) = asks.releasedAsks
    assert (ask.partitionName, ask.applicationID, ask.allocationKey) == ("p", "a", "k")
    assert (ask.terminationType, ask.message) == (number, "m")


@every_revision
def test_verdicts_and_updates_are_written(revision: Revision) -> None:
    (accepted,) = write(revision, model.AcceptedNode("rm", "n"))
    (rejected,) = write(revision, model.RejectedNode("rm", "n", "why"))
    assert accepted.accepted[0].nodeID == "n"
    assert (rejected.rejected[0].nodeID, rejected.rejected[0].reason) == ("n", "why")

    (accepted,) = write(revision, model.AcceptedApplication("rm", "a"))
    (rejected,) = write(revision, model.RejectedApplication("rm", "a", "why"))
    (updated,) = write(
        revision, model.UpdatedApplication("rm", "a", ApplicationState.RUNNING, 1.5, "m")
    )
    assert accepted.accepted[0].applicationID == "a"
    assert (rejected.rejected[0].applicationID, rejected.rejected[0].reason) == ("a", "why")
    (update,) = updated.updated
    assert (update.applicationID, update.state, update.message) == ("a", "Running", "m")
    assert update.stateTransitionTimestamp == 1_500_000_000


def test_rejections_have_separate_lists() -> None:
    (asks,) = write(NEWEST, model.RejectedAsk("rm", "k", "a", "why"))
    (allocations,) = write(NEWEST, model.RejectedAllocation("rm", "k", "a", "why"))
    for sent in (asks.rejected[0], allocations.rejectedAllocations[0]):
        assert (sent.allocationKey, sent.applicationID, sent.reason) == ("k", "a", "why")


# requirement: SI-CONN-014
def test_each_effect_goes_to_the_stream_of_its_kind() -> None:
    codec = codec_for(NEWEST)
    release = model.Release("p", "a", "id", TerminationType.STOPPED_BY_RM)

    assert codec.method_of(model.RejectedNode("rm", "n", "")) == "UpdateNode"
    assert codec.method_of(model.RejectedApplication("rm", "a", "")) == "UpdateApplication"
    assert codec.method_of(model.ReleasedAllocation("rm", release)) == "UpdateAllocation"


def test_consecutive_effects_of_one_kind_share_a_message_in_order() -> None:
    accepted, rejected = model.AcceptedNode("rm", "n1"), model.RejectedNode("rm", "n2", "why")

    responses = write(NEWEST, accepted, accepted, rejected, accepted)

    assert [(len(r.accepted), len(r.rejected)) for r in responses] == [(2, 0), (0, 1), (1, 0)]
    assert write(NEWEST, accepted)[0].accepted


def test_message_stays_below_the_client_limit() -> None:
    huge = model.AcceptedNode("rm", "x" * 700_000)

    responses = write(NEWEST, *[huge] * 9)

    assert sum(len(response.accepted) for response in responses) == 9
    assert max(response.ByteSize() for response in responses) < 2 * 2**20


# requirement: SI-REC-008
@pytest.mark.parametrize(
    ("revision", "has_words"), [("2023-04", False), ("2023-08", True), ("2023-12", True)]
)
def test_rejected_allocation_is_reported_where_the_revision_has_a_field(
    revision: str, *, has_words: bool
) -> None:
    rejected = model.RejectedAllocation("rm", "k", "a", "why")
    made = model.RejectedAsk("rm", "k2", "a", "why")

    responses = write(REVISIONS[revision], rejected, made)

    assert [ask.allocationKey for ask in responses[-1].rejected] == ["k2"]
    assert len(responses) == 1 + has_words
