"""Constants: well-known names that a scheduler acts on (SI-CONST)."""

from siconform.marks import requirement
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    NodeAccepted,
    NodeRejected,
    Released,
)
from siconform.protocol.requests import REQUIRED_NODE
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.allocations import MAY_PREEMPT
from siconform.rm.steps.preemption import (
    ENTITLED_QUEUE,
    MAY_NOT_PREEMPT,
    OPTED_OUT,
    TAKING_QUEUE,
)

MAY_BE_PREEMPTED = "yunikorn.apache.org/allowPreemption"
FOUR_OF_MEMORY = '{"resources": {"memory": {"value": 4}}}'


@requirement("SI-CONST-001")
def test_the_partition_of_a_node_has_its_well_known_name(rm: ResourceManager) -> None:
    nearly = {"node-partition": "nope", "si/partition": "nope"}
    misnamed = rm.registers_node(memory=20, attributes=nearly)
    here = rm.registers_node(memory=30, attributes={"si/node-partition": "default"})
    elsewhere = rm.registers_node(attributes={"si/node-partition": "nope"})

    rm.expect(NodeAccepted(misnamed))
    rm.expect(NodeAccepted(here))
    app = rm.has_application()
    rm.expect(Allocated(rm.asks(app, memory=25), node=here))
    rm.expect(Allocated(rm.asks(app, memory=15), node=misnamed))
    verdict = rm.expect_one_of(NodeRejected(elsewhere), NodeAccepted(elsewhere))
    rm.records("a node of an unknown partition", verdict)  # must be rejected: SI-NODE-009


@requirement("SI-CONST-009")
def test_limits_of_memory_are_about_the_resource_of_that_name(rm: ResourceManager) -> None:
    rm.has_node(resources={"memory": 100, "mem": 100, "vcore": 100})
    app = rm.has_application(queue="root.quota")

    rm.expect(Allocated(rm.asks(app, resources={"mem": 11, "memory": 10, "vcore": 11})))

    rm.has_ask_left_alone(app, "the quota of a queue", memory=1)


@requirement("SI-CONST-003")
def test_the_required_node_tag_may_tie_an_ask_to_a_node(rm: ResourceManager) -> None:
    named = rm.has_node(memory=1)
    rm.has_node(memory=10)
    app = rm.has_application()

    ask = rm.asks(app, memory=2, tags={REQUIRED_NODE: named})

    at_once = rm.receive_if_any(Allocated(ask))
    rm.records("an ask that requires a full node, with another free", at_once, otherwise="it waits")
    rm.updates_node(named, memory=10)
    if at_once is None:
        rm.is_served(ask, node=named)


@requirement("SI-CONST-010")
def test_the_policy_of_an_ask_outweighs_its_preemption_tag(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    spared = [
        rm.has_allocation(taker, policy=OPTED_OUT, tags={MAY_BE_PREEMPTED: "true"})
        for _ in range(8)
    ]
    victims = [
        rm.has_allocation(taker, policy=MAY_NOT_PREEMPT, tags={MAY_BE_PREEMPTED: allowed})
        for allowed in ("false", "true")
    ]
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    for _ in range(2):
        ask = rm.asks(entitled, policy=MAY_PREEMPT)
        release = rm.sees_preemption_of(*spared, *victims, by=ask)
        rm.names_one_of(release, victims)


@requirement("SI-CONST-004")
def test_the_preemption_tag_may_stand_for_a_policy(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    others = [
        rm.has_allocation(taker, policy=None, tags={MAY_BE_PREEMPTED: "false"}) for _ in range(9)
    ]
    tagged = rm.has_allocation(taker, policy=None, tags={MAY_BE_PREEMPTED: "true"})
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    ask = rm.asks(entitled, policy=MAY_PREEMPT)
    release = rm.sees_preemption_of(*others, tagged, by=ask)

    which = "tagged" if Released(identity=tagged.identity).matches(release) else "other"
    rm.records(f"the {which} allocation is preempted")


@requirement("SI-CONST-005")
def test_a_namespace_quota_may_limit_the_queue_created_for_it(rm: ResourceManager) -> None:
    rm.has_node(memory=100)
    tags = {"namespace": rm.new_name("namespace"), "namespace.resourcequota": FOUR_OF_MEMORY}
    app = rm.has_application_without_queue(tags=tags)

    for _ in range(2):
        rm.asks(app, memory=3)

    rm.expect(Allocated(application=app))
    beyond = rm.receive_if_any(Allocated(application=app))
    rm.records("beyond the quota of its namespace", beyond, otherwise="nothing is allocated")


@requirement("SI-CONST-006")
def test_a_forced_application_is_accepted_where_another_is_not(rm: ResourceManager) -> None:
    with rm.control("without the tag the application is rejected"):
        rm.expect(ApplicationRejected(rm.submits_application(queue="root.missing")))

    forced = rm.submits_application(queue="root.missing", tags={"application.create.force": "true"})

    rm.expect(ApplicationAccepted(forced))


@requirement("SI-CONST-007")
def test_a_node_that_is_not_ready_may_be_left_alone(rm: ResourceManager) -> None:
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app)
    node = rm.has_node(attributes={"ready": "false"})

    early = rm.receive_if_any(Allocated(waiting), Allocated(rm.asks(app)))
    rm.records("on a node that is not ready", early, otherwise="nothing is allocated")
    rm.updates_node(node, attributes={"ready": "true"})
    if early is None:
        rm.is_served(waiting, node=node)


@requirement("SI-CONST-011")
def test_a_namespace_may_limit_the_applications_of_the_queue_created_for_it(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    tags = {"namespace": rm.new_name("namespace"), "namespace.resourcemaxapps": "1"}
    first = rm.has_application_without_queue(tags=tags)
    rm.has_allocation(first)
    second = rm.has_application_held_back(queue="", tags=tags)

    rm.removes_application(first)

    rm.is_let_in(second, after=rm.deadlines.place)
