"""Assembly of the configuration: defaults, inheritance and lower case."""

from sireference.configuration.model import (
    DEFAULT_PARTITION,
    ChildTemplate,
    Configuration,
    Limit,
    PartitionConfig,
    PlacementRule,
    QueueConfig,
    QueueProperties,
    RuleName,
)
from sireference.configuration.properties import inherit
from sireference.configuration.written import (
    Amounts,
    WrittenLimit,
    WrittenPartition,
    WrittenQueue,
    WrittenRule,
    WrittenTemplate,
)

_WITH_VALUE = frozenset({RuleName.TAG, RuleName.FIXED})


def assemble(partitions: tuple[WrittenPartition, ...]) -> Configuration:
    """Make the configuration of partitions in which no rule found a problem."""
    return Configuration(tuple(_partition(partition) for partition in partitions))


def name_of_partition(written: str) -> str:
    """Return the name of a partition: empty, or `default` in any case, is the default partition."""
    is_default = not written or written.lower() == DEFAULT_PARTITION
    return DEFAULT_PARTITION if is_default else written


def _partition(partition: WrittenPartition) -> PartitionConfig:
    limits = _limits(partition.root.limits or partition.limits)
    return PartitionConfig(
        name=name_of_partition(partition.name),
        root=_queue(partition.root, limits, QueueProperties()),
        placement_rules=tuple(_rule(rule) for rule in partition.rules),
        limits=limits,
        preemption_enabled=partition.preemption_enabled,
        quota_preemption_enabled=partition.quota_preemption_enabled,
        node_sort_policy=partition.node_sort_policy,
    )


def _queue(queue: WrittenQueue, limits: tuple[Limit, ...], above: QueueProperties) -> QueueConfig:
    properties = inherit(above, queue.properties)
    return QueueConfig(
        name=queue.name.lower(),
        is_parent=queue.is_parent,
        max=_amounts(queue.max),
        guaranteed=_amounts(queue.guaranteed),
        max_applications=queue.max_applications or None,
        properties=properties,
        submit_acl=queue.submit_acl,
        admin_acl=queue.admin_acl,
        child_template=_template(queue.template) if queue.is_parent else None,
        limits=limits,
        queues=tuple(_queue(child, _limits(child.limits), properties) for child in queue.queues),
    )


def _amounts(amounts: Amounts | None) -> Amounts | None:
    """Return amounts; if all are 0, they neither limit nor guarantee (`queue.go`, setResources)."""
    return amounts if amounts and any(amounts.values()) else None


def _template(template: WrittenTemplate | None) -> ChildTemplate | None:
    if template is None:
        return None
    return ChildTemplate(
        max=_amounts(template.max),
        guaranteed=_amounts(template.guaranteed),
        max_applications=template.max_applications or None,
        properties=inherit(QueueProperties(), template.properties),
    )


def _limits(limits: tuple[WrittenLimit, ...]) -> tuple[Limit, ...]:
    return tuple(
        Limit(
            users=tuple(user.name for user in limit.users),
            groups=tuple(group.name for group in limit.groups),
            max_resources=limit.max_resources or None,
            max_applications=limit.max_applications or None,
            description=limit.description,
        )
        for limit in limits
    )


def _rule(rule: WrittenRule) -> PlacementRule:
    name = RuleName(rule.name)
    return PlacementRule(
        name=name,
        create=rule.create,
        filter=rule.filter,
        parent=_rule(rule.parent) if rule.parent else None,
        value=rule.value if name in _WITH_VALUE else None,
    )
