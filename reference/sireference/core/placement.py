"""Placement: the leaf queue of an application, by the placement rules of its partition.

The rules are tried in order; the first that names a leaf the user may submit to wins, and it may
create the leaf if it does not exist. Without rules the application names its queue. An application
with forced creation, because it existed before, is always placed: if no rule matches, in the
recovery queue.
Source: yunikorn-core 1.5 ``scheduler/placement``. Difference: an application that names an unknown
queue is rejected even if ``root.default`` exists, because it asked for another queue.
"""

from typing import Final

from sireference.configuration.expressions import Expression
from sireference.configuration.model import (
    ChildTemplate,
    FilterType,
    PlacementFilter,
    PlacementRule,
    QueueConfig,
    RuleName,
)
from sireference.core.model import ChangeDetail, ChangeType, NewApplication, quoted
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue

DEFAULT_QUEUE: Final = "root.default"
CREATE_FORCE: Final = "application.create.force"  # a tag, from 2023-08 on
RECOVERY_QUEUE: Final = "@recovery@"  # no configuration can name it
_TRUE: Final = ("1", "t", "true")
_DOT: Final = "_dot_"  # a dot within one segment of a queue name
_DEEPEST: Final = 64  # levels of queues that are created; a name may have megabytes
# characters of a user or all its groups; the cost of expressions grows with them
_LONGEST_SEARCHED: Final = 10_000
_NAMED: Final = (PlacementRule(RuleName.PROVIDED),)


class NoQueueError(Exception):
    """No queue accepts the application; the message says why."""


def place(partition: Partition, new: NewApplication) -> Queue:
    """Return the leaf of the application, created if needed. Raises NoQueueError."""
    try:
        return _by_rules(partition, new)
    except NoQueueError:
        if new.tag(CREATE_FORCE).lower() not in _TRUE:
            raise
        return _recovery_queue(partition)  # SI-CONST-006


def _by_rules(partition: Partition, new: NewApplication) -> Queue:
    reasons: list[str] = []
    for rule in partition.config.placement_rules or _NAMED:
        name = _name(rule, partition, new)
        if name is None:
            continue
        try:
            return _leaf(partition, name, rule, new)
        except NoQueueError as why:
            reasons.append(str(why))
    if not new.queue and find(partition.root, DEFAULT_QUEUE) is not None:
        return _leaf(partition, DEFAULT_QUEUE, _NAMED[0], new)
    raise NoQueueError("; ".join(reasons) or "no placement rule names a queue for the application")


def _recovery_queue(partition: Partition) -> Queue:
    """Return the queue for forced applications that no rule places.

    It accepts no other applications: it cannot be named. Source: the tag AppTagCreateForce and
    yunikorn-core, which has a queue of that name.
    """
    there = partition.root.children.get(RECOVERY_QUEUE)
    return there or _make(partition, partition.root, QueueConfig(RECOVERY_QUEUE, is_parent=False))


def find(root: Queue, name: str) -> Queue | None:
    """Return the queue with that full name."""
    queue: Queue | None = root
    for segment in name.split(".")[1:]:
        queue = queue.children.get(segment) if queue is not None else None
    return queue


def _name(rule: PlacementRule, partition: Partition, new: NewApplication) -> str | None:
    """Return the full queue name ``rule`` makes of the application, None if it makes none."""
    if not _passes(rule.filter, new):
        return None
    given = {
        RuleName.PROVIDED: new.queue,
        RuleName.USER: new.user,
        RuleName.TAG: new.tag(rule.value or ""),
        RuleName.FIXED: rule.value or "",
    }[rule.name].lower()
    if not given:
        return None
    if given.split(".")[0] == partition.root.config.name and rule.name is not RuleName.USER:
        return given
    if rule.name in (RuleName.USER, RuleName.TAG):
        given = given.replace(".", _DOT)
    above: str | None = partition.root.name
    if rule.parent is not None:
        above = _parent_name(rule.parent, partition, new)
    return None if above is None else f"{above}.{given}"


