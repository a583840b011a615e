"""Resources and quantities: sparse maps, arbitrary types, the whole of int64 (SI-RES)."""

from collections.abc import Mapping

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.notifications import Allocated, NodeAccepted
from siconform.protocol.queue_configurations import queues_with_quotas
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM

LARGEST = 2**63 - 1
HALF = 2**62
EXACT = 2**53  # floating point has every integer up to this one, but not the next


@requirement("SI-RES-001")
def test_a_resource_type_left_out_counts_as_zero(rm: ResourceManager) -> None:
    plain = rm.has_node(resources={"memory": 10})
    with_gpus = rm.has_node(resources={"memory": 10, "gpu": 4})
    app = rm.has_application()

    rm.expect(Allocated(rm.asks(app, resources={"memory": 1, "gpu": 2}), node=with_gpus))

    for _ in range(2):
        rm.asks(app, resources={"memory": 9})
    rm.expect(Allocated(application=app, node=plain, resource={"memory": 9}))
    rm.expect(Allocated(application=app, node=with_gpus, resource={"memory": 9}))

    rm.expect(Allocated(rm.asks(app, resources={"gpu": 2}), node=with_gpus))
    one_too_many = rm.asks(app, resources={"gpu": 2})
    rm.expect_none(Allocated(one_too_many))


@requirement("SI-RES-001")
def test_an_ask_for_zero_of_a_type_fits_a_node_without_it(rm: ResourceManager) -> None:
    node = rm.has_node(resources={"memory": 10})
    app = rm.has_application()

    ask = rm.asks(app, resources={"memory": 1, "gpu": 0})

    rm.expect(Allocated(ask, node=node))


@requirement("SI-RES-001")
def test_a_node_with_one_resource_type_has_nothing_of_others(rm: ResourceManager) -> None:
    node = rm.has_node(resources={"gpu": 4})

    too_large = rm.asks(rm.has_application(), resources={"memory": 1, "gpu": 1})

    rm.expect_none(Allocated(too_large))
    with rm.control("an ask for that type alone is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(rm.has_application(), resources={"gpu": 2}), node=node))


@requirement("SI-RES-002")
def test_any_name_is_a_resource_type(rm: ResourceManager) -> None:
    node = rm.registers_node(resources={"x.y/z": 6, "X.Y/Z": 6})
    rm.expect(NodeAccepted(node))
    app = rm.has_application()

    asks = [rm.asks(app, resources={"x.y/z": 4}) for _ in range(2)]

    received = rm.expect_one_of(*(Allocated(ask, node=node, resource={"x.y/z": 4}) for ask in asks))
    rm.expect_none(*(Allocated(ask) for ask in asks))
    rm.withdraws(next(ask for ask in asks if not Allocated(ask).matches(received)))
    rm.expect(Allocated(rm.asks(app, resources={"X.Y/Z": 6}), node=node))


@requirement("SI-RES-002")
def test_each_of_many_resource_types_counts(rm: ResourceManager) -> None:
    each = {f"type-{number:02}": 2 for number in range(20)}
    node = rm.has_node(resources=each)
    app = rm.has_application()

    too_large = [rm.asks(app, resources={**each, name: 4}) for name in each]

    rm.expect_none(*(Allocated(ask) for ask in too_large))
    with rm.control("an ask that fits in every type is allocated"):
        for ask in too_large:
            rm.withdraws(ask)
        rm.expect(Allocated(rm.asks(app, resources=each), node=node))


@requirement("SI-RES-003")
def test_quantities_use_the_whole_of_int64(rm: ResourceManager) -> None:
    node = rm.registers_node(memory=LARGEST, vcore=10)
    rm.expect(NodeAccepted(node))
    app = rm.has_application()

    half, rest = rm.asks(app, memory=HALF), rm.asks(app, memory=HALF - 1)

    rm.expect(Allocated(half, node=node, resource={"memory": HALF, "vcore": 1}))
    rm.expect(Allocated(rest, node=node, resource={"memory": HALF - 1, "vcore": 1}))
    too_large = rm.asks(app, memory=HALF)
    rm.expect_none(Allocated(too_large))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({"memory": 2, "vcore": 1, "gpu": 4}, {"memory": 2, "vcore": 1}),
        ({"memory": 2, "vcore": 8}, {"memory": 2, "vcore": 2}),
        ({"memory": 10, "vcore": 1}, {"memory": 2, "vcore": 1, "gpu": 2}),
    ],
    ids=["without a type", "less of one type", "with another type"],
)
@requirement("SI-ASK-004", "SI-ASK-032")
def test_each_amount_of_the_replacing_ask_counts(
    rm: ResourceManager, earlier: Mapping[str, int], later: Mapping[str, int]
) -> None:
    node = rm.has_node(resources={"memory": 10, "vcore": 5, "gpu": 4})
    app = rm.has_application()
    rm.has_allocation(app, resources={"memory": 1, "vcore": 1, "gpu": 2}, node=node)
    ask = rm.has_pending_ask(app, resources=earlier)

    rm.has_asked_again(ask, resources=later)

    rm.gives(rm.expect(Allocated(ask, node=node)), later)


@requirement("SI-RES-003")
def test_nodes_have_exactly_their_capacity_beyond_floating_point(rm: ResourceManager) -> None:
    rm.has_node(memory=EXACT, vcore=10)
    app = rm.has_application()

    ask = rm.asks(app, memory=EXACT + 1)
    rm.expect_none(Allocated(ask))
    node = rm.has_node(memory=EXACT + 1, vcore=10)

    rm.is_served(ask, node=node, resource={"memory": EXACT + 1, "vcore": 1})


@requirement("SI-RES-003")
def test_queues_have_exactly_their_maximum_beyond_floating_point(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUOTAS)
    rm.has_registered(config=queues_with_quotas(first=EXACT))
    rm.has_node(memory=2 * EXACT, vcore=10)

    too_large = rm.asks(rm.has_application(queue="root.first"), memory=EXACT + 1)
    rm.expect_none(Allocated(too_large))

    with rm.control("an ask for all that the queue may have is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(rm.has_application(queue="root.first"), memory=EXACT)))


@requirement("SI-RES-003")
def test_a_queue_in_use_has_its_maximum_even_for_the_largest_ask(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm  # the nodes have more than 2^63-1 in total: not for other tests
    rm.needs(Feature.QUOTAS)
    rm.has_registered()
    rm.has_node(memory=10)
    app = rm.has_application(queue=QUOTA_QUEUE)
    rm.has_allocation(app, memory=1)
    rm.has_node(memory=LARGEST, vcore=10)

    too_large = rm.asks(app, memory=LARGEST)

    rm.expect_none(Allocated(too_large))
    with rm.control("an ask for the rest of the maximum is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=9)))
