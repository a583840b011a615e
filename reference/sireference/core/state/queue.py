"""The queue tree: limits, usage kept on the whole path, and which queue is served next."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sireference.configuration.model import PriorityPolicy, QueueConfig, SortPolicy
from sireference.core.resources import NOTHING, Resource, share_of_right
from sireference.core.state.admission_order import AdmissionOrder
from sireference.core.state.ask_group import AskGroup
from sireference.core.state.lazy_heap import LazyHeap, SortKey
from sireference.core.state.quota import Quota
from sireference.core.state.timers import Timer
from sireference.core.state.wait_queue import Bucket

if TYPE_CHECKING:
    from sireference.core.state.application import Application
    from sireference.core.state.limits import UserQuota


class Queue(Quota):
    """One queue; ``number`` counts siblings in the order of the configuration."""

    __slots__ = (
        "_born",
        "_sorts_by_priority",
        "_waiting",
        "applications",
        "beginning",
        "children",
        "config",
        "gathering",
        "guaranteed",
        "is_draining",
        "is_dynamic",
        "is_fair",
        "name",
        "notified_buckets",
        "number",
        "parent",
        "path",
        "priority",
        "root",
        "sort_key",
        "starting",
        "timer",
        "total",
        "turns",
        "user_quotas",
    )

    def __init__(self, config: QueueConfig, parent: "Queue | None" = None, number: int = 0) -> None:
        super().__init__()
        self.parent = parent
        self.root: Queue = parent.root if parent else self
        self.total = NOTHING  # of all nodes; at the root
        self.number = number
        self.is_dynamic = False  # made by a placement rule
        self.is_draining = False  # takes no new applications
        self.applications = 0  # in this leaf
        self.timer: Timer | None = None  # until an empty queue goes
        self.name: str = config.name if parent is None else f"{parent.name}.{config.name}"
        self.path: tuple[Queue, ...] = (self, *(parent.path if parent else ()))  # up to the root
        self.user_quotas: dict[tuple[str, str], UserQuota] = {}  # by "user" or "group", and name
        self.gathering = AdmissionOrder()  # of gangs
        self.beginning = AdmissionOrder()  # of a state-aware leaf
        self.starting: set[int] = set()  # applications in state Starting, by their numbers
        self.sort_key: SortKey | None = None
        self.priority = 0  # as it is seen from outside, of the ask it would have served
        # with lines awake: the children of a parent, the applications of a leaf
        self._waiting: LazyHeap[Queue | Application] = LazyHeap()
        self.notified_buckets: dict[
            Bucket, None
        ] = {}  # of lines that may be worth a look; at the root
        self.turns: dict[Queue, None] = {}  # leaves whose gangs are to be looked at; at the root
        self.children: dict[str, Queue] = {}
        self._born = 0  # children there have been
        self.configure(config)
        for child in config.queues:
            self.add(child)

    def configure(self, config: QueueConfig) -> None:
        """Take limits and properties from ``config``."""
        self.config = config
        self.maximum = None if config.max is None else Resource(config.max)
        self.guaranteed = None if config.guaranteed is None else Resource(config.guaranteed)
        self.most_applications = config.max_applications
        self.is_fair = config.properties.sort_policy is SortPolicy.FAIR
        self._sorts_by_priority = config.properties.sort_priority

    @property
    def is_state_aware(self) -> bool:
        """Whether its applications begin one after the other."""
        return self.config.properties.sort_policy is SortPolicy.STATE_AWARE

    def add(self, config: QueueConfig) -> "Queue":
        """A new child."""
        child = Queue(config, self, self._born)
        self._born += 1
        self.children[config.name] = child
        return child

    def remove(self, child: "Queue") -> None:
        """``child`` is gone."""
        child.stop_timer()
        del self.children[child.config.name]
        self._waiting.leave(child)
        child.let_go()

    def sort_children(self, names: Iterable[str]) -> None:
        """Bring the children into the order of ``names``, those not named after them."""
        place = {name: number for number, name in enumerate(names)}
        last = len(place)
        children = list(self.children.values())
        children.sort(key=lambda child: (place.get(child.config.name, last), child.number))
        self.children = {child.config.name: child for child in children}
        self._born = len(children)
        for number, child in enumerate(children):
            child.number = number

    def let_go(self) -> None:
        """It is gone, with all below it: nothing there refers to itself any more."""
        super().let_go()
        for user_quota in self.user_quotas.values():
            user_quota.let_go()
        for child in self.children.values():
            child.let_go()
        self.user_quotas.clear()
        self.children.clear()
        self.notified_buckets.clear()
        self.gathering, self.beginning = AdmissionOrder(), AdmissionOrder()
        self._waiting = LazyHeap()
        self.path = ()
        del self.root

    @property
    def is_empty(self) -> bool:
        """Whether there is neither an application nor a queue in it."""
        return not self.applications and not self.children

    def stop_timer(self) -> None:
        """It stays."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def all(self) -> Iterator["Queue"]:
        """This queue and everything below it, parents first."""
        yield self
        for child in self.children.values():
            yield from child.all()

    # Who is served next

    def wake(self, application: "Application") -> None:
        """``application`` of this leaf has a line awake."""
        member: Queue | Application = application
        above: Queue | None = self
        while above is not None and above._waiting.join(member):  # noqa: SLF001  # a queue, too
            member, above = above, above.parent

    def forget(self, application: "Application") -> None:
        """``application`` is out of this leaf."""
        self._waiting.leave(application)

    def next_ask_group(self) -> AskGroup | None:
        """The line whose turn it is below this root, None when all sleep.

        Among siblings, and among the applications of a leaf, the one comes first that would have an
        ask of higher priority served; then, among queues and in a fair leaf, the one with the
        smaller share; then the queue configured or the application submitted first. Where parent or
        leaf do not sort by priority, priority only decides between equal shares.
        """
        while True:
            while self.notified_buckets:
                self.notified_buckets.popitem()[0].notify_first()
            member: Queue | Application | None = self._waiting.first()
            while isinstance(member, Queue):
                member = member._waiting.top()  # noqa: SLF001  # a queue, too
            if member is None:
                return None
            ask_group = member.awake.top()
            if ask_group.waits_in is None or ask_group.waits_in.may_go(ask_group):
                ask_group.unblock()
                return ask_group
            member.dismiss(ask_group)

    def next_sort_key(self) -> SortKey | None:
        """The turn among its siblings."""
        first = self._waiting.first()
        if first is None or self.parent is None:
            return None
        properties = self.config.properties
        is_fenced = properties.priority_policy is PriorityPolicy.FENCE
        self.priority = properties.priority_offset + (0 if is_fenced else first.priority)
        share = share_of_right(self.used, self.guaranteed, self.root.total)
        if self.parent._sorts_by_priority:  # noqa: SLF001  # a queue, too
            return -self.priority, share, self.number
        return share, -self.priority, self.number

    @property
    def basis(self) -> tuple[object, ...]:
        """What the turns of its applications rest on besides themselves, to see if it changed."""
        if not self.is_fair:
            return (self._sorts_by_priority,)
        return self._sorts_by_priority, self.guaranteed, self.root.total

    def sort_key_of(self, application: "Application", priority: int) -> SortKey:
        """The turn of ``application`` in this leaf with an ask of this priority."""
        share = 0.0
        if self.is_fair:
            share = share_of_right(application.used, self.guaranteed, self.root.total)
        if self._sorts_by_priority:
            return -priority, share, application.number
        return share, -priority if self.is_fair else 0, application.number
