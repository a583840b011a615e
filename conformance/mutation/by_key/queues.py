"""The queues of a configuration, as one flat table by full name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

Amounts = Mapping[str, int]
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_PLAIN = "partitions: [{name: default, queues: [{name: root, queues: [{name: default}]}]}]"


class ConfigurationError(ValueError):
    """An invalid configuration."""


@dataclass(frozen=True)
class Queue:
    """The limits of one queue."""

    leaf: bool = True
    most: Amounts = field(default_factory=dict)
    running: int = 0
    policy: str = ""


@dataclass
class Partition:
    """The queues of a partition, and the placement of applications."""

    queues: dict[str, Queue]
    rules: list[dict[str, Any]]

    def place(self, wanted: str, tags: Mapping[str, str]) -> str:
        """Return the full name of the leaf for an application; "" for none."""
        found = (self._by_rule(rule, wanted, tags) for rule in self.rules)
        return next((name for name in found if name), "")

    def _by_rule(self, rule: dict[str, Any], wanted: str, tags: Mapping[str, str]) -> str:
        if rule.get("name") == "provided":
            name = wanted if wanted.startswith("root.") else f"root.{wanted}"
        elif rule.get("name") == "tag" and tags.get(str(rule.get("value"))):
            above = str((rule.get("parent") or {}).get("value", "root"))
            own = tags[str(rule["value"])].replace(".", "_")
            name = f"{above}.{own}"
            if rule.get("create") and name not in self.queues and above in self.queues:
                self.queues[name] = Queue(policy=self.queues[above].policy)
        else:
            return ""
        return name if name in self.queues and self.queues[name].leaf else ""


def upwards(name: str) -> Iterator[str]:
    """Return the queue of this name and its ancestors."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def read(text: str) -> dict[str, Partition]:
    """Return the partitions of a configuration.

    Raises ConfigurationError.
    """
    try:
        content = yaml.safe_load(text.strip() or _PLAIN)
        return {str(p.get("name") or "default"): _partition(p) for p in content["partitions"]}
    except (yaml.YAMLError, LookupError, TypeError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"invalid configuration: {error!r}") from error


def _partition(content: Mapping[str, Any]) -> Partition:
    tops = content["queues"]
    if [top["name"] for top in tops] != ["root"]:
        tops = [{"name": "root", "queues": tops}]
    queues: dict[str, Queue] = {}
    for name, queue in _flat(tops, "", ""):
        if name in queues:
            raise ConfigurationError(f"duplicate queue {name}")
        queues[name] = queue
    return Partition(queues, content.get("placementrules") or [{"name": "provided"}])


def _flat(queues: list[dict[str, Any]], above: str, policy: str) -> Iterator[tuple[str, Queue]]:
    for content in queues:
        name = f"{above}.{content['name']}" if above else str(content["name"])
        below = content.get("queues") or []
        own = (content.get("properties") or {}).get("application.sort.policy", policy)
        most = (content.get("resources") or {}).get("max") or {}
        yield (
            name,
            Queue(
                leaf=not (below or content.get("parent") or not above),
                most={kind: _quantity(kind, value) for kind, value in most.items()},
                running=int(content.get("maxapplications") or 0),
                policy=str(own).lower(),
            ),
        )
        yield from _flat(below, name, str(own))


def _quantity(kind: str, value: object) -> int:
    text = str(value).strip()
    if kind == "vcore":
        return int(text[:-1]) if text.endswith("m") else round(float(text) * 1000)
    number = text.rstrip("kKMGi")
    return int(number) * _UNITS[text[len(number) :]]
