"""Bad input in every revision: an answer or silence, never a crash, and consistent accounting."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis_profiles import examples
from sireference.codec import codec_for
from sireference.configuration.problems import ConfigurationError
from sireference.core import scheduling_pass
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    NewAllocation,
    Refused,
    Registered,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    ReleasedAllocation,
    ReleasedAsk,
    UpdatedApplication,
)
from sireference.core.scheduler import Scheduler
from siwire import REVISIONS, Capability, Revision
from tests.answering import Served
from tests.bad_input import INT32, INT64, Maker
from tests.example_settings import is_quick
from tests.fields import identified, identity_in
from tests.sessions import Speaker

REVISED = list(REVISIONS.values())
EVERY_KIND = {
    AcceptedNode,
    AcceptedApplication,
    NewAllocation,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    Refused,
    ReleasedAllocation,
    ReleasedAsk,
    UpdatedApplication,
}
every_revision = pytest.mark.parametrize("revision", REVISED, ids=str)


def play(revision: Revision, seeds: list[int]) -> Served:
    served = Served(revision)
    served.opens()
    for seed in seeds:
        if seed % 8 == 0:
            served.passes((seed % 5) * 9.0)
        elif seed % 8 <= 2:
            served.confirms(seed // 8)
        else:
            served.receives(*Maker(revision, seed, served.identities[-9:]).request())
        served.make_sense()
    return served


@every_revision
@given(seeds=st.lists(st.integers(0, 2**32), min_size=20, max_size=60))
@example(seeds=[*[0] * 18, 62364, 59071101])  # in 2021-02 more than one pass may be needed
@settings(max_examples=examples(40))
def test_survives_arbitrary_input(revision: Revision, seeds: list[int]) -> None:
    play(revision, seeds)


@every_revision
def test_random_messages_reach_every_kind_of_answer(revision: Revision) -> None:
    kinds: set[type] = set()
    for start in range(30):
        kinds |= play(revision, list(range(start * 1000, start * 1000 + 40))).kinds
        if kinds >= EVERY_KIND and is_quick():  # ci generates the rest as well
            break

    assert kinds >= EVERY_KIND


@every_revision
def test_any_registration_is_accepted_or_refused(revision: Revision) -> None:
    codec = codec_for(revision)
    outcomes: set[type] = set()
    for seed in range(300):
        message = Maker(revision, seed, ()).message("RegisterResourceManager")
        try:
            event = codec.register(message)
        except ConfigurationError as why:
            outcomes.add(type(why))
            continue
        outcomes |= {type(effect) for effect in Scheduler().handle(event, 1.0)}

    can_err = revision.can(Capability.CONFIGURATION_IN_REGISTRATION)
    assert outcomes == {Registered, Refused, *([ConfigurationError] if can_err else [])}


# requirement: SI-ASK-001
@pytest.mark.parametrize(
    "revision", [one for one in REVISED if one.can(Capability.ASKS_APART)], ids=str
)
def test_two_billion_allocations_do_not_block_other_rms(
    revision: Revision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling_pass, "_MOST_STEPS", 500)
    served = Served(revision)
    rm = Speaker(revision)
    served.receives(*rm.node("n1", INT64))
    served.receives(*rm.application("a1", gang=0))
    method, fields = rm.asks("a1", "k1", placeholder=False)
    fields["asks"][0].maxAllocations = INT32

    served.receives(method, fields)
    assert len(served.identities) == 500
    assert served.scheduler.next_deadline() == served.now
    served.passes(0.0)
    assert len(served.identities) == 1000

    remove = revision.si.RemoveApplicationRequest(applicationID="a1")
    if revision.can(Capability.ONE_UPDATE_STREAM):
        served.receives("Update", {"removeApplications": [remove]})
    else:
        served.receives("UpdateApplication", {"remove": [remove]})
    served.passes(0.0)
    served.make_sense()
    (partition,) = served.scheduler.rms.all()[0].partitions.values()
    assert not partition.allocations.all


# requirement: SI-RES-003
@every_revision
def test_sums_may_exceed_the_range_of_a_message_field(revision: Revision) -> None:
    served = Served(revision)
    rm = Speaker(revision)
    resource = revision.si.Resource(resources={"memory": revision.si.Quantity(value=INT64)})
    existing = [
        revision.si.Allocation(
            applicationID="a1",
            nodeID=node_id,
            resourcePerAlloc=resource,
            **identified(revision, f"{node_id}-{number}"),
        )
        for node_id in ("n1", "n2")
        for number in range(3)
    ]
    served.receives(*rm.application("a1", gang=0))
    for sent in rm.recovers("n1", INT64, *existing[:3]) + rm.recovers("n2", INT64, *existing[3:]):
        served.receives(*sent)
    served.receives(*rm.asks("a1", "k1", placeholder=False))
    if revision.can(Capability.ONE_UPDATE_STREAM):
        report = revision.si.UtilizationReport(ID="n1", actualUsedResource=resource)
        served.receives("Update", {"utilizationReports": [report]})

    served.make_sense()
    (partition,) = served.scheduler.rms.all()[0].partitions.values()
    assert len(partition.allocations.all) == 6
    served.receives(*rm.stops(*existing))
    assert len(partition.allocations.all) == 1


@every_revision
def test_ten_thousand_items_in_one_message(revision: Revision) -> None:
    served = Served(revision)
    rm = Speaker(revision)
    count = 10_000 if revision == REVISED[-1] else examples(10_000)

    def many(sent: tuple[str, dict[str, Any]], id_field: str) -> tuple[str, dict[str, Any]]:
        method, fields = sent
        ((name, (one,)),) = fields.items()
        items = []
        for number in range(count):
            item = type(one)()
            item.CopyFrom(one)
            setattr(item, id_field, f"{id_field}-{number}")
            items.append(item)
        return method, {name: items}

    served.receives(*many(rm.node("n", 2), "nodeID"))
    served.receives(*many(rm.application("a", gang=0), "applicationID"))
    served.receives(*many(rm.asks("applicationID-7", "k", placeholder=False), "allocationKey"))
    served.finishes()
    (partition,) = served.scheduler.rms.all()[0].partitions.values()
    sizes = (len(partition.nodes), len(partition.applications), len(partition.allocations.all))
    assert sizes == (count, count, count)
    live = [
        revision.si.Allocation(applicationID="applicationID-7", **{identity_in(revision): identity})
        for identity in served.identities
    ]
    served.receives(*rm.stops(*live, *live))
    assert not partition.allocations.all
    served.make_sense()


@every_revision
def test_name_may_be_as_long_as_the_configured_limit(revision: Revision) -> None:
    for length, kinds in (
        (1024, {AcceptedNode, AcceptedApplication, NewAllocation}),
        (1025, set()),
    ):
        served = Served(revision)
        rm = Speaker(revision)
        name = "m" * length

        served.receives(*rm.node(name, 9))
        served.receives(*rm.application(name, gang=0))
        served.receives(*rm.asks(name, name, placeholder=False))

        assert kinds <= served.kinds
        assert kinds or served.kinds == {RejectedNode, RejectedApplication, RejectedAsk}
        assert served.longest_reason < 200


# requirement: SI-CONN-019
@every_revision
def test_odd_names_are_accepted(revision: Revision) -> None:
    for name in ("\x00", "ä/€ 😀\u2028", "a.b..c", " ", "%s{}"):
        served = Served(revision)
        rm = Speaker(revision)
        for _ in range(2):  # the second time they are rejected, with a reason of bounded length
            served.receives(*rm.node(name, 9))
            served.receives(*rm.application(name, gang=0))
        served.receives(*rm.asks(name, name, placeholder=False))
        served.receives(*rm.asks("unknown" + name, "other" + name, placeholder=False))

        assert len(served.identities) == 1
        assert {AcceptedNode, AcceptedApplication, RejectedNode, RejectedAsk} <= served.kinds
        assert served.longest_reason < 500
        served.make_sense()
