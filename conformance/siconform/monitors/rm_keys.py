"""The rule about the keys an RM gives, where the kit is the scheduler."""

from collections import defaultdict
from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.protocol.application_states import OVER
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Released,
    Termination,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry


def no_key_names_two_things() -> Evaluator:
    """A key in use for one application comes for no other, nor for a foreign allocation.

    Two things of one application cannot be told from one that is updated.
    """
    in_use = _KeysInUse()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(key=key, application=application):
                node = ""
            case ExistingAllocationRequest(allocation=one):
                key, application, node = one.key, one.application, one.node
            case ForeignAllocationRequest(key=key, node=node):
                application = ""
            case content:
                in_use.observe(content)
                return NOTHING_TO_EVALUATE
        key = key_of(key)
        others = [name or "a foreign allocation" for name in in_use.uses(key, application, node)]
        used_by = " and ".join(others)
        new = application or "a foreign allocation"
        return violated_if(others, f"key {key} is given to {new}, and in use for {used_by}")

    return evaluate


class _KeysInUse:
    """The applications, "" for none, and nodes under each key; over as soon as that may be."""

    def __init__(self) -> None:
        self._nodes: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._keys: defaultdict[str, set[str]] = defaultdict(set)  # by application

    def uses(self, key: str, application: str, node: str) -> list[str]:
        """Note the use of a key; return the other applications that use it."""
        self._nodes[key][application] = node
        self._keys[application].add(key)
        return [other for other in self._nodes[key] if other != application]

    def observe(self, content: Content) -> None:
        """Note the ends of uses, and where allocations are."""
        match content:
            case Allocated(key=key, application=application, node=node):
                if application in self._nodes.get(key_of(key), ()):
                    self._nodes[key_of(key)][application] = node
            case NodeRequest(action=Action.DECOMMISSION, node=gone):
                on_it = [
                    (application, key)
                    for key, uses in self._nodes.items()
                    for application, node in uses.items()
                    if node == gone
                ]
                for application, key in on_it:
                    self._drop(application, key)
            case ApplicationRemoval(application=over) | ApplicationRejected(application=over):
                self._drop_all(over)
            case ApplicationUpdated(application=over, state=state) if OVER.accepts(state):
                self._drop_all(over)
            case AskRejected() | AllocationRejected():
                self._ends(OneAsk(content.application, content.key))
            case Released(termination=Termination.STOPPED_BY_RM) | AskReleased():
                self._ends(content.subject)
            case ReleaseRequest(subject=subject) | AskReleaseRequest(subject=subject):
                self._ends(subject)

    def _ends(self, subject: OneAllocation | OneAsk | AllOf | AllThereIs) -> None:
        match subject:
            case (
                OneAllocation(application=over, identity=name) | OneAsk(application=over, key=name)
            ):
                self._drop(over, key_of(name))
            case AllOf(application=over):
                self._drop_all(over)
            case AllThereIs():
                self._nodes.clear()
                self._keys.clear()

    def _drop_all(self, application: str) -> None:
        """Drop all uses for an application."""
        for key in list(self._keys.get(application, ())):
            self._drop(application, key)

    def _drop(self, application: str, key: str) -> None:
        """Drop a use that is over."""
        uses = self._nodes.get(key, {})
        uses.pop(application, None)
        if not uses:
            self._nodes.pop(key, None)
        keys = self._keys.get(application)
        if keys is not None:
            keys.discard(key)
            if not keys:
                del self._keys[application]


MONITORS: Final = (
    Monitor(
        no_key_names_two_things,
        ("SI-ALLOC-017",),
        observes=(
            AskRequest,
            ExistingAllocationRequest,
            ForeignAllocationRequest,
            Allocated,
            NodeRequest,
            ApplicationRemoval,
            ApplicationRejected,
            ApplicationUpdated,
            AskRejected,
            AllocationRejected,
            Released,
            AskReleased,
            ReleaseRequest,
            AskReleaseRequest,
        ),
        identity=Identity.KEY_OF_THE_ASK,
    ),
)
