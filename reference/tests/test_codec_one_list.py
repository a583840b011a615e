"""The codec where asks are allocations: differences from earlier revisions, both ways."""

import pytest
from sireference.codec import codec_for
from sireference.core import model
from sireference.core.resources import Resource
from sireference.core.states import NodeAction, TerminationType
from siwire import REVISIONS, Revision
from tests.coding import TERMINATIONS, read, resource, write

REVISED = [REVISIONS["2024-10"], REVISIONS["2026-04"]]
both_revisions = pytest.mark.parametrize("revision", REVISED, ids=str)

FULL = model.Ask(
    key="k",
    application_id="a",
    partition="p",
    resource=Resource({"memory": -5, "gpu": 0}),
    priority=-7,
    tags={"t": "v", "yunikorn.apache.org/requiredNode": "n9"},
    task_group="tg",
    placeholder=True,
    originator=True,
    preemption_policy=model.PreemptionPolicy(allow_preempt_self=True),
    required_node="n9",
)


def full(revision: Revision, node_id: str = "") -> object:
    si = revision.si
    return si.Allocation(
        allocationKey="k",
        applicationID="a",
        partitionName="p",
        nodeID=node_id,
        resourcePerAlloc=resource(si, memory=-5, gpu=0),
        priority=-7,
        allocationTags={"t": "v", "yunikorn.apache.org/requiredNode": "n9"},
        taskGroupName="tg",
        placeholder=True,
        originator=True,
        preemptionPolicy=si.PreemptionPolicy(allowPreemptSelf=True),
    )


@both_revisions
def test_entry_without_node_is_an_ask(revision: Revision) -> None:
    (ask,) = read(revision, "UpdateAllocation", allocations=[full(revision)]).entries

    assert ask == FULL
    assert ask.resource.amounts == {"memory": -5, "gpu": 0}


@both_revisions
def test_entry_with_node_is_an_existing_allocation(revision: Revision) -> None:
    (record,) = read(revision, "UpdateAllocation", allocations=[full(revision, "n")]).entries

    assert record == model.AllocationRecord("k", FULL, "n")


@both_revisions
def test_empty_entry_is_an_empty_ask(revision: Revision) -> None:
    (ask,) = read(revision, "UpdateAllocation", allocations=[revision.si.Allocation()]).entries

    assert ask == model.Ask("", "", "default")
    assert ask.preemption_policy is None


# requirement: SI-GANG-028
@both_revisions
def test_placeholder_without_group_is_a_normal_ask(revision: Revision) -> None:
    allocation = revision.si.Allocation
    asked, existing = read(
        revision,
        "UpdateAllocation",
        allocations=[allocation(placeholder=True), allocation(placeholder=True, nodeID="n")],
    ).entries

    assert not asked.placeholder
    assert not existing.ask.placeholder


# requirement: SI-FOR-007
@both_revisions
@pytest.mark.parametrize(
    ("kind", "is_static"), [("static", True), ("default", False), ("", False), ("odd", False)]
)
@pytest.mark.parametrize("node_id", ["n", ""])
def test_entry_with_the_foreign_tag_is_foreign(
    revision: Revision,
    kind: str,
    is_static: bool,  # noqa: FBT001  # the expected value
    node_id: str,
) -> None:
    si = revision.si
    message = si.Allocation(
        allocationKey="k",
        applicationID="by mistake",
        nodeID=node_id,
        partitionName="p",
        resourcePerAlloc=resource(si, memory=5),
        allocationTags={"foreign": kind},
    )

    (foreign,) = read(revision, "UpdateAllocation", allocations=[message]).entries

    assert foreign == model.ForeignAllocation(
        key="k",
        node_id=node_id,
        partition="p",
        resource=Resource({"memory": 5}),
        is_static=is_static,
        application_id="by mistake",
    )


