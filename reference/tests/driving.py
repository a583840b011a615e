"""A resource manager for tests of the pure core: sends events, returns the effects as a list."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from sireference.configuration.defaults import default_configuration
from sireference.configuration.model import Configuration
from sireference.configuration.parsing import parse_configuration
from sireference.core.model import (
    AllocationRecord,
    AllOfApplication,
    Ask,
    AskReleaseRequest,
    AskSubject,
    Callback,
    EachOfKey,
    Effect,
    Everything,
    NewAllocation,
    NewApplication,
    NodeInfo,
    OfferCallbacks,
    OneAllocation,
    OneOfKey,
    Register,
    RejectedAsk,
    ReleasedAllocation,
    ReleaseRequest,
    RemoveApplication,
    Rules,
    Settings,
    UpdateAllocations,
    UpdateApplications,
    UpdateConfiguration,
    UpdatedApplication,
    UpdateNodes,
)
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from sireference.core.state.partition import Partition
from sireference.core.states import NodeAction, TerminationType

Kind = TypeVar("Kind")

STOPPED = TerminationType.STOPPED_BY_RM
TIMEOUT = TerminationType.TIMEOUT


def of(effects: Iterable[Effect], kind: type[Kind]) -> list[Kind]:
    """Return the effects of one kind."""
    return [effect for effect in effects if isinstance(effect, kind)]


def states(effects: Iterable[Effect]) -> list[str]:
    """Return the states reported, in order."""
    return [update.state.value for update in of(effects, UpdatedApplication)]


def keys(effects: Iterable[Effect]) -> list[str]:
    """Return the keys of new allocations, in order."""
    return [new.allocation.ask.key for new in of(effects, NewAllocation)]


def placed(effects: Iterable[Effect]) -> list[tuple[str, str]]:
    """Return key and node of new allocations, in order."""
    return [(n.allocation.ask.key, n.allocation.node_id) for n in of(effects, NewAllocation)]


def released(effects: Iterable[Effect]) -> list[tuple[str, TerminationType]]:
    """Return identity and type of released allocations, in order."""
    return [(r.release.identity, r.release.termination) for r in of(effects, ReleasedAllocation)]


def refused_keys(effects: Iterable[Effect]) -> list[str]:
    """Return the keys of rejected asks, in order."""
    return [rejected.key for rejected in of(effects, RejectedAsk)]


def of_allocations(
    application_id: str,
    identity: str = "",
    termination: TerminationType = STOPPED,
    partition: str = "default",
    key: str = "",
) -> ReleaseRequest:
    """Return the release of one allocation; without identity, of all of the application."""
    one = OneAllocation(application_id, identity, key or None)
    subject = one if identity else AllOfApplication(application_id)
    return ReleaseRequest(partition, subject, termination)


def of_asks(
    application_id: str = "",
    key: str = "",
    termination: TerminationType = STOPPED,
    partition: str = "default",
) -> AskReleaseRequest:
    """Return the release of pending asks by key and application; of all asks without both."""
    subject: AskSubject
    match bool(application_id), bool(key):
        case True, True:
            subject = OneOfKey(application_id, key)
        case True, False:
            subject = AllOfApplication(application_id)
        case False, True:
            subject = EachOfKey(key)
        case _:
            subject = Everything()
    return AskReleaseRequest(partition, subject, termination)


class RM:
    """One resource manager of one scheduler, with a clock that tests advance."""

    def __init__(
        self,
        *,
        scheduler: Scheduler | None = None,
        rm_id: str = "rm",
        queues: str = "",
        settings: Settings | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.scheduler = scheduler or Scheduler(settings)
        self.rules = rules or Rules()
        self.rm_id = rm_id
        self.now = 1000.0
        self.registers(queues)

    def registers(self, queues: str = "") -> list[Effect]:
        configuration = parse_configuration(queues) if queues else default_configuration()
        return self.registers_with(configuration)

    def registers_with(self, configuration: Configuration) -> list[Effect]:
        return self.scheduler.handle(
            Register(self.rm_id, configuration, rules=self.rules), self.now
        )

    def reconfigures(self, queues: str, **more: Any) -> list[Effect]:
        """Update the configuration; without an argument, to the default one."""
        configuration = parse_configuration(queues) if queues else default_configuration()
        event = UpdateConfiguration(self.rm_id, configuration, **more)
        return self.scheduler.handle(event, self.now)

    def offers(self, *callbacks: Callback) -> list[Effect]:
        """Take exactly these callbacks from now on."""
        return self.scheduler.handle(OfferCallbacks(self.rm_id, frozenset(callbacks)), self.now)

    def send_node_action(
        self,
        node_id: str,
        action: NodeAction,
        amounts: Mapping[str, int] | None = None,
        *,
        occupied: Mapping[str, int] | None = None,
        **more: Any,
    ) -> list[Effect]:
        info = NodeInfo(
            node_id,
            action,
            capacity=None if amounts is None else Resource(amounts),
            occupied=None if occupied is None else Resource(occupied),
            **more,
        )
        return self.scheduler.handle(UpdateNodes(self.rm_id, (info,)), self.now)

    def creates(
        self,
        node_id: str,
        occupied: Mapping[str, int] | None = None,
        capacity: Mapping[str, int] | None = None,
        **amounts: int,
    ) -> list[Effect]:
        return self.send_node_action(
            node_id, NodeAction.CREATE, capacity or amounts, occupied=occupied
        )

    def drains(self, node_id: str) -> list[Effect]:
        return self.send_node_action(node_id, NodeAction.DRAIN_NODE)

    def undrains(self, node_id: str) -> list[Effect]:
        return self.send_node_action(node_id, NodeAction.DRAIN_TO_SCHEDULABLE)

    def decommissions(self, node_id: str) -> list[Effect]:
        return self.send_node_action(node_id, NodeAction.DECOMMISSION)

    def updates(self, node_id: str, **amounts: int) -> list[Effect]:
        return self.send_node_action(node_id, NodeAction.UPDATE, amounts or None)

    def submits(
        self, application_id: str, queue: str = "root.default", **more: Any
    ) -> list[Effect]:
        new = NewApplication(application_id, queue, **more)
        return self.scheduler.handle(UpdateApplications(self.rm_id, (new,)), self.now)

    def removes(self, application_id: str, partition: str = "default") -> list[Effect]:
        removal = RemoveApplication(application_id, partition)
        return self.scheduler.handle(UpdateApplications(self.rm_id, (), (removal,)), self.now)

    def send(self, **more: Any) -> list[Effect]:
        return self.scheduler.handle(UpdateAllocations(self.rm_id, **more), self.now)

    def asks(
        self,
        key: str,
        application_id: str = "a1",
        *,
        most: int = 1,
        more: Any = None,
        resource: Mapping[str, int] | None = None,
        **amounts: int,
    ) -> list[Effect]:
        ask = Ask(
            key,
            application_id,
            resource=Resource(resource or amounts),
            max_allocations=most,
            **(more or {}),
        )
        return self.send(asks=(ask,))

    def withdraws(
        self,
        key: str = "",
        application_id: str = "a1",
        termination: TerminationType = STOPPED,
        partition: str = "default",
    ) -> list[Effect]:
        return self.send(ask_releases=(of_asks(application_id, key, termination, partition),))

    def releases(
        self,
        identity: str = "",
        application_id: str = "a1",
        termination: TerminationType = STOPPED,
        *,
        partition: str = "default",
        key: str = "",
    ) -> list[Effect]:
        release = of_allocations(application_id, identity, termination, partition, key)
        return self.send(releases=(release,))

    def reports(self, *allocations: AllocationRecord) -> list[Effect]:
        return self.send(allocations=allocations)

    @property
    def partition(self) -> Partition:
        rm = self.scheduler.rms.known(self.rm_id)
        assert rm is not None
        return rm.partitions["default"]

    def waits(self, seconds: float) -> list[Effect]:
        """Advance the clock; every deadline on the way fires at its time."""
        end = self.now + seconds
        effects: list[Effect] = []
        while (deadline := self.scheduler.next_deadline()) is not None and deadline <= end:
            self.now = deadline
            effects += self.scheduler.handle_timeout(self.now)
        self.now = end
        return effects


def identities(effects: Iterable[Effect]) -> list[str]:
    """Return the identities of new allocations, in order."""
    return [new.allocation.identity for new in of(effects, NewAllocation)]