def _parent_name(rule: PlacementRule, partition: Partition, new: NewApplication) -> str | None:
    name = _name(rule, partition, new)
    queue = find(partition.root, name) if name is not None else None
    if queue is None:
        return name if rule.create else None
    return name if queue.config.is_parent else None


def _passes(condition: PlacementFilter, new: NewApplication) -> bool:
    """Return whether the rule applies to this user's applications."""
    groups = new.member_of
    lists_no_one = not (
        condition.users
        or condition.groups
        or condition.user_expression
        or condition.group_expression
    )
    is_meant = (
        lists_no_one
        or new.user in condition.users
        or not condition.groups.isdisjoint(groups)
        or _searched(condition.user_expression, (new.user,))
        or _searched(condition.group_expression, groups)
    )
    return is_meant is (condition.type is FilterType.ALLOW)


def _searched(expression: Expression | None, names: tuple[str, ...]) -> bool:
    if expression is None:
        return False
    if sum(map(len, names)) > _LONGEST_SEARCHED:
        least = _LONGEST_SEARCHED + 1
        raise NoQueueError(
            f"names of {least} characters and more are not searched by an expression"
        )
    return any(expression.is_in(name) for name in names)


def _leaf(partition: Partition, name: str, rule: PlacementRule, new: NewApplication) -> Queue:
    """Return the leaf, if it exists or may be created and the user may submit to it."""
    queue = partition.root
    missing = name.split(".")[1:]
    if RECOVERY_QUEUE in missing:
        raise NoQueueError(f"there is no queue {quoted(name)}")
    while missing and missing[0] in queue.children:
        queue = queue.children[missing.pop(0)]
    if missing and not rule.create:
        raise NoQueueError(f"there is no queue {quoted(name)}")
    if missing and ("" in missing or len(missing) > _DEEPEST or not queue.config.is_parent):
        raise NoQueueError(f"queue {quoted(name)} cannot be created")
    if not missing and queue.config.is_parent:
        raise NoQueueError(f"queue {quoted(name)} is a parent and runs no applications")
    if queue.is_draining:
        raise NoQueueError(f"queue {quoted(name)} is drained")
    if not _may_submit(queue, new):
        raise NoQueueError(f"user {quoted(new.user)} may not submit to queue {quoted(name)}")
    return _create(partition, queue, missing)


def _may_submit(queue: Queue, new: NewApplication) -> bool:
    """Return whether the user may submit to or administer the queue or a parent of it."""
    groups = new.member_of
    return any(
        above.config.submit_acl.allows(new.user, groups)
        or above.config.admin_acl.allows(new.user, groups)
        for above in queue.path
    )


def _create(partition: Partition, queue: Queue, missing: list[str]) -> Queue:
    """Create nested queues with those names; the nearest template configures the leaf."""
    for number, segment in enumerate(missing, start=1):
        if number < len(missing):
            config = QueueConfig(segment, is_parent=True, properties=queue.config.properties)
        else:
            config = _leaf_config(segment, queue)
        queue = _make(partition, queue, config)
    return queue


def _make(partition: Partition, above: Queue, config: QueueConfig) -> Queue:
    queue = above.add(config)
    queue.is_dynamic = True
    partition.event_log.queue(
        queue, ChangeType.ADD, ChangeDetail.QUEUE_DYNAMIC, "made for an application"
    )
    return queue


def _leaf_config(segment: str, parent: Queue) -> QueueConfig:
    templates = (above.config.child_template for above in parent.path)
    template = next((template for template in templates if template is not None), None)
    if template is None:
        template = ChildTemplate(properties=parent.config.properties)
    return QueueConfig(
        segment,
        is_parent=False,
        max=template.max,
        guaranteed=template.guaranteed,
        max_applications=template.max_applications,
        properties=template.properties,
    )
