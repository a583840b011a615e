"""The queues of a configuration: placement of applications and quotas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from mutation.independent.amounts import Amounts, keeps, minus, plus

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_FALLBACK = "partitions: [{name: default, queues: [{name: root, queues: [{name: default}]}]}]"


class BadConfigurationError(ValueError):
    """An invalid configuration."""


@dataclass
class Queue:
    """A queue, with what is allocated in it and below it."""

    name: str
    above: "Queue | None" = None
    children: dict[str, "Queue"] = field(default_factory=dict)
    inner: bool = False
    limit: Amounts = field(default_factory=dict)
    most_running: int = 0
    policy: str = ""
    used: Amounts = field(default_factory=dict)
    running: set[str] = field(default_factory=set)

    def path(self) -> Iterator["Queue"]:
        """This queue and its ancestors."""
        queue: Queue | None = self
        while queue is not None:
            yield queue
            queue = queue.above

    def take(self, amounts: Amounts) -> None:
        """Count a new allocation."""
        for queue in self.path():
            queue.used = plus(queue.used, amounts)

    def give_back(self, amounts: Amounts) -> None:
        """Count the end of an allocation."""
        for queue in self.path():
            queue.used = minus(queue.used, amounts)

    def has_capacity(self, amounts: Amounts) -> bool:
        """Return whether this fits the quotas of the queue and its ancestors."""
        return all(keeps(amounts, minus_where(q.limit, q.used)) for q in self.path())

    def could_hold(self, amounts: Amounts) -> bool:
        """Return whether this would fit the quotas if everything were empty."""
        return all(keeps(amounts, q.limit) for q in self.path())


def minus_where(limit: Amounts, used: Amounts) -> Amounts:
    """Return the remaining amount of each type that has a limit."""
    return {kind: value - used.get(kind, 0) for kind, value in limit.items()}


@dataclass
class Partition:
    """The queues of a partition and its placement rules."""

    name: str
    root: Queue
    rules: list[Mapping[str, Any]]

    def place(self, wanted: str, tags: Mapping[str, str]) -> Queue | None:
        """Return the leaf for an application; None if no rule finds one."""
        for rule in self.rules:
            if rule.get("name") == "provided":
                found = self._provided(wanted)
            elif rule.get("name") == "tag":
                found = self._tagged(rule, tags)
            else:
                found = None
            if found is not None:
                return found
        return None

    def _provided(self, wanted: str) -> Queue | None:
        found = self.find(wanted if wanted.startswith("root") else f"root.{wanted}")
        return found if found is not None and not found.inner else None

    def _tagged(self, rule: Mapping[str, Any], tags: Mapping[str, str]) -> Queue | None:
        value = tags.get(str(rule.get("value", "")), "").replace(".", "_dot_")
        parent = self.find(str((rule.get("parent") or {}).get("value", "root")))
        if not value or parent is None:
            return None
        leaf = parent.children.get(value)
        if leaf is None and rule.get("create"):
            leaf = Queue(f"{parent.name}.{value}", above=parent, policy=parent.policy)
            parent.children[value] = leaf
        return leaf if leaf is not None and not leaf.inner else None

    def find(self, name: str) -> Queue | None:
        """Return the queue with this full name."""
        first, *rest = name.split(".")
        queue: Queue | None = self.root if first == self.root.name else None
        for part in rest:
            queue = queue.children.get(part) if queue is not None else None
        return queue


def partitions(text: str, usual_policy: str) -> dict[str, Partition]:
    """Return the partitions of a configuration.

    Raises BadConfigurationError.
    """
    try:
        content = yaml.safe_load(text.strip() or _FALLBACK)
        return {
            str(part.get("name") or "default"): _partition(part, usual_policy)
            for part in content["partitions"]
        }
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadConfigurationError(f"invalid configuration: {error!r}") from error


def _partition(content: Mapping[str, Any], usual_policy: str) -> Partition:
    tops = content["queues"]
    if len(tops) != 1 or tops[0].get("name") != "root":
        tops = [{"name": "root", "queues": tops}]
    root = _queue(tops[0], None, usual_policy)
    root.inner = True
    rules = content.get("placementrules") or [{"name": "provided"}]
    return Partition(str(content.get("name") or "default"), root, rules)


def _queue(content: Mapping[str, Any], above: Queue | None, policy: str) -> Queue:
    own = str(content["name"])
    if not own or "." in own:
        raise ValueError(f"invalid queue name: {own!r}")
    policy = str((content.get("properties") or {}).get("application.sort.policy", policy)).lower()
    queue = Queue(own if above is None else f"{above.name}.{own}", above=above, policy=policy)
    children = content.get("queues") or []
    queue.inner = bool(children) or bool(content.get("parent"))
    limits = (content.get("resources") or {}).get("max") or {}
    queue.limit = {kind: _quantity(kind, value) for kind, value in limits.items()}
    queue.most_running = int(content.get("maxapplications") or 0)
    for child in children:
        below = _queue(child, queue, policy)
        if below.name.rpartition(".")[2] in queue.children:
            raise ValueError(f"duplicate queue {below.name}")
        queue.children[below.name.rpartition(".")[2]] = below
    return queue


def _quantity(kind: str, value: object) -> int:
    text = str(value).strip()
    if kind == "vcore":
        return int(text[:-1]) if text.endswith("m") else round(float(text) * 1000)
    number = text.rstrip("kKMGi")
    return int(number) * _UNITS[text[len(number) :]]