@both_revisions
def test_all_kinds_keep_the_order_of_the_list(revision: Revision) -> None:
    allocation = revision.si.Allocation
    event = read(
        revision,
        "UpdateAllocation",
        allocations=[
            allocation(allocationKey="k1"),
            allocation(allocationKey="k2", nodeID="n"),
            allocation(allocationKey="k3", allocationTags={"foreign": ""}),
            allocation(allocationKey="k4"),
        ],
    )

    kinds = [model.Ask, model.AllocationRecord, model.ForeignAllocation, model.Ask]
    assert [type(entry) for entry in event.entries] == kinds
    assert (event.asks, event.allocations, event.ask_releases, event.releases) == ((), (), (), ())


@both_revisions
@pytest.mark.parametrize(("number", "meant"), TERMINATIONS)
def test_release_fields_are_read(revision: Revision, number: int, meant: TerminationType) -> None:
    si = revision.si
    common = {"partitionName": "p", "applicationID": "a", "message": "m"}
    of_one, of_all = (
        si.AllocationRelease(**common, terminationType=number, allocationKey=key)
        for key in ("k", "")
    )
    event = read(
        revision,
        "UpdateAllocation",
        releases=si.AllocationReleasesRequest(allocationsToRelease=[of_one, of_all]),
    )

    assert event.releases == (
        model.ReleaseRequest("p", model.OneOfKey("a", "k"), meant, "m"),
        model.ReleaseRequest("p", model.AskedAndHeld("a"), meant, "m"),
    )


# requirement: SI-WIRE-010
@both_revisions
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_asks_and_allocations_are_released_in_one_list(revision: Revision, number: int) -> None:
    kind = list(TerminationType)[number]
    of_allocation = model.Release("p", "a", "k", kind, "k", "m")
    of_ask = model.AskRelease("p", "a", "k2", kind, "m2")

    (response,) = write(
        revision, model.ReleasedAllocation("rm", of_allocation), model.ReleasedAsk("rm", of_ask)
    )

    common = {"partitionName": "p", "applicationID": "a", "terminationType": number}
    release = revision.si.AllocationRelease
    assert list(response.released) == [
        release(**common, allocationKey="k", message="m"),
        release(**common, allocationKey="k2", message="m2"),
    ]


@both_revisions
def test_all_rejections_are_in_one_list(revision: Revision) -> None:
    (response,) = write(
        revision,
        model.RejectedAsk("rm", "k1", "a", "why"),
        model.RejectedAllocation("rm", "k2", "a", "so"),
    )

    rejection = revision.si.RejectedAllocation
    assert list(response.rejectedAllocations) == [
        rejection(allocationKey="k1", applicationID="a", reason="why"),
        rejection(allocationKey="k2", applicationID="a", reason="so"),
    ]


# requirement: SI-WIRE-016
@both_revisions
def test_reserved_numbers_from_an_older_rm_are_ignored(revision: Revision) -> None:
    older, newer = REVISIONS["2023-12"].si, revision.si
    releases = older.AllocationReleasesRequest(
        allocationAsksToRelease=[older.AllocationAskRelease(applicationID="a", allocationKey="k")]
    )
    asks = [older.AllocationAsk(allocationKey="k", applicationID="a")]
    existing = [older.Allocation(allocationID="id", nodeID="n")]
    node = older.NodeInfo(
        nodeID="n", occupiedResource=resource(older, memory=1), existingAllocations=existing
    )

    sent = older.AllocationRequest(rmID="rm", asks=asks, releases=releases).SerializeToString()
    (event,) = codec_for(revision).events(
        "UpdateAllocation", newer.AllocationRequest.FromString(sent)
    )
    of_node = newer.NodeInfo.FromString(node.SerializeToString())
    (info,) = read(revision, "UpdateNode", nodes=[of_node]).nodes

    assert event == model.UpdateAllocations("rm")
    assert info == model.NodeInfo("n", NodeAction.UNSET)
