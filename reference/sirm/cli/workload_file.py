"""Workload files: nodes, applications, and what happens after how many seconds."""

from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Final

import msgspec
import yaml

from sirm.core import model as m

Amount = Annotated[int, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Name = Annotated[str, msgspec.Meta(min_length=1)]

_LIMIT: Final = 60.0  # seconds until everything has to have ended, unless the file states another


class InstanceAction(Enum):
    """An action on the RM itself."""

    RESTART = "restart_rm"
    CUT = "cut_connection"


class WorkloadError(Exception):
    """A workload file is invalid; the sentence states where and why."""


class _Strict(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A mapping of the file; unknown keys are errors."""


class NodeEntry(_Strict, frozen=True, kw_only=True):
    """A node."""

    id: Name
    capacity: dict[str, Amount]
    attributes: dict[str, str] = {}
    cordoned: bool = False


class GroupEntry(_Strict, frozen=True, kw_only=True):
    """Containers of one shape; with a task group the members of a gang."""

    resource: dict[str, Amount]
    members: Count = 1
    task_group: str = ""
    real_containers: Count = 0
    priority: int = 0
    labels: dict[str, str] = {}
    allowed_nodes: tuple[str, ...] = ()
    stopping: Seconds = 0.0
    runs: Seconds | None = None


class ApplicationEntry(_Strict, frozen=True, kw_only=True):
    """An application, when it is submitted, and how it ends."""

    id: Name
    groups: tuple[GroupEntry, ...]
    queue: str = ""
    user: str = ""
    placeholder_timeout: Seconds = 0.0
    gang_style: str = ""
    after: Seconds = 0.0
    ends: str = "completed"


class Step(_Strict, frozen=True, kw_only=True):
    """One action after some seconds."""

    after: Seconds
    cordon_node: str = ""
    uncordon_node: str = ""
    remove_node: str = ""
    end_application: str = ""
    restart_rm: bool = False
    cut_connection: bool = False


class WorkloadFile(_Strict, frozen=True, kw_only=True):
    """The whole file."""

    nodes: tuple[NodeEntry, ...] = ()
    applications: tuple[ApplicationEntry, ...]
    steps: tuple[Step, ...] = ()
    within: Seconds = _LIMIT

    def actions(self) -> Iterator[tuple[float, m.Action | InstanceAction]]:
        """Yield times and actions in order; the nodes come first."""
        for node in self.nodes:
            yield 0.0, m.AddNode(node.id, node.capacity, node.attributes, node.cordoned)
        later: list[tuple[float, m.Action | InstanceAction]] = [
            (entry.after, m.Submit(_workload(entry))) for entry in self.applications
        ]
        later += [(step.after, _action(step)) for step in self.steps]
        yield from sorted(later, key=lambda one: one[0])


def read(path: Path) -> WorkloadFile:
    """Read a workload file. Raises WorkloadError."""
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
        found = msgspec.convert(document, WorkloadFile)
    except (OSError, UnicodeDecodeError) as error:
        raise WorkloadError(f"{path} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise WorkloadError(f"{path} is not YAML: {error}") from None
    except msgspec.ValidationError as error:
        raise WorkloadError(f"{path}: {error}") from None
    for problem in _problems(found):
        raise WorkloadError(f"{path}: {problem}")
    return found


def _problems(found: WorkloadFile) -> Iterator[str]:
    for kind, ids in (
        ("nodes", [node.id for node in found.nodes]),
        ("applications", [application.id for application in found.applications]),
    ):
        for index, name in enumerate(ids):
            if name in ids[:index]:
                yield f'id "{name}" is used twice - at `$.{kind}[{index}].id`'
    for number, application in enumerate(found.applications):
        for index, group in enumerate(application.groups):
            if group.real_containers and not group.task_group:
                place = f"$.applications[{number}].groups[{index}]"
                yield f"real_containers need a task_group - at `{place}`"
    for index, step in enumerate(found.steps):
        if len(_set_actions(step)) != 1:
            yield f"a step needs exactly one action - at `$.steps[{index}]`"


def _set_actions(step: Step) -> list[str]:
    names = [name for name in step.__struct_fields__ if name != "after"]
    return [name for name in names if getattr(step, name)]


def _action(step: Step) -> m.Action | InstanceAction:
    by_name: dict[str, Callable[[str], m.Action]] = {
        "cordon_node": m.Cordon,
        "uncordon_node": m.Uncordon,
        "remove_node": m.RemoveNode,
        "end_application": m.EndApplication,
    }
    (name,) = _set_actions(step)
    return by_name[name](getattr(step, name)) if name in by_name else InstanceAction(name)


def _workload(entry: ApplicationEntry) -> m.Workload:
    groups = tuple(m.Group(**msgspec.structs.asdict(group)) for group in entry.groups)
    return m.Workload(
        entry.id, groups, entry.queue, entry.user, entry.placeholder_timeout, entry.gang_style
    )
