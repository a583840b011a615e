"""Random messages of any revision: fields missing, unset, unknown, huge or odd.

They are built from the descriptors, so fields of a new revision are included automatically. Most
values are ordinary, so that messages refer to each other's nodes and applications.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from siwire import Capability, Revision, rpc

INT32: Final = 2**31 - 1
INT64: Final = 2**63 - 1
HUGE: Final = "x" * 300_000
_DEPTH: Final = 7  # of nested messages; one message of 2021-02 contains itself
_ODD: Final = 0.02  # probability that a field is odd
_MISSING: Final = 0.03
_UNKNOWN: Final = (
    b"\xa2\x1f\x03abc",  # field 500, which no revision defines
    b"\x98\x1f\x07",  # field 499, a number
)

_USUAL: Final[dict[str, list[Any]]] = {
    "rmID": ["rm"],
    "applicationID": ["a1", "a2", "g1"],
    "nodeID": ["n1", "n2"],
    "allocationKey": [f"k{number}" for number in range(6)],
    "allocationkey": [f"k{number}" for number in range(6)],
    "partitionName": ["default", ""],
    "queueName": ["root.default", "root.small"],
    "taskGroupName": ["tg", "", ""],
    "maxAllocations": [1, 2],
    "executionTimeoutMilliSeconds": [0, 20],
    "minCardinality": [0, 1],
    "maxCardinality": [0, 1, 2],
    "value": [1, 2, 5, 9],
    "scope": ["zone"],
    "targetKey": ["zone", "app"],
    "targetValues": ["a", "b"],
    "attributes": ["a", "b", "default"],
    "tags": ["a", "b"],
    "user": ["u"],
    "gangSchedulingStyle": ["Hard", "soft"],
    "config": ["", "partitions: [{name: default, queues: [{name: root}]}]"],
}
_KEYS: Final = {
    "resources": ["memory"],
    "attributes": ["zone", "zone", "si/hostname"],
    "tags": ["app"],
    "allocationTags": ["app", "app", "app", "foreign"],
}
_ODD_KEYS: Final = ["", "vcore", "si/node-partition", "yunikorn.apache.org/requiredNode", "\x00"]
_ODD_TEXTS: Final = ["", "nope", "\x00", "ä/€ 😀\u2028", "root", "a.b..c", HUGE]
_PRESENT: Final = {"placementConstraint": 0.3, "placeholderAsk": 0.3, "preemptionPolicy": 0.3}
_NODE_OF_ALLOCATION: Final = "si.v1.Allocation.nodeID"
_RELEASES: Final = "allocationsToRelease"  # of asks as well, where they are allocations
_SELDOM: Final = {"removeApplications", "remove", "existingAllocations", _RELEASES}


class Maker:
    """Builds requests of one revision; ``identities`` are those of known allocations."""

    def __init__(self, revision: Revision, seed: int, identities: Sequence[str]) -> None:
        self._random = Random(seed)  # noqa: S311  # deterministic with a seed
        self._identities = identities
        self._asks_apart = revision.can(Capability.ASKS_APART)
        self._methods = rpc.methods(revision)

    def request(self) -> tuple[str, Message]:
        """Return a method and a request for it, sometimes with unknown fields."""
        streams = [name for name, method in self._methods.items() if method.client_streaming]
        name = self._random.choice(streams)
        return name, self.message(name)

    def message(self, name: str) -> Message:
        """Return a request for that method."""
        kind = self._methods[name].request
        message = kind()
        self._fill(message, _DEPTH)
        unknown = self._random.choice(_UNKNOWN) if self._happens(_ODD) else b""
        return kind.FromString(message.SerializeToString() + unknown)

    def _happens(self, share: float) -> bool:
        return self._random.random() < share

    def _fill(self, message: Any, depth: int) -> None:
        for field in message.DESCRIPTOR.fields:
            if depth and not self._happens(_MISSING):
                self._fill_field(message, field, depth)

    def _fill_field(self, message: Any, field: FieldDescriptor, depth: int) -> None:
        inner, name = field.message_type, field.name
        if inner is not None and inner.GetOptions().map_entry:
            self._fill_map(getattr(message, name), inner.fields_by_name["value"], name)
        elif inner is not None and field.is_repeated:
            for _ in range(self._count(name)):
                self._fill(getattr(message, name).add(), depth - 1)
        elif inner is not None:
            if self._happens(_PRESENT.get(name, 1.0)):
                getattr(message, name).SetInParent()
                self._fill(getattr(message, name), depth - 1)
        elif field.is_repeated:
            getattr(message, name).extend(self._scalar(field, name) for _ in range(2))
        else:
            setattr(message, name, self._scalar(field, name))

    def _count(self, name: str) -> int:
        is_seldom = name in _SELDOM and (self._asks_apart or name != _RELEASES)
        if is_seldom and not self._happens(0.3):
            return 0
        return self._random.choice([0, 1, 1, 2])

    def _fill_map(self, into: Any, value: FieldDescriptor, name: str) -> None:
        for _ in range(self._random.choice([0, 1, 1, 1, 2])):
            keys = _ODD_KEYS if self._happens(5 * _ODD) else _KEYS.get(name, ["t"])
            key = self._random.choice(keys)
            if value.message_type is not None:
                self._fill(into[key], 1)
            else:
                into[key] = self._scalar(value, name)

    def _scalar(self, field: FieldDescriptor, name: str) -> Any:
        kind, odd = field.cpp_type, self._happens(_ODD)
        options: Sequence[Any]
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            options = (False, True)
        elif kind == FieldDescriptor.CPPTYPE_ENUM:
            known = field.enum_type.values if field.enum_type else ()
            options = (99, -1, INT32) if odd else [value.number for value in known]
        elif kind == FieldDescriptor.CPPTYPE_STRING:
            usual = self._identities if name in ("UUID", "allocationID") else _USUAL.get(name)
            if not self._asks_apart and field.full_name == _NODE_OF_ALLOCATION:
                usual = ["", "", "n1", "n2"]  # usually an ask
            options = _ODD_TEXTS if odd or not usual else usual
        else:
            most = INT64 if kind == FieldDescriptor.CPPTYPE_INT64 else INT32
            options = (0, -1, most, -most - 1) if odd else _USUAL.get(name, [0, 1])
        return self._random.choice(options)
