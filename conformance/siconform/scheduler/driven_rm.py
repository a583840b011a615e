"""The RM under test as a test sees it: the actions of its driver as methods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from time import monotonic, sleep
from typing import Final

from siwire.ext import extension_pb2 as ext

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.waits import WaitClass, waiting
from siconform.outcomes import ConformanceFailure, PreconditionFailed
from siconform.protocol.handles import Application, Node
from siconform.protocol.requests import Amounts
from siconform.transport.rm_driver import RmDriver

WAITING: Final = "waiting"
STARTED: Final = "started"
STOPPING: Final = "stopping"

_PHASES: Final = {
    ext.ContainerView.WAITING: WAITING,
    ext.ContainerView.STARTED: STARTED,
    ext.ContainerView.STOPPING: STOPPING,
}
NEEDS_A_DRIVER: Final = (
    "needs a driver of the RM: give {driver} in --rm-command, or --rm-driver with --listen"
)
_AGAIN: Final = 0.02  # seconds between two looks
_MILLISECONDS: Final = 1000


@dataclass(frozen=True, slots=True)
class Group:
    """Containers of one shape. With ``name`` a task group: ``members`` are its placeholders."""

    members: int = 1
    resource: Amounts = field(default_factory=lambda: {"memory": 1, "vcore": 1})
    name: str = ""
    real_containers: int = 0  # that follow the placeholders
    priority: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    allowed_nodes: Sequence[str] = ()
    stopping: float = 0.0  # seconds a container takes to stop


@dataclass(frozen=True, slots=True)
class Container:
    """A container as its RM sees it; ``phase`` is WAITING, STARTED, STOPPING or ""."""

    key: str
    application: str
    node: str
    phase: str
    task_group: str
    placeholder: bool


@dataclass(frozen=True, slots=True)
class View:
    """The state of the RM as its driver returned it."""

    running: tuple[str, ...]  # allocation keys
    containers: tuple[Container, ...]
    over: Mapping[str, bool]  # by application id: nothing more is requested for it
    states: Mapping[str, str]  # by application id, in the RM's own words

    def of(self, application: str) -> tuple[Container, ...]:
        """Return the containers of an application that are not over."""
        return tuple(one for one in self.containers if one.application == application)

    def started(self, application: str) -> tuple[str, ...]:
        """Return the keys of the containers of an application that have started."""
        return tuple(one.key for one in self.of(application) if one.phase == STARTED)


class DrivenRM:
    """The RM under test. Each action raises PreconditionFailed where the driver cannot do it.

    ``prefix`` starts every id that is generated, so that ids are unique to a test.
    """

    def __init__(self, driver: RmDriver | None, prefix: str, deadlines: Deadlines) -> None:
        self._driver = driver
        self._prefix = prefix
        self._numbers = count(1)
        self.deadlines = deadlines

    @property
    def has_driver(self) -> bool:
        """Whether actions can be triggered at all."""
        return self._driver is not None

    def new_name(self, kind: str) -> str:
        """Return a new id of this test, such as t17-node-2."""
        return f"{self._prefix}-{kind}-{next(self._numbers)}"

    def adds_node(
        self,
        name: str | None = None,
        *,
        memory: int = 10,
        vcore: int = 10,
        resources: Amounts | None = None,
        attributes: Mapping[str, str] | None = None,
        cordoned: bool = False,
        partition: str = "",
    ) -> Node:
        """Add a node with these resources, by default 10 of memory and vcore."""
        node = Node(name or self.new_name("node"), resources or {"memory": memory, "vcore": vcore})
        view = ext.NodeView(
            node_id=node,
            schedulable=not cordoned,
            attributes=dict(attributes or {}),
            capacity=dict(node.capacity),
            partition=partition,
        )
        self._drives(ext.DriveCommand(add_node=view))
        return node

    def cordons(self, node: str) -> None:
        """Make a node unschedulable."""
        self._drives(ext.DriveCommand(cordon_node=node))

    def uncordons(self, node: str) -> None:
        """Make a node schedulable."""
        self._drives(ext.DriveCommand(uncordon_node=node))

    def removes_node(self, node: str) -> None:
        """Remove a node."""
        self._drives(ext.DriveCommand(remove_node=node))

    def resizes_node(
        self,
        node: str,
        *,
        memory: int,
        vcore: int,
        attributes: Mapping[str, str] | None = None,
    ) -> Node:
        """Change the capacity of a node, and its attributes if some are given."""
        resized = Node(str(node), {"memory": memory, "vcore": vcore})
        view = ext.NodeView(
            node_id=resized, capacity=dict(resized.capacity), attributes=dict(attributes or {})
        )
        self._drives(ext.DriveCommand(resize_node=view))
        return resized

    def submits(
        self,
        *groups: Group,
        application: str | None = None,
        queue: str = "root.default",
        user: str = "somebody",
        gang_style: str = "",
        placeholder_timeout: float = 0.0,
    ) -> Application:
        """Submit an application, by default with one container of one memory and one vcore."""
        submitted = Application(application or self.new_name("app"), queue)
        workload = ext.Workload(
            application_id=submitted,
            queue=queue,
            user=user,
            gang_style=gang_style,
            placeholder_timeout_milliseconds=round(placeholder_timeout * _MILLISECONDS),
            groups=[_group(group) for group in groups or (Group(),)],
        )
        self._drives(ext.DriveCommand(submit=workload))
        return submitted

    def submits_gang(
        self,
        members: int = 3,
        *,
        real_containers: int | None = None,
        member: Amounts | None = None,
        gang_style: str = "",
        placeholder_timeout: float = 0.0,
    ) -> Application:
        """Submit a gang of one task group; as many real containers follow as it has members."""
        group = Group(
            members,
            member or {"memory": 1, "vcore": 1},
            name=self.new_name("group"),
            real_containers=members if real_containers is None else real_containers,
        )
        return self.submits(group, gang_style=gang_style, placeholder_timeout=placeholder_timeout)

    def runs(self, containers: int = 1, *, memory: int = 1, vcore: int = 1) -> Application:
        """Add a node for an application and run its containers there."""
        self.adds_node(memory=containers * memory, vcore=containers * vcore)
        app = self.submits(Group(containers, {"memory": memory, "vcore": vcore}))
        self.awaits_started(app, containers)
        return app

    def stops_container(self, key: str) -> None:
        """Let a container exit by itself."""
        self._drives(ext.DriveCommand(stop_container=key))

    def resizes_container(self, key: str, *, memory: int, vcore: int = 1) -> None:
        """Change the size of a running container."""
        resize = ext.Resize(allocation_key=key, resource={"memory": memory, "vcore": vcore})
        self._drives(ext.DriveCommand(resize_container=resize))

    def ends_application(self, application: str) -> None:
        """End an application as a user does; its containers are stopped."""
        self._drives(ext.DriveCommand(end_application=application))

    def adds_foreign_container(
        self, node: str, *, memory: int = 1, vcore: int = 1, static: bool = False
    ) -> str:
        """Start a container of no application on a node; return its name."""
        name = self.new_name("foreign")
        foreign = ext.ForeignContainer(
            name=name, node_id=node, resource={"memory": memory, "vcore": vcore}, static=static
        )
        self._drives(ext.DriveCommand(add_foreign_container=foreign))
        return name

    def removes_foreign_container(self, name: str) -> None:
        """End a container of no application."""
        self._drives(ext.DriveCommand(remove_foreign_container=name))

    def restarts(self) -> None:
        """End the RM's process and start it again; its containers keep running."""
        self._drives(ext.DriveCommand(restart_rm=True))

    def cuts_connection(self) -> None:
        """Lose all connections to the scheduler."""
        self._drives(ext.DriveCommand(cut_connection=True))

    def fails_over(self) -> None:
        """Let another instance of the RM take over."""
        self._drives(ext.DriveCommand(fail_over=True))

    def resets(self) -> None:
        """Remove all applications, containers and nodes."""
        self._drives(ext.DriveCommand(reset=True))

    def looks(self) -> View:
        """Return the state of the RM, which this does not change."""
        return self._drives(ext.DriveCommand(look=True))

    def awaits_running(self, *keys: str) -> None:
        """Wait until the RM runs these containers; PreconditionFailed if it does not."""
        self.waits_until(lambda view: {*keys} <= {*view.running}, f"{', '.join(keys)} run")

    def waits_until(self, holds: Callable[[View], bool], what: str) -> View:
        """Look until ``holds``; PreconditionFailed if it does not within the limit."""
        limit = self.deadlines.place + self.deadlines.ack
        until = monotonic() + limit
        with waiting(what, limit, WaitClass.PLACE):
            while not holds(view := self.looks()):
                if monotonic() > until:
                    raise PreconditionFailed(f"{what}: not within {limit:g} s")
                sleep(_AGAIN)
        return view

    def stays(self, holds: Callable[[View], bool], what: str) -> None:
        """Look for the quiet window; fail if it does not hold at one of the looks."""
        until = monotonic() + self.deadlines.quiet
        with waiting(what, self.deadlines.quiet, WaitClass.QUIET):
            while monotonic() < until:
                if not holds(self.looks()):
                    raise ConformanceFailure(f"it does not hold that {what}", expected=what)
                sleep(_AGAIN)

    def awaits_started(self, application: str, containers: int = 1) -> tuple[str, ...]:
        """Wait until so many containers of an application have started; return their keys."""
        what = f"{containers} containers of {application} start"
        view = self.waits_until(lambda view: len(view.started(application)) >= containers, what)
        return view.started(application)

    def expects(self, holds: Callable[[View], bool], what: str) -> View:
        """Look until ``holds``; ConformanceFailure if it does not within the limit."""
        try:
            return self.waits_until(holds, what)
        except PreconditionFailed:
            if holds(view := self.looks()):
                return view
            has = ", ".join(f"{one.phase or 'other'} {one.key}" for one in view.containers)
            happened = f"the RM has the containers: {has or 'none'}"
            raise ConformanceFailure(f"not so: {what}", expected=what, happened=happened) from None

    def _drives(self, command: ext.DriveCommand) -> View:
        if self._driver is None:
            raise PreconditionFailed(f"{command.WhichOneof('action')} {NEEDS_A_DRIVER}")
        return _view(self._driver.drive(command))


def _group(group: Group) -> ext.Workload.Group:
    return ext.Workload.Group(
        task_group=group.name,
        members=group.members,
        resource=dict(group.resource),
        real_containers=group.real_containers,
        priority=group.priority,
        labels=dict(group.labels),
        allowed_nodes=group.allowed_nodes,
        stopping_milliseconds=round(group.stopping * _MILLISECONDS),
    )


def _view(outcome: ext.DriveOutcome) -> View:
    containers = tuple(
        Container(
            one.allocation_key,
            one.application_id,
            one.node_id,
            _PHASES.get(one.phase, ""),
            one.task_group,
            one.placeholder,
        )
        for one in outcome.containers
    )
    return View(
        tuple(outcome.running_keys),
        containers,
        {one.application_id: one.over for one in outcome.applications},
        {one.application_id: one.state for one in outcome.applications},
    )
