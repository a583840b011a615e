"""A resource manager in the scheduler's process, for tests of the API."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sireference.api import SchedulerAPI, SIError
from siwire import Revision
from tests.coding import resource
from tests.configuring import tree
from tests.fields import asked, identity_in

QUEUES = tree(
    "{name: default}",
    "{name: entitled, resources: {guaranteed: {memory: 5}}}",
    root="properties: {preemption.delay: 1ms}",
)


class Recorder:
    """Records callbacks; only one may be active at a time."""

    def __init__(self) -> None:
        self.received: list[tuple[str, Any]] = []
        self.threads: set[str] = set()
        self.reacts: Mapping[str, Callable[[Any], Any]] = {}  # by method
        self.overlaps = 0  # calls made while another one was active
        self.has_news = threading.Condition()
        self._is_being_notified = False

    def take(self, method: str, message: Any) -> Any:
        self.overlaps += self._is_being_notified
        self._is_being_notified = True
        self.threads.add(threading.current_thread().name)
        with self.has_news:
            self.received.append((method, message))
            self.has_news.notify_all()
        try:
            return self.reacts[method](message) if method in self.reacts else None
        finally:
            self._is_being_notified = False

    def messages(self, method: str) -> list[Any]:
        return [message for name, message in self.received if name == method]

    def methods(self) -> list[str]:
        return [name for name, _ in self.received]


class PlainRM(Recorder):
    """A callback with the methods for answers alone."""

    def update_allocation(self, response: Any) -> None:
        self.take("update_allocation", response)

    def update_application(self, response: Any) -> None:
        self.take("update_application", response)

    def update_node(self, response: Any) -> None:
        self.take("update_node", response)


class EmbeddedRM(PlainRM):
    """A callback with all methods the SI has since 2023-04; it agrees to every question."""

    def predicates(self, args: Any) -> None:
        self.take("predicates", args)

    def preemption_predicates(self, args: Any) -> Any:
        return self.take("preemption_predicates", args)

    def send_event(self, events: Sequence[Any]) -> None:
        for event in events:
            self.take("send_event", event)

    def update_container_scheduling_state(self, request: Any) -> None:
        self.take("update_container_scheduling_state", request)

    def get_state_dump(self) -> str:
        return '{"pods": 3}'

    def allocations(self) -> list[Any]:
        """Return new allocations, in order."""
        return [new for sent in self.messages("update_allocation") for new in sent.new]

    def released(self) -> list[Any]:
        """Return released allocations, in order."""
        return [gone for sent in self.messages("update_allocation") for gone in sent.released]


class Embedding:
    """An RM that calls the API, with node n1 and application a1 if it is settled."""

    def __init__(self, api: SchedulerAPI, rm: EmbeddedRM, rm_id: str = "rm") -> None:
        self.api = api
        self.rm = rm
        self.rm_id = rm_id
        self.si: Any = api.revision.si

    def registers(self, rm: EmbeddedRM | None = None, config: str = QUEUES) -> Any:
        self.rm = rm or self.rm
        request = self.si.RegisterResourceManagerRequest(rmID=self.rm_id, config=config)
        return self.api.register_resource_manager(request, self.rm)

    def settles(self) -> "Embedding":
        self.registers()
        self.creates("n1", memory=10)
        self.submits("a1")
        return self

    def creates(self, node_id: str, **amounts: int) -> None:
        node = self.si.NodeInfo(
            nodeID=node_id,
            action=self.si.NodeInfo.CREATE,
            schedulableResource=self.resource(**amounts),
        )
        self.api.update_node(self.si.NodeRequest(rmID=self.rm_id, nodes=[node]))

    def submits(self, application_id: str, queue: str = "root.default") -> None:
        new = self.si.AddApplicationRequest(applicationID=application_id, queueName=queue)
        self.api.update_application(self.si.ApplicationRequest(rmID=self.rm_id, new=[new]))

    def asks(self, key: str, application_id: str = "a1", **amounts: int) -> None:
        field, ask = asked(
            self.api.revision,
            self.resource(**amounts),
            allocationKey=key,
            applicationID=application_id,
            preemptionPolicy=self.si.PreemptionPolicy(
                allowPreemptSelf=True, allowPreemptOther=application_id == "entitled"
            ),
        )
        self.api.update_allocation(self.si.AllocationRequest(rmID=self.rm_id, **{field: [ask]}))

    def releases(self, allocation: Any, kind: str = "STOPPED_BY_RM") -> None:
        """End an allocation, or confirm its release."""
        release = self.si.AllocationRelease
        gone = release(
            partitionName="default",
            applicationID=allocation.applicationID,
            terminationType=self.si.TerminationType.Value(kind),
        )
        identity = identity_in(self.api.revision)
        setattr(gone, identity, getattr(allocation, identity))
        together = self.si.AllocationReleasesRequest(allocationsToRelease=[gone])
        self.api.update_allocation(self.si.AllocationRequest(rmID=self.rm_id, releases=together))

    def resource(self, **amounts: int) -> Any:
        return resource(self.si, **amounts)


def refuse(_: Any) -> None:
    """Refuse every question."""
    raise SIError("not here")


def settled(revision: Revision, **more: Any) -> Embedding:
    """An RM with a node and an application, and a clock that never advances."""
    return Embedding(SchedulerAPI(revision, **more), EmbeddedRM()).settles()
