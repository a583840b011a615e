"""Queue tree: limits, usage along the path, and the order of service."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from sireference.configuration.model import PriorityPolicy, QueueConfig, SortPolicy
from sireference.core.resources import NOTHING, Resource, share_of_right
from sireference.core.state.admission_order import AdmissionOrder, Applicant
from sireference.core.state.lazy_heap import LazyHeap, SortKey
from sireference.core.state.quota import Quota
from sireference.core.state.timers import Timer, cancel
from sireference.core.state.user_quota import Holder, UserQuota
from sireference.core.state.wait_queue import Bucket


class Served(Protocol):
    """A member below a queue: a child queue, or in a leaf an application."""

    sort_key: SortKey | None
    priority: int  # of the next ask to be served

    def next_sort_key(self) -> SortKey | None:
        """Return its current sort key among siblings, None if it has nothing to serve."""


class LeafApplication(Applicant, Served, Protocol):
    """An application of a leaf."""

    @property
    def used(self) -> Resource:
        """Return the usage of all of its allocations."""

    @property
    def held(self) -> int:
        """Return the number of its allocations."""

    def pass_turn(self) -> None:
        """Let the next gang of the leaf gather: this one got nothing in its turn."""


class Queue(Quota):
    """One queue; ``number`` counts siblings in configuration order.

    The next ask is found from the root down, see `service_order`. Among siblings, and among the
    applications of a leaf, the member whose next ask has the higher priority comes first; then,
    among queues and in a fair leaf, the one with the smaller share; then the first configured or
    submitted. If parent or leaf do not sort by priority, priority only decides between equal
    shares.
    """

    __slots__ = (
        "_behind_fence",
        "_created",
        "_sorts_by_priority",
        "_total",
        "applications",
        "beginning",
        "changed_buckets",
        "children",
        "config",
        "gangs_moved",
        "gathering",
        "guaranteed",
        "is_draining",
        "is_dynamic",
        "is_fair",
        "is_state_aware",
        "name",
        "number",
        "parent",
        "path",
        "priority",
        "root",
        "served",
        "sort_key",
        "starting",
        "timer",
        "total",
        "user_quotas",
    )

    def __init__(self, config: QueueConfig, parent: "Queue | None" = None, number: int = 0) -> None:
        super().__init__()
        self.parent = parent
        self.root: Queue = parent.root if parent else self
        self.total = NOTHING  # of all nodes; at the root
        self._total = NOTHING  # base of the shares in sort keys below
        self.number = number
        self.is_dynamic = False  # created by a placement rule
        self.is_draining = False  # accepts no applications
        self.applications = 0  # in this leaf
        self.timer: Timer | None = None  # until an empty queue is removed
        self.name: str = config.name if parent is None else f"{parent.name}.{config.name}"
        self.path: tuple[Queue, ...] = (self, *(parent.path if parent else ()))  # up to the root
        self.user_quotas: dict[Holder, UserQuota] = {}
        self.gathering: AdmissionOrder[LeafApplication] = AdmissionOrder()  # of gangs
        self.beginning: AdmissionOrder[LeafApplication] = AdmissionOrder()  # if it is state-aware
        self.starting: set[int] = set()  # applications in state Starting, by number
        self.sort_key: SortKey | None = None
        self.priority = 0  # of the next ask to be served, as seen from outside
        # members with something to serve: children of a parent, applications of a leaf
        self.served: LazyHeap[Queue | LeafApplication] = LazyHeap()
        self.changed_buckets: dict[Bucket[Any], None] = {}  # of all leaves; at the root
        self.gangs_moved: dict[Queue, None] = {}  # leaves with gangs to check; at the root
        self.children: dict[str, Queue] = {}
        self._created = 0  # children created so far
        self.configure(config)
        for child in config.queues:
            self.add(child)

    def configure(self, config: QueueConfig) -> None:
        """Set limits and properties from ``config``."""
        self.config = config
        self.maximum = None if config.max is None else Resource(config.max)
        self.guaranteed = None if config.guaranteed is None else Resource(config.guaranteed)
        self.most_applications = config.max_applications
        self.is_fair = config.properties.sort_policy is SortPolicy.FAIR
        # its applications begin one after the other
        self.is_state_aware = config.properties.sort_policy is SortPolicy.STATE_AWARE
        self._sorts_by_priority = config.properties.sort_priority
        self._behind_fence = config.properties.priority_policy is PriorityPolicy.FENCE

    def limit(
        self,
        maximum: Resource | None,
        guaranteed: Resource | None,
        most_applications: int | None,
    ) -> None:
        """Set limits; wake what fits below them now and update the share."""
        self.maximum, self.guaranteed = maximum, guaranteed
        self.most_applications = most_applications
        self.wake_fitting()
        self.wake_for_slot()
        if self.parent is not None:
            self.parent._update(self)  # noqa: SLF001  # a queue, too

    @property
    def is_empty(self) -> bool:
        """Return whether there is neither an application nor a queue in it."""
        return not self.applications and not self.children

    def all(self) -> Iterator["Queue"]:
        """Yield this queue and everything below it, parents first."""
        yield self
        for child in self.children.values():
            yield from child.all()

    def add(self, config: QueueConfig) -> "Queue":
        """Add a child queue."""
        child = Queue(config, self, self._created)
        self._created += 1
        self.children[config.name] = child
        return child

    def remove(self, child: "Queue") -> None:
        """Remove ``child``, which is gone."""
        child.stop_timer()
        del self.children[child.config.name]
        self.served.remove(child)
        child.let_go()

    def sort_children(self, names: Iterable[str]) -> None:
        """Sort the children in the order of ``names``, others last."""
        place = {name: number for number, name in enumerate(names)}
        last = len(place)
        children = list(self.children.values())
        children.sort(key=lambda child: (place.get(child.config.name, last), child.number))
        self.children = {child.config.name: child for child in children}
        self._created = len(children)
        for number, child in enumerate(children):
            child.number = number

    def let_go(self) -> None:
        """Drop all references of a removed queue and its children."""
        super().let_go()
        self.forget_user_quotas()
        for child in self.children.values():
            child.let_go()
        self.children.clear()
        self.changed_buckets.clear()
        self.gathering, self.beginning = AdmissionOrder(), AdmissionOrder()
        self.served = LazyHeap()
        self.path = ()
        del self.root

    def drain(self, *, keeps_dynamic: bool) -> None:
        """Drain the queue and its children except dynamic queues."""
        for queue in self.all():
            queue.is_draining = not (keeps_dynamic and queue.is_dynamic)

    def forget_user_quotas(self) -> None:
        """Remove user quotas, which no application counts against any more."""
        for user_quota in self.user_quotas.values():
            user_quota.let_go()
        self.user_quotas.clear()

    def stop_timer(self) -> None:
        """Cancel the removal of the queue: it is needed, empty or not."""
        cancel(self.timer)
        self.timer = None

    def first_served(self) -> "Queue | LeafApplication | None":
        """Return the member to serve first, None if there is nothing to serve."""
        total = self.root.total
        if self._total is not total and (self.children or self.is_fair):
            self._total = total
            self.served.update_all()
        return self.served.first()

    def awakens(self, application: LeafApplication) -> None:
        """Handle that ``application`` has something to serve, or uses less."""
        self._update(application)

    def shrunk(self) -> None:
        """Handle lower usage below: the queue may come earlier among its siblings."""
        super().shrunk()
        if self.parent is not None:
            self.parent._update(self)  # noqa: SLF001  # a queue, too

    def _update(self, member: "Queue | LeafApplication") -> None:
        """Move up ``member``, and all parents, if they come earlier now."""
        above: Queue | None = self
        while above is not None and above.served.update(member):
            member, above = above, above.parent

    def forget(self, application: LeafApplication) -> None:
        """Remove ``application`` from this leaf."""
        self.served.remove(application)

    def changed(self, bucket: Bucket[Any]) -> None:
        """Have the first of ``bucket`` notified before the next ask is chosen."""
        self.root.changed_buckets[bucket] = None

    def next_sort_key(self) -> SortKey | None:
        """Return its current sort key among its siblings; None with nothing to serve."""
        first = self.first_served()
        if first is None or self.parent is None:
            return None
        offset = self.config.properties.priority_offset
        self.priority = offset + (0 if self._behind_fence else first.priority)
        share = 0.0
        if len(self.parent.children) > 1:
            share = share_of_right(self.used, self.guaranteed, self.root.total)
        if self.parent._sorts_by_priority:  # noqa: SLF001  # a queue, too
            return -self.priority, share, self.number
        return share, -self.priority, self.number

    @property
    def sort_basis(self) -> tuple[object, ...]:
        """Return what sort keys of its applications depend on besides them, to detect changes."""
        if not self.is_fair:
            return (self._sorts_by_priority,)
        return self._sorts_by_priority, self.guaranteed, self.root.total

    def sort_key_of(self, application: LeafApplication, priority: int) -> SortKey:
        """Return the sort key of ``application`` with an ask of this priority, the lowest first."""
        share = 0.0
        if self.is_fair:
            share = share_of_right(application.used, self.guaranteed, self.root.total)
        if self._sorts_by_priority:
            return -priority, share, application.number
        return share, -priority if self.is_fair else 0, application.number
