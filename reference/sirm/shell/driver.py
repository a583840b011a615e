"""Driver: the service siconform.ext.v1.RmDriver, by which tests act on the RM."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import grpc
from siwire import rpc
from siwire.ext import extension_pb2 as ext

from sirm.core import model as m
from sirm.core.cluster import Container
from sirm.core.states import ContainerState
from sirm.shell.machine import Machine

_SERVICE: Final = ext.DESCRIPTOR.services_by_name["RmDriver"]
_MILLISECONDS: Final = 1000.0  # of one second
_PHASES: Final = {
    ContainerState.WAITING: ext.ContainerView.WAITING,
    ContainerState.RUNNING: ext.ContainerView.STARTED,
    ContainerState.STOPPING: ext.ContainerView.STOPPING,
}


class CannotListenError(Exception):
    """The address of the driver cannot be used."""


async def serve(machine: Machine, address: str) -> tuple[grpc.aio.Server, str]:
    """Serve the driver; return its server and where it listens. Raises CannotListenError."""
    server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
    driver = Driver(machine)
    server.add_generic_rpc_handlers((rpc.handlers(_SERVICE, {"Drive": driver.drive}),))
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    if not port:
        raise CannotListenError(f'the driver cannot listen on "{address}": choose another address')
    await server.start()
    return server, f"{address.rpartition(':')[0]}:{port}"


class Driver:
    """The driver of one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    async def drive(self, command: ext.DriveCommand, _: Any) -> ext.DriveOutcome:
        """Do one action and return the state; a refused one has a reason."""
        try:
            await self._do(command)
        except m.RefusedError as refused:
            return self._outcome(str(refused))
        return self._outcome("")

    async def _do(self, command: ext.DriveCommand) -> None:
        match command.WhichOneof("action"):
            case None:
                raise m.RefusedError("the command has no action")
            case "restart_rm":
                await self._machine.restart()
            case "fail_over":
                await self._machine.fail_over()
            case "cut_connection":
                self._machine.instance.cut()
            case "look":
                pass
            case _:
                self._machine.act(event(command))

    def _outcome(self, reason: str) -> ext.DriveOutcome:
        cluster = self._machine.cluster
        containers = cluster.containers.values()
        return ext.DriveOutcome(
            done=not reason,
            reason=reason,
            running_keys=[one.key for one in containers if one.state is ContainerState.RUNNING],
            containers=[container_view(one) for one in containers],
            applications=[
                ext.ApplicationView(
                    application_id=one.application_id,
                    over=one.is_over,
                    state=one.outcome or one.state.value,
                )
                for one in cluster.applications.values()
            ],
        )


def container_view(container: Container) -> ext.ContainerView:
    """Return a container as its RM sees it."""
    return ext.ContainerView(
        allocation_key=container.key,
        application_id=container.application.application_id,
        task_group=container.group.task_group,
        placeholder=container.placeholder,
        node_id=container.node_id,
        phase=_PHASES[container.state],
    )


def event(command: ext.DriveCommand) -> m.Action:
    """Return the action of a command."""
    name = command.WhichOneof("action")
    if name is None or name not in _ACTIONS:
        raise m.RefusedError(f'unknown action "{name}"')
    return _ACTIONS[name](getattr(command, name))


def _add_node(node: ext.NodeView) -> m.AddNode:
    capacity = dict(node.capacity)
    return m.AddNode(node.node_id, capacity, _attributes(node), cordoned=not node.schedulable)


def _resize_node(node: ext.NodeView) -> m.ResizeNode:
    return m.ResizeNode(node.node_id, dict(node.capacity), _attributes(node))


def _add_foreign(one: ext.ForeignContainer) -> m.AddForeign:
    return m.AddForeign(one.name, one.node_id, dict(one.resource), is_static=one.static)


def workload(message: ext.Workload) -> m.Workload:
    """Return a workload as the core knows it."""
    return m.Workload(
        application_id=message.application_id,
        groups=tuple(_group(one) for one in message.groups),
        queue=message.queue,
        user=message.user,
        placeholder_timeout=message.placeholder_timeout_milliseconds / _MILLISECONDS,
        gang_style=message.gang_style,
    )


def _group(message: ext.Workload.Group) -> m.Group:
    return m.Group(
        resource=dict(message.resource),
        members=message.members,
        task_group=message.task_group,
        real_containers=message.real_containers,
        priority=message.priority,
        labels=dict(message.labels),
        allowed_nodes=tuple(message.allowed_nodes),
        stopping=message.stopping_milliseconds / _MILLISECONDS,
    )


def _attributes(node: ext.NodeView) -> dict[str, str]:
    partition = {"si/node-partition": node.partition} if node.partition else {}
    return {**node.attributes, **partition}


_ACTIONS: Final[Mapping[str, Callable[[Any], m.Action]]] = {
    "add_node": _add_node,
    "cordon_node": m.Cordon,
    "uncordon_node": m.Uncordon,
    "remove_node": m.RemoveNode,
    "resize_node": _resize_node,
    "submit": lambda message: m.Submit(workload(message)),
    "end_application": m.EndApplication,
    "stop_container": m.ContainerExited,
    "resize_container": lambda one: m.ResizeContainer(one.allocation_key, dict(one.resource)),
    "add_foreign_container": _add_foreign,
    "remove_foreign_container": m.RemoveForeign,
    "reset": lambda _: m.Reset(),
}
