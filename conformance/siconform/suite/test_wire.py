"""The wire format: methods, streams, fields and numbers (SI-WIRE).

Rules for every message (SI-WIRE-006, -008, -010, -012) are checked during all tests by
``siconform.monitors.wire``. These tests check a scheduler's own type descriptions, if it offers
server reflection.
"""

from siconform.marks import requirement
from siconform.protocol.events import EventReceived, Subject
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    AskRejected,
    AskReleased,
    NodeAccepted,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import LegacyNodeFields
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM
from siconform.transport.reflection import Shape

UNARY = Shape(client_streams=False, server_streams=False)
BOTH_WAYS = Shape(client_streams=True, server_streams=True)


@requirement("SI-WIRE-001")
def test_the_registration_is_found_by_its_path(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.is_answered_at("/si.v1.Scheduler/RegisterResourceManager")


@requirement("SI-WIRE-002")
def test_one_stream_carries_requests_and_responses_both_ways(rm: ResourceManager) -> None:
    for _ in range(2):
        node = rm.registers_node()
        app = rm.submits_application()
        rm.expect(NodeAccepted(node))
        rm.expect(ApplicationAccepted(app))
        ask = rm.asks(app)
        rm.expect(Allocated(ask))

    rm.expect_none(StreamEnded(UpdateKind.NODES))


@requirement("SI-WIRE-002")
def test_the_service_describes_one_unary_call_and_one_stream(rm: ResourceManager) -> None:
    description = rm.has_description()

    description.has_the_methods({"RegisterResourceManager": UNARY, "Update": BOTH_WAYS})


@requirement("SI-WIRE-003")
def test_three_streams_carry_requests_and_responses_both_ways(rm: ResourceManager) -> None:
    for _ in range(2):
        node = rm.registers_node()
        rm.expect(NodeAccepted(node))
        app = rm.submits_application()
        rm.expect(ApplicationAccepted(app))
        ask = rm.asks(app)
        rm.expect(Allocated(ask))

    rm.expect_none(*(StreamEnded(kind) for kind in UpdateKind))


@requirement("SI-WIRE-003")
def test_the_service_describes_one_unary_call_and_three_streams(rm: ResourceManager) -> None:
    description = rm.has_description()

    description.has_the_methods(
        {
            "RegisterResourceManager": UNARY,
            "UpdateAllocation": BOTH_WAYS,
            "UpdateApplication": BOTH_WAYS,
            "UpdateNode": BOTH_WAYS,
        }
    )


@requirement("SI-WIRE-004")
def test_a_method_of_another_generation_is_unimplemented(rm: ResourceManager) -> None:
    rm.finds_other_generation_unimplemented()

    with rm.control("the scheduler's own generation is served"):
        rm.expect(NodeAccepted(rm.registers_node()))


@requirement("SI-WIRE-005")
def test_decisions_are_pushed_without_a_request(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    waiting = rm.has_pending_ask(app)

    node = rm.has_node()

    rm.expect(Allocated(waiting, node=node))
    rm.expect_none(StreamEnded(UpdateKind.ALLOCATIONS))


@requirement("SI-WIRE-005")
def test_ends_are_pushed_without_a_request(rm: ResourceManager) -> None:
    node = rm.has_node()
    allocation = rm.has_allocation(rm.has_application(), node=node)

    rm.decommissions(node)

    rm.expect_end_of(allocation)
    rm.expect_none(StreamEnded(UpdateKind.ALLOCATIONS))


@requirement("SI-WIRE-005")
def test_a_request_may_have_no_response_or_several(rm: ResourceManager) -> None:
    node = rm.has_node(memory=3)
    app = rm.has_application()

    rm.updates_node(node, memory=10)
    with rm.one_message():
        asks = [rm.asks(app, memory=3) for _ in range(3)]

    for ask in asks:
        rm.expect(Allocated(ask, node=node))
    rm.expect_none(*(Allocated(ask) for ask in asks), *(StreamEnded(kind) for kind in UpdateKind))


@requirement("SI-WIRE-007")
def test_unknown_fields_are_ignored_and_the_rest_counts(rm: ResourceManager) -> None:
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app, memory=20)
    with rm.control("without the unknown field the node is accepted"):
        rm.expect(NodeAccepted(rm.registers_node(memory=10)))

    node = rm.registers_node(memory=20, unknown_field=True)

    rm.expect(NodeAccepted(node))
    rm.is_served(waiting, node=node)


@requirement("SI-WIRE-008")
def test_no_described_field_uses_a_reserved_number_or_name(rm: ResourceManager) -> None:
    description = rm.has_description()

    description.uses_nothing_reserved()


@requirement("SI-WIRE-008", "SI-WIRE-010")
def test_events_use_no_reserved_number_and_have_a_type(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()

    rm.presupposes_some(rm.events_so_far(), "anything")  # the monitors check them
    rm.expect_none(EventReceived(subject=Subject.UNSET))


@requirement("SI-WIRE-009")
def test_a_node_action_that_is_not_set_is_an_update(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app, memory=50)

    rm.names_node_without_action(node, memory=50)

    rm.is_served(waiting, node=node)


@requirement("SI-WIRE-009")
def test_a_termination_type_that_is_not_set_is_a_stop_by_the_rm(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10, node=node)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.releases(allocation, Termination.STOPPED_BY_RM)  # number 0, which is not sent

    rm.expect(Released(identity=allocation.identity, termination=Termination.STOPPED_BY_RM))
    rm.is_served(waiting, node=node)


@requirement("SI-WIRE-011")
def test_an_undefined_action_is_not_taken_for_a_defined_one(rm: ResourceManager) -> None:
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app)
    node = rm.new_name("node")

    rm.names_node_with_undefined_action(node)
    ask = rm.asks(app)

    rm.expect_none(NodeAccepted(node), Allocated(waiting), Allocated(ask))
    with rm.control("with a defined action the node is accepted and used"):
        rm.registers_node(node)
        rm.expect(NodeAccepted(node))
        rm.is_served(waiting, node=node)


@requirement("SI-WIRE-012")
def test_of_two_ways_to_state_a_priority_the_last_one_counts(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    ask = rm.asks(app, priority=7, priority_class="the-last")

    answer = rm.expect_one_of(Allocated(ask), AskRejected(ask))  # the class is unknown
    rm.agrees_if_repeated(answer, Allocated(ask, priority=0, priority_class="the-last"))
    rm.expect_none(StreamEnded(UpdateKind.ALLOCATIONS))
    rm.expect(Allocated(rm.asks(app)))


@requirement("SI-WIRE-014")
def test_irregular_field_names_stay_as_they_are(rm: ResourceManager) -> None:
    description = rm.has_description()

    description.names_fields_as_the_text_does()


@requirement("SI-WIRE-015")
def test_enums_stand_where_the_text_declares_them(rm: ResourceManager) -> None:
    description = rm.has_description()

    description.places_enums_where_the_text_does()


@requirement("SI-WIRE-016")
def test_an_ask_of_an_older_rm_asks_for_nothing(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()

    older = rm.send_legacy_request(app, memory=5)

    rm.expect_none(Allocated(older), *(StreamEnded(kind) for kind in UpdateKind))
    with rm.control("an ask in the current form is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-WIRE-016")
def test_a_withdrawal_of_an_older_rm_withdraws_nothing(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    pending = rm.has_pending_ask(app)

    rm.withdraw_legacy_request(pending)

    rm.expect_none(AskReleased(pending), *(StreamEnded(kind) for kind in UpdateKind))
    rm.has_node()
    rm.expect(Allocated(pending))


@requirement("SI-WIRE-016")
def test_what_an_older_rm_states_is_on_a_node_holds_no_capacity(rm: ResourceManager) -> None:
    app = rm.has_application()
    name = rm.new_name("node")
    existing = rm.remembers_allocation(app, name, memory=4)

    node = rm.registers_node(
        name, memory=10, legacy_fields=LegacyNodeFields({"memory": 3}, (existing,))
    )

    rm.expect(NodeAccepted(node))
    rm.expect(Allocated(rm.asks(app, memory=10), node=node))
    rm.expect_none(*(StreamEnded(kind) for kind in UpdateKind))
