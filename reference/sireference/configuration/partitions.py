"""Reading of partitions: queues, placement rules, preemption and the order of nodes."""

from dataclasses import replace
from functools import partial

from sireference.configuration.expressions import Expression, is_expression, read_expression
from sireference.configuration.fields import Field, Keys
from sireference.configuration.model import (
    ROOT_QUEUE,
    FilterType,
    NodeSortPolicy,
    NodeSortType,
    PlacementFilter,
)
from sireference.configuration.names import read_group, read_user
from sireference.configuration.queues import read_limits, read_names, read_queues
from sireference.configuration.scalars import read_choice, read_switch, read_weight
from sireference.configuration.written import WrittenPartition, WrittenQueue, WrittenRule

# yunikorn-core adds `checksum` to a text it keeps; schedulers ignore it.
_TOP_KEYS = ("partitions", "checksum")
_PARTITION_KEYS = (
    "name",
    "queues",
    "placementrules",
    "limits",
    "preemption",
    "nodesortpolicy",
)
_PREEMPTION_KEYS = ("enabled", "quotapreemptionenabled")
_RULE_KEYS = ("name", "create", "filter", "parent", "value")
_FILTER_KEYS = ("type", "users", "groups")


def read_partitions(top: Field) -> tuple[WrittenPartition, ...]:
    """Read the whole document."""
    partitions = top.keys(_TOP_KEYS)["partitions"]
    read = tuple(_read_partition(item) for item in partitions.mappings())
    if not read:
        top.report.refuse_again(partitions.path, "there must be a partition")
    return read


def _read_partition(partition: Field) -> WrittenPartition:
    keys = partition.keys(_PARTITION_KEYS)
    if not keys["queues"].is_written:
        partition.report.refuse_again(keys["queues"].path, "a partition must have queues")
    preemption = keys["preemption"].keys(_PREEMPTION_KEYS)
    of_quotas = preemption["quotapreemptionenabled"]
    return WrittenPartition(
        path=partition.path,
        name=keys["name"].text(),
        root=_with_root(keys["queues"]),
        limits=read_limits(keys["limits"]),
        rules=tuple(_read_rule(item) for item in keys["placementrules"].mappings()),
        preemption_enabled=preemption["enabled"].read_plain(read_switch, otherwise=True),
        quota_preemption_enabled=of_quotas.read_plain(read_switch, otherwise=False),
        node_sort_policy=_read_node_sort_policy(keys["nodesortpolicy"]),
    )


def _with_root(queues: Field) -> WrittenQueue:
    """Return the one top queue if it is called root, or else a root above all top queues."""
    top = read_queues(queues)
    if len(top) == 1 and top[0].name.lower() == ROOT_QUEUE:
        return replace(top[0], parent=True)
    return WrittenQueue(path=queues.path, name=ROOT_QUEUE, parent=True, queues=top)


def _read_node_sort_policy(policy: Field) -> NodeSortPolicy:
    keys = policy.keys(("type", "resourceweights"))
    weights = {
        resource_type: pair.value.read_plain(read_weight, 0.0)
        for resource_type, pair in keys["resourceweights"].pairs().items()
    }
    kind = NodeSortType.FAIR
    if keys["type"].text():
        kind = keys["type"].read(partial(read_choice, choices=NodeSortType), kind)
    return NodeSortPolicy(kind, weights) if weights else NodeSortPolicy(kind)


def _read_rule(rule: Field) -> WrittenRule:
    keys = rule.keys(_RULE_KEYS)
    return WrittenRule(
        path=rule.path,
        name=keys["name"].text().lower(),
        create=keys["create"].read_plain(read_switch, otherwise=False),
        filter=_read_filter(keys["filter"]),
        parent=_read_rule(keys["parent"]) if keys["parent"].is_written else None,
        value=keys["value"].text().lower(),
    )


def _read_filter(filter_: Field) -> PlacementFilter:
    keys = filter_.keys(_FILTER_KEYS)
    kind = FilterType.ALLOW
    if keys["type"].text():
        kind = keys["type"].read(lambda text: read_choice(text.lower(), choices=FilterType), kind)
    users, user_expression = _read_filtered(keys, "users")
    groups, group_expression = _read_filtered(keys, "groups")
    return PlacementFilter(kind, users, groups, user_expression, group_expression)


def _read_filtered(keys: Keys, name: str) -> tuple[frozenset[str], Expression | None]:
    """Read the names of a filter; a single entry may be an expression instead."""
    entries = keys[name].entries()
    if len(entries) == 1 and is_expression(entries[0].text()):
        return frozenset(), entries[0].read(read_expression, None)
    reading = read_user if name == "users" else read_group
    return frozenset(named.name for named in read_names(keys[name], reading)), None
