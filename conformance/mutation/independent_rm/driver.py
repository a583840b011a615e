"""The driver: its actions change what exists, and the RM notices."""

import asyncio
from typing import Any, Final

from siwire.ext import extension_pb2 as ext

from mutation.independent_rm.rm import Rm
from mutation.independent_rm.world import Container, Foreign, Node, Phase, keys

_LACKING: Final = (
    "cut_connection",
    "fail_over",
    "resize_node",
    "end_application",
    "resize_container",
    "add_foreign_container",
    "remove_foreign_container",
    "cordon_node",
    "stop_container",
)


class Refused(Exception):
    """An action that cannot be done."""


class Driver:
    """Carries out actions; ``replaced`` is set when the process is to be replaced."""

    def __init__(self, rm: Rm) -> None:
        self._rm, self._world = rm, rm.world
        self.replaced = asyncio.Event()

    def drive(self, command: ext.DriveCommand) -> ext.DriveOutcome:
        """Do one action and return the state after it."""
        action = command.WhichOneof("action") or ""
        if "half-driver" in self._rm.on and action in _LACKING:
            return ext.DriveOutcome(reason=f"{action} is not supported")
        try:
            getattr(self, "_" + action)(getattr(command, action))
        except Refused as error:
            return ext.DriveOutcome(reason=str(error))
        self._rm.changed.set()
        return self._outcome()

    def _outcome(self) -> ext.DriveOutcome:
        ones = self._world.containers()
        return ext.DriveOutcome(
            done=True,
            running_keys=[one.key for one in ones if one.on_node],
            containers=[
                ext.ContainerView(
                    allocation_key=one.key,
                    application_id=one.application,
                    task_group=one.group,
                    placeholder=one.placeholder,
                    node_id=one.node,
                    phase=one.phase.value,
                )
                for one in ones
            ],
            applications=[
                ext.ApplicationView(application_id=app.id, over=app.over, state=app.state)
                for app in self._world.applications.values()
            ],
        )

    def _look(self, _: object) -> None:
        pass

    def _node(self, name: str) -> Node:
        if name not in self._world.nodes:
            raise Refused(f"no node {name}")
        return self._world.nodes[name]

    def _container(self, key: str) -> Container:
        found = self._world.container(key)
        if found is None:
            raise Refused(f"no container {key}")
        return found

    def _add_node(self, view: ext.NodeView) -> None:
        attributes = dict(view.attributes)
        if view.partition:
            attributes["si/node-partition"] = view.partition
        self._world.nodes[view.node_id] = Node(
            view.node_id, attributes, dict(view.capacity), not view.schedulable
        )

    def _cordon_node(self, name: str) -> None:
        self._node(name).cordoned = True

    def _uncordon_node(self, name: str) -> None:
        self._node(name).cordoned = False

    def _resize_node(self, view: ext.NodeView) -> None:
        node = self._node(view.node_id)
        node.capacity = dict(view.capacity)
        node.attributes.update(view.attributes)

    def _remove_node(self, name: str) -> None:
        self._node(name)
        session = self._rm.session
        for one in self._world.containers():
            if one.node == name and one.on_node:
                one.ends()
                silent = "releases-before-removal" not in self._rm.on
                if session is not None and one in session.containers and silent:
                    session.containers[one].released = True
        for foreign in [f for f in self._world.foreign.values() if f.node == name]:
            del self._world.foreign[foreign.key]
        del self._world.nodes[name]

    def _submit(self, work: ext.Workload) -> None:
        before = self._world.applications.get(work.application_id)
        taken = before is not None and not before.over
        if taken and not (before and before.ending and "id-too-early" in self._rm.on):
            raise Refused(f"{work.application_id} exists")
        if "no-gangs" in self._rm.on and any(group.task_group for group in work.groups):
            raise Refused("no gangs")
        self._world.submit(work, keys(work.application_id, self._rm.on))

    def _stop_container(self, key: str) -> None:
        self._rm.stop(self._container(key))

    def _end_application(self, name: str) -> None:
        app = self._world.applications.get(name)
        if app is None or app.over:
            raise Refused(f"no application {name}")
        app.ending = True
        for one in app.containers:
            self._rm.stop(one)

    def _resize_container(self, resize: ext.Resize) -> None:
        one = self._container(resize.allocation_key)
        one.resource = dict(resize.resource)
        self._rm.resized(one)

    def _add_foreign_container(self, new: ext.ForeignContainer) -> None:
        self._node(new.node_id)
        key = f"foreign {new.name}"
        self._world.foreign[key] = Foreign(key, new.node_id, dict(new.resource), new.static)

    def _remove_foreign_container(self, name: str) -> None:
        if self._world.foreign.pop(f"foreign {name}", None) is None:
            raise Refused(f"no foreign container {name}")

    def _cut_connection(self, _: object) -> None:
        self._rm.start()

    def _restart_rm(self, _: object) -> None:
        self._world.restarts += 1
        if "new-process" in self._rm.on:
            self.replaced.set()
        else:
            self._rm.start()

    def _fail_over(self, _: object) -> None:
        self._rm.start()

    def _reset(self, _: object) -> None:
        world: Any = self._world
        for one in self._world.containers():
            one.phase = Phase.OVER
        for app in self._world.applications.values():
            app.ending = True
        if "silent-reset" in self._rm.on:
            self._rm.session = None
            self._rm.start()
        for kept in (world.nodes, world.foreign, world.applications):
            kept.clear()
        world.restarts = world.registrations = 0
