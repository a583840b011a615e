"""Queue properties: reading and inheritance.

Unknown properties are accepted and kept, unlike unknown keys: the SI does not define them, and
yunikorn-core leaves the set of properties open on purpose (1.5.1 `scheduler/objects/queue.go`,
UpdateQueueProperties). A known property with an invalid value, which that core ignores, is a
problem here.
"""

from collections import ChainMap
from collections.abc import Mapping
from functools import partial
from typing import TypeVar

from sireference.configuration.durations import read_duration
from sireference.configuration.fields import Field
from sireference.configuration.model import (
    PriorityPolicy,
    QueuePreemptionPolicy,
    QueueProperties,
    SortPolicy,
)
from sireference.configuration.problems import quoted
from sireference.configuration.scalars import read_choice, read_whole
from sireference.configuration.written import WrittenProperties

SORT_POLICY = "application.sort.policy"
SORT_PRIORITY = "application.sort.priority"
PRIORITY_POLICY = "priority.policy"
PRIORITY_OFFSET = "priority.offset"
PREEMPTION_POLICY = "preemption.policy"
PREEMPTION_DELAY = "preemption.delay"
QUOTA_PREEMPTION_DELAY = "quota.preemption.delay"

_KNOWN = frozenset(
    {
        SORT_POLICY,
        SORT_PRIORITY,
        PRIORITY_POLICY,
        PRIORITY_OFFSET,
        PREEMPTION_POLICY,
        PREEMPTION_DELAY,
        QUOTA_PREEMPTION_DELAY,
    }
)
T = TypeVar("T")

_PRIORITY_BITS = 31  # priorities are int32 in every revision of the SI


def read_properties(properties: Field) -> WrittenProperties:
    """Read the properties of a queue or a template; an empty value counts as not written."""
    pairs = {name: pair.value for name, pair in properties.pairs().items()}
    words = {name: value for name, value in pairs.items() if value.text()}

    def field(name: str) -> Field:
        return words.get(name, Field(name, None, properties.report))

    return WrittenProperties(
        sort_policy=field(SORT_POLICY).read(partial(read_choice, choices=SortPolicy), None),
        sort_priority=field(SORT_PRIORITY).read(_read_enabled, None),
        priority_policy=field(PRIORITY_POLICY).read(
            partial(read_choice, choices=PriorityPolicy), None
        ),
        priority_offset=field(PRIORITY_OFFSET).read(_read_offset, None),
        preemption_policy=field(PREEMPTION_POLICY).read(
            partial(read_choice, choices=QueuePreemptionPolicy), None
        ),
        preemption_delay=field(PREEMPTION_DELAY).read(_read_delay, None),
        quota_preemption_delay=field(QUOTA_PREEMPTION_DELAY).read(_read_delay, None),
        others={name: value.text() for name, value in words.items() if name not in _KNOWN},
    )


def inherit(above: QueueProperties, written: WrittenProperties) -> QueueProperties:
    """Return the effective properties of a queue from those of its parent and its own.

    Written values take precedence. Otherwise a queue inherits, except for the priority policy, the
    priority offset (offsets add up along the path) and a fence; only `disabled` preemption is
    passed on (`queue.go`, filterParentProperty).
    """
    disabled = above.preemption_policy is QueuePreemptionPolicy.DISABLED
    passed_on = QueuePreemptionPolicy.DISABLED if disabled else QueuePreemptionPolicy.DEFAULT
    default = QueueProperties()
    return QueueProperties(
        sort_policy=_first(written.sort_policy, above.sort_policy),
        sort_priority=_first(written.sort_priority, above.sort_priority),
        priority_policy=_first(written.priority_policy, default.priority_policy),
        priority_offset=_first(written.priority_offset, default.priority_offset),
        preemption_policy=_first(written.preemption_policy, passed_on),
        preemption_delay=_first(written.preemption_delay, above.preemption_delay),
        quota_preemption_delay=_first(written.quota_preemption_delay, above.quota_preemption_delay),
        others=_others(above.others, written.others),
    )


def _others(above: Mapping[str, str], written: dict[str, str]) -> Mapping[str, str]:
    """Chain own properties before inherited ones, without copying, as there may be many."""
    if not written:
        return above
    return ChainMap(written, *above.maps) if isinstance(above, ChainMap) else ChainMap(written)


def _first(written: T | None, otherwise: T) -> T:
    return otherwise if written is None else written


def _read_enabled(text: str) -> bool:
    word = text.lower()
    if word not in {"enabled", "disabled"}:
        raise ValueError(f"{quoted(text)} is neither enabled nor disabled")
    return word == "enabled"


def _read_offset(text: str) -> int:
    return read_whole(text, -(2**_PRIORITY_BITS), 2**_PRIORITY_BITS - 1)


def _read_delay(text: str) -> float:
    delay = read_duration(text)
    if delay <= 0:
        raise ValueError(f"{quoted(text)} is not a delay longer than 0")
    return delay
