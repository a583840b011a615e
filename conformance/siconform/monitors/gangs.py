"""Rules about gangs: a placeholder and its replacement never hold capacity at the same time."""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Final, NamedTuple

from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import REPORTING, recovered_in
from siconform.monitors.restated import Updated
from siconform.protocol.notifications import Allocated, Released, Termination
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Content, Entry


class _Group(NamedTuple):
    application: str
    name: str


def replacements_wait_for_their_confirmation() -> Evaluator:
    """While a placeholder is being replaced, one real ask of its group is still pending.

    Each open release is for a different real ask, no matter which. A withdrawn one still counts:
    its placeholder ends anyway.
    """
    replacements = _Replacements()
    wanted: Counter[_Group] = Counter()
    groups: defaultdict[str, set[_Group]] = defaultdict(set)  # groups by key
    recovered: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(task_group=name, placeholder=False) as ask if name:
                wanted[_Group(ask.application, name)] += max(ask.max_allocations, 0)
                groups[ask.key].add(_Group(ask.application, name))
            case Updated(key=key, ask=AskRequest(task_group=name, placeholder=False) as ask) if (
                name and _Group(ask.application, name) not in groups[key]
            ):
                wanted[_Group(ask.application, name)] += 1  # if the update is accepted
                groups[key].add(_Group(ask.application, name))
            case Allocated(task_group=name, placeholder=False, identity=identity) as new if (
                name and identity not in recovered
            ):
                group = _Group(new.application, name)
                wanted[group] -= 1
                if group in replacements.seen:
                    message = f"allocation {identity} came before its placeholder was confirmed"
                    return violated_if(replacements.open(group) > wanted[group], message)
            case content:
                if reported := recovered_in(content):
                    recovered.update(existing.identity for existing in reported)
                replacements.observe(content)
        return NOTHING_TO_EVALUATE

    return evaluate


class _Replacements:
    """The placeholders that are being replaced and still hold capacity."""

    def __init__(self) -> None:
        self.seen: set[_Group] = set()  # that had any replacement
        self._placeholders: dict[str, Allocated] = {}
        self._open: set[str] = set()  # identities
        self._confirmed: set[str] = set()  # repeated releases of these open nothing

    def open(self, group: _Group) -> int:
        """Count the placeholders of this group that are being replaced and still hold capacity."""
        return sum(_group(self._placeholders[identity]) == group for identity in self._open)

    def observe(self, content: Content) -> None:
        match content:
            case Allocated(placeholder=True):
                self._placeholders[content.identity] = content
            case Released(termination=Termination.PLACEHOLDER_REPLACED, identity=identity):
                if identity in self._placeholders and identity not in self._confirmed:
                    self._open.add(identity)
                    self.seen.add(_group(self._placeholders[identity]))
            case (
                ReleaseRequest(subject=AllOf(application=application))
                | Released(identity="", application=application)
                | ApplicationRemoval(application=application)
            ):
                self._ends(lambda placeholder: placeholder.application == application)
            case (
                ReleaseRequest(subject=OneAllocation(identity=identity))
                | Released(identity=identity)
            ):
                if identity in self._open:
                    self._confirmed.add(identity)
                self._open.discard(identity)
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._ends(lambda placeholder: placeholder.node == node)
            case _:
                existing = [a for a in recovered_in(content) if a.placeholder is True]
                self._placeholders.update({a.identity: a for a in existing})
                self._confirmed.difference_update(a.identity for a in existing)

    def _ends(self, which: Callable[[Allocated], bool]) -> None:
        self._open = {i for i in self._open if not which(self._placeholders[i])}


def _group(placeholder: Allocated) -> _Group:
    return _Group(placeholder.application, placeholder.task_group)


MONITORS: Final = (
    Monitor(
        replacements_wait_for_their_confirmation,
        ("SI-GANG-020",),
        observes=(
            AskRequest,
            Updated,
            Allocated,
            Released,
            ReleaseRequest,
            ApplicationRemoval,
            *REPORTING,
        ),
    ),
)
