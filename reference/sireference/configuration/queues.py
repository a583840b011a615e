"""Reading of queues, their resources and their limits."""

from collections.abc import Callable
from functools import partial

from sireference.configuration.acls import read_acl
from sireference.configuration.fields import Field
from sireference.configuration.model import Acl
from sireference.configuration.names import WILDCARD, read_group, read_user
from sireference.configuration.properties import read_properties
from sireference.configuration.quantities import read_quantity
from sireference.configuration.scalars import read_count, read_switch
from sireference.configuration.written import (
    Amounts,
    WrittenLimit,
    WrittenName,
    WrittenQueue,
    WrittenTemplate,
)

_QUEUE_KEYS = (
    "name",
    "parent",
    "resources",
    "maxapplications",
    "properties",
    "adminacl",
    "submitacl",
    "childtemplate",
    "queues",
    "limits",
)
_TEMPLATE_KEYS = ("maxapplications", "properties", "resources")
_RESOURCES_KEYS = ("guaranteed", "max")
# Each is checked against those of every queue below, and for limits of every user and group.
_MOST_TYPES = 256
_LIMIT_KEYS = ("limit", "users", "groups", "maxresources", "maxapplications")


def read_queues(queues: Field) -> tuple[WrittenQueue, ...]:
    """Read a list of queues and everything below them."""
    return tuple(_read_queue(item) for item in queues.mappings())


def read_limits(limits: Field) -> tuple[WrittenLimit, ...]:
    """Read a list of limits."""
    return tuple(_read_limit(item) for item in limits.mappings())


def _read_queue(queue: Field) -> WrittenQueue:
    keys = queue.keys(_QUEUE_KEYS)
    resources = keys["resources"].keys(_RESOURCES_KEYS)
    return WrittenQueue(
        path=queue.path,
        name=keys["name"].text(),
        parent=keys["parent"].read_plain(read_switch, otherwise=False),
        max=_read_amounts(resources["max"]),
        guaranteed=_read_amounts(resources["guaranteed"]),
        max_applications=keys["maxapplications"].read_plain(read_count, 0),
        properties=read_properties(keys["properties"]),
        submit_acl=keys["submitacl"].read(read_acl, Acl()),
        admin_acl=keys["adminacl"].read(read_acl, Acl()),
        template=_read_template(keys["childtemplate"]),
        limits=read_limits(keys["limits"]),
        queues=read_queues(keys["queues"]),
    )


def _read_template(template: Field) -> WrittenTemplate | None:
    if not template.is_written:
        return None
    keys = template.keys(_TEMPLATE_KEYS)
    resources = keys["resources"].keys(_RESOURCES_KEYS)
    return WrittenTemplate(
        path=template.path,
        max=_read_amounts(resources["max"]),
        guaranteed=_read_amounts(resources["guaranteed"]),
        max_applications=keys["maxapplications"].read_plain(read_count, 0),
        properties=read_properties(keys["properties"]),
    )


def _read_limit(limit: Field) -> WrittenLimit:
    keys = limit.keys(_LIMIT_KEYS)
    return WrittenLimit(
        path=limit.path,
        description=keys["limit"].text(),
        users=read_names(keys["users"], _or_wildcard(read_user)),
        groups=read_names(keys["groups"], _or_wildcard(read_group)),
        max_resources=_read_amounts(keys["maxresources"]),
        max_applications=keys["maxapplications"].read_plain(read_count, 0),
    )


def _or_wildcard(reading: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: text if text == WILDCARD else reading(text)


def read_names(names: Field, reading: Callable[[str], str]) -> tuple[WrittenName, ...]:
    """Read a list of users or groups, validated by the reading function."""
    read = []
    for item in names.entries():
        if not item.is_written:
            item.refuse("no name is written")
            continue
        name = item.read(reading, "")
        if name:
            read.append(WrittenName(item.path, name))
    return tuple(read)


def _read_amounts(amounts: Field) -> Amounts | None:
    if not amounts.is_written:
        return None
    read: Amounts = {}
    pairs = amounts.pairs()
    if len(pairs) > _MOST_TYPES:
        amounts.refuse(f"has more than {_MOST_TYPES} resource types")
        return None
    for resource_type, pair in pairs.items():
        if not resource_type:
            amounts.report.refuse(pair.path, "a resource type must have a name", pair.key_place)
        elif not pair.value.is_written:
            pair.value.refuse("no quantity is written")
        else:
            amount = pair.value.read(partial(read_quantity, resource_type), None)
            if amount is not None:
                read[resource_type] = amount
    return read
