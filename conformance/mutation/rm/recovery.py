"""Mutants: registering again, and what is reported then."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

import grpc
from sirm.codec import parts
from sirm.codec.codec import Identity
from sirm.core import applications, knowledge, nodes, registration, reporting, requests
from sirm.core.cluster import Application, Cluster, Container, Node
from sirm.core.knowledge import Knowledge
from sirm.core.model import (
    ContainerRecord,
    Effect,
    NodeAction,
    ReportAllocation,
    ReportNode,
    Rules,
    Update,
)
from sirm.core.state import State
from sirm.shell.connection import Connection
from sirm.shell.machine import Machine
from siwire import rpc

from mutation.mutant import rm_mutant, rm_variant
from mutation.patching import Patch, instead_of

_AREAS: Final = ("CONN", "REG", "REC", "FOR", "CONST")
_MOMENT: Final = 0.05  # seconds until a message has been sent

_Original = Callable[..., Any]


@rm_mutant(
    "rm-resync-ignored",
    "An RM that is asked to resync goes on as before.",
    breaks=("SI-CONN-011",),
    revision="2021-02",
)
@instead_of(registration.resync)
def _(patch: Patch, _original: _Original, _state: State, _now: float) -> list[Effect]:
    patch.fires()
    return []


@rm_mutant(
    "rm-resync-under-another-id",
    "An RM that is asked to resync registers under another rmID.",
    breaks=("SI-CONN-011",),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    resyncs: list[float] = []

    def resync(original: _Original, state: State, now: float) -> Any:
        resyncs.append(now)
        return original(state, now)

    def register(original: _Original, identity: Identity, message: Any) -> None:
        original(identity, message)
        if resyncs:
            patch.fires()
            message.rmID += "-again"

    patch.instead_of(registration.resync, resync)
    patch.instead_of(parts.plain_registration, register)


@rm_mutant(
    "rm-reopens-an-aborted-stream",
    "An RM opens an aborted stream again and does not register.",
    breaks=("SI-CONN-013",),
)
def _(patch: Patch) -> None:
    async def read(original: _Original, connection: Connection, name: str, call: Any) -> None:
        try:
            await original(connection, name, call)
        except grpc.aio.AioRpcError:
            patch.fires()
            connection.open(name)  # as it does after a registration

    patch.instead_of(Connection.read, read)


@rm_mutant(
    "rm-opens-streams-before-it-registers-again",
    "An RM opens an aborted stream again, and then registers.",
    breaks=("SI-CONN-013",),
)
def _(patch: Patch) -> None:
    async def read(original: _Original, connection: Connection, name: str, call: Any) -> None:
        try:
            await original(connection, name, call)
        except grpc.aio.AioRpcError:
            patch.fires()
            connection.open(name)  # as it does after a registration
            await asyncio.sleep(_MOMENT)
            raise

    patch.instead_of(Connection.read, read)


@rm_mutant(
    "rm-repeats-a-message-before-it-registers-again",
    "An RM opens an aborted stream again by its last message on it, and then registers.",
    breaks=("SI-CONN-013",),
)
def _(patch: Patch) -> None:
    last: dict[str, Any] = {}

    def send(original: _Original, self: Connection, name: str, message: Any) -> None:
        last[name] = message
        original(self, name, message)

    async def read(original: _Original, self: Connection, name: str, call: Any) -> None:
        try:
            await original(self, name, call)
        except grpc.aio.AioRpcError:
            if name in last:
                patch.fires()
                method = rpc.methods(self._codec.revision)[name]
                rpc.callable_for(self._channel, method)(iter([last[name]]))
                await asyncio.sleep(_MOMENT)
            raise

    patch.instead_of(Connection.send, send)
    patch.instead_of(Connection.read, read)


@rm_mutant(
    "rm-forgets-what-waits",
    "After a registration, nothing is requested for containers that waited before.",
    breaks=("SI-REG-009",),
)
@instead_of(knowledge.complete_report)
def _(patch: Patch, original: _Original, cluster: Cluster) -> Any:
    known = original(cluster)
    if known.waiting:
        patch.fires()
        known.waiting.clear()
    return known


@rm_mutant(
    "rm-forgets-pending-placeholders",
    "After a registration, nothing is requested for placeholders that waited before.",
    breaks=("SI-REG-009",),
)
@instead_of(knowledge.complete_report)
def _(patch: Patch, original: _Original, cluster: Cluster) -> Any:
    known = original(cluster)
    for members in [one for one in known.waiting if one[1]]:
        patch.fires()
        del known.waiting[members]
    return known


@rm_mutant(
    "rm-takes-gangs-for-complete",
    "After a registration, the real members of a gang wait for no placeholder any more.",
    breaks=("SI-GANG-014",),
)
@instead_of(registration.registered)
def _(patch: Patch, original: _Original, state: State) -> list[Effect]:
    for application in state.cluster.applications.values():
        if application.missing_placeholders:
            patch.fires()
            application.missing_placeholders = 0
    effects: list[Effect] = original(state)
    return effects


def _the_second_time(patch: Patch, function: Any, alter: Callable[[Any], Any]) -> None:
    """Alter what a function returns for a container or an application from the second time on."""
    returned: set[str] = set()

    def altered(original: _Original, subject: Container | Application) -> Any:
        before = original(subject)
        name = subject.key if isinstance(subject, Container) else subject.application_id
        after = alter(before) if name in returned else before
        returned.add(name)
        if after != before:
            patch.fires()
        return after

    patch.instead_of(function, altered)


rm_mutant(
    "rm-requests-placeholders-as-real-again",
    "After another registration, placeholders are requested without the flag.",
    breaks=("SI-GANG-049",),
)(
    partial(
        _the_second_time,
        function=requests.request,
        alter=lambda update: replace(
            update, container=replace(update.container, placeholder=False)
        ),
    )
)
rm_mutant(
    "rm-requests-again-without-priority",
    "After another registration, requests have no priority.",
    breaks=("SI-REG-009",),
)(
    partial(
        _the_second_time,
        function=requests.request,
        alter=lambda update: replace(update, container=replace(update.container, priority=0)),
    )
)
rm_mutant(
    "rm-adds-to-no-queue-again",
    "After another registration, applications are added without their queue.",
    breaks=("SI-REG-009",),
)(
    partial(
        _the_second_time,
        function=applications.addition,
        alter=lambda update: replace(update, queue=""),
    )
)
rm_mutant(
    "rm-adds-no-placeholder-ask-again",
    "After another registration, gangs are added without placeholderAsk.",
    breaks=("SI-REG-009",),
)(
    partial(
        _the_second_time,
        function=applications.addition,
        alter=lambda update: replace(update, placeholder_ask=None),
    )
)


@rm_mutant(
    "rm-creates-with-the-first-capacity",
    "After another registration, a node has the capacity that it was first reported with.",
    breaks=("SI-REG-009",),
)
def _(patch: Patch) -> None:
    first: dict[str, Any] = {}

    def creation(original: _Original, state: State, node: Node) -> list[ReportNode]:
        capacity = first.setdefault(node.node_id, node.capacity)
        if capacity != node.capacity:
            patch.fires()
        created, *others = original(state, node)
        return [replace(created, capacity=capacity), *others]

    patch.instead_of(nodes.creation, creation)


@rm_mutant(
    "rm-requests-what-runs",
    "After a registration, running containers are requested as if they waited.",
    breaks=("SI-REG-009",),
)
@instead_of(reporting.existing_allocations)
def _(patch: Patch, original: _Original, state: State) -> Iterator[Update]:
    for update in original(state):
        patch.fires()
        yield requests.request(state.cluster.containers[update.container.key])
        yield update


@rm_mutant(
    "rm-leaves-out-what-runs",
    "After a registration, running containers are not reported.",
    breaks=("SI-REG-009",),
)
@instead_of(reporting.existing_allocations)
def _(patch: Patch, original: _Original, state: State) -> Iterator[Update]:
    for _ in original(state):
        patch.fires()
    yield from ()


@rm_mutant(
    "rm-instances-with-their-own-ids",
    "Each instance of the RM registers under an rmID of its own.",
    breaks=("SI-REG-010",),
)
@instead_of(Machine.fail_over)
async def _(patch: Patch, original: _Original, machine: Machine) -> None:
    patch.fires()
    identity = machine.identity
    machine.identity = replace(identity, rm_id=f"{identity.rm_id}-2")
    await original(machine)


def _reports_if(patch: Patch, may_be: Callable[[State, Container], bool]) -> None:
    """Report existing allocations under this condition."""

    def reported(original: _Original, state: State, container: Container) -> bool:
        it_may = may_be(state, container)
        if it_may and not original(state, container):
            patch.fires()
        return it_may

    patch.instead_of(reporting.may_be_reported, reported)


@rm_mutant(
    "rm-applications-after-their-allocations",
    "Applications are added once their existing allocations have been reported.",
    breaks=("SI-REC-005",),
)
def _(patch: Patch) -> None:
    def new_applications(original: _Original, state: State) -> Any:
        return () if state.knowledge.existing else original(state)

    patch.instead_of(reporting.new_applications, new_applications)
    _reports_if(patch, lambda state, one: state.accepts_node(one.node_id))


def _created_draining(patch: Patch, may_undrain: Callable[[State, str], bool]) -> None:
    """Create each node draining, and undrain it under this condition."""
    draining: set[str] = set()

    def actions(original: _Original, rules: Rules, node: Node) -> Any:
        if node.cordoned:
            return original(rules, node)
        patch.fires()
        draining.add(node.node_id)
        return (NodeAction.CREATE_DRAIN,)

    def due(original: _Original, state: State) -> list[Update]:
        ready = [one for one in sorted(draining) if state.accepts_node(one)]
        updates: list[Update] = original(state)
        for node_id in ready:
            if may_undrain(state, node_id):
                draining.discard(node_id)
                updates.append(ReportNode(node_id, NodeAction.DRAIN_TO_SCHEDULABLE))
        return updates

    patch.instead_of(nodes.creation_actions, actions)
    patch.instead_of(reporting.due, due)


def _is_filled(state: State, node_id: str) -> bool:
    return all(one.node_id != node_id for one in state.knowledge.existing.values())


rm_variant(
    "rm-creates-nodes-draining",
    "Nodes are created draining, filled with what runs there, and undrained.",
    areas=_AREAS,
)(partial(_created_draining, may_undrain=_is_filled))
rm_mutant(
    "rm-never-undrains",
    "Nodes with containers are created draining, and stay so.",
    breaks=("SI-REC-009",),
)(partial(_created_draining, may_undrain=lambda state, node_id: not state.cluster.on_node(node_id)))


@rm_mutant(
    "rm-undrains-before-it-fills",
    "Nodes are created draining, and undrained before what runs there is reported; requests do not"
    " wait for that.",
    breaks=("SI-REC-009",),
)
def _(patch: Patch) -> None:
    _created_draining(patch, lambda _state, _node_id: True)
    patch.instead_of(reporting.will_be_reported, lambda _original, _state, _one: False)


rm_variant(
    "rm-undrains-and-then-fills",
    "Nodes are created draining and undrained; what runs there is reported before any request.",
    areas=_AREAS,
)(partial(_created_draining, may_undrain=lambda _state, _node_id: True))


@rm_variant(
    "rm-requests-while-nodes-drain",
    "Nodes are created draining and filled later; requests do not wait for that.",
    areas=_AREAS,
)
def _(patch: Patch) -> None:
    _created_draining(patch, _is_filled)
    patch.instead_of(
        reporting.will_be_reported, lambda _original, _state, _one: False
    )  # variants do that


def _recovers_with(patch: Patch, alter: Callable[[ContainerRecord], ContainerRecord]) -> None:
    """Report existing allocations with other values."""

    def allocation(original: _Original, container: Container) -> ReportAllocation:
        reported: ReportAllocation = original(container)
        altered = alter(reported.container)
        if altered != reported.container:
            patch.fires()
        return replace(reported, container=altered)

    patch.instead_of(requests.allocation, allocation)


rm_mutant(
    "rm-recovers-without-placeholder-flag",
    "Existing allocations of placeholders are reported as real ones.",
    breaks=("SI-REC-010",),
)(partial(_recovers_with, alter=lambda record: replace(record, placeholder=False)))
rm_mutant(
    "rm-recovers-without-task-group",
    "Existing allocations of a gang are reported without their task group.",
    breaks=("SI-REC-010",),
)(partial(_recovers_with, alter=lambda record: replace(record, task_group="")))
rm_mutant(
    "rm-recovers-members-as-placeholders",
    "Every existing allocation of a task group is reported as a placeholder.",
    breaks=("SI-REC-010",),
)(
    partial(
        _recovers_with, alter=lambda record: replace(record, placeholder=bool(record.task_group))
    )
)
rm_mutant(
    "rm-recovers-without-tags",
    "Existing allocations are reported without the tags of their requests.",
    breaks=("SI-REC-018",),
)(partial(_recovers_with, alter=lambda record: replace(record, tags={})))
rm_mutant(
    "rm-recovers-without-priority",
    "Existing allocations are reported without the priority of their requests.",
    breaks=("SI-REC-018",),
)(partial(_recovers_with, alter=lambda record: replace(record, priority=0)))
rm_mutant(
    "rm-recovers-without-originator",
    "The existing allocation of an originator is reported without that flag.",
    breaks=("SI-REC-018",),
)(partial(_recovers_with, alter=lambda record: replace(record, originator=False)))


@rm_mutant(
    "rm-recovers-another-amount",
    "Existing allocations are reported with one more of memory.",
    breaks=("SI-REC-018",),
)
def _(patch: Patch) -> None:
    def more(record: ContainerRecord) -> ContainerRecord:
        memory = record.resource.get("memory", 0) + 1
        return replace(record, resource={**record.resource, "memory": memory})

    _recovers_with(patch, more)


rm_mutant(
    "rm-allocations-before-their-node",
    "Existing allocations do not wait for the verdict on their node.",
    breaks=("SI-REC-024",),
)(
    partial(
        _reports_if,
        may_be=lambda state, one: state.accepts_application(one.application.application_id),
    )
)
rm_mutant(
    "rm-allocations-before-their-application",
    "Existing allocations do not wait for the verdict on their application.",
    breaks=("SI-REC-024",),
)(partial(_reports_if, may_be=lambda state, one: state.accepts_node(one.node_id)))
rm_variant(
    "rm-waits-for-no-verdict",
    "Existing allocations are reported right after their nodes and applications.",
    areas=_AREAS,
    departs_from=("SI-REC-024",),
)(partial(_reports_if, may_be=lambda state, one: one.node_id in state.knowledge.nodes))


@rm_variant(
    "rm-adds-applications-after-nodes",
    "Applications are added once every node has its verdict.",
    areas=_AREAS,
)
@instead_of(reporting.new_applications)
def _(patch: Patch, original: _Original, state: State) -> Any:
    known = state.knowledge
    if known.new_nodes or not all(map(state.accepts_node, known.nodes)):
        patch.fires()
        return ()
    return original(state)


@rm_variant(
    "rm-requests-under-new-keys",
    "After a registration, containers that wait are requested under new keys.",
    areas=_AREAS,
)
@instead_of(knowledge.complete_report)
def _(patch: Patch, original: _Original, cluster: Cluster) -> Knowledge:
    for container in list(cluster.containers.values()):
        if not container.is_allocated and not container.application.is_over:
            patch.fires()
            _rename(cluster, container)
    return original(cluster)  # type: ignore[no-any-return]  # the function it replaces


def _rename(cluster: Cluster, container: Container) -> None:
    held = (cluster.containers, container.application.containers)
    for by_key in held:
        del by_key[container.key]
    container.key = cluster.new_key(container.application.application_id)
    for by_key in held:
        by_key[container.key] = container
