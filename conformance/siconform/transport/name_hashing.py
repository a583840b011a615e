"""Hashes in place of names of users and groups and values of tags, as the tap in Go makes them."""

import hashlib
import hmac
import re
from typing import Any, Final

from google.protobuf.message import Message
from siwire import Revision

SALT: Final = "SICONFORM_TAP_SALT"
"""The environment variable with the salt; with the same salt, a name has the same hash."""

_MARK: Final = "h-"
_BYTES: Final = 8  # of a digest: no two of a billion names have the same
_MOST_NAMES: Final = 100_000  # that are looked for in texts
_WORD: Final = re.compile(r"[\w\-.@:/\\]+")
_READABLE: Final = frozenset(
    {
        "creationTime",
        "yunikorn.apache.org/creationTime",
        "foreign",
        "namespace",
        "kubernetes.io/meta/namespace",
        "namespace.parentqueue",
        "namespace.resourcequota",
        "namespace.resourceguaranteed",
        "namespace.resourcemaxapps",
        "application.create.force",
        "application.stateaware.disable",
        "yunikorn.apache.org/requiredNode",
        "yunikorn.apache.org/schedulingPolicyParameters",
    }
)
"""Tags whose values the SI or yunikorn-core interpret."""
_TAGS: Final = frozenset({"tags", "allocationTags"})
_WITH_NAMES: Final = frozenset({"config", "configs", "oldConfig", "extraConfig"})  # left out
_TEXTS: Final = frozenset({"reason", "message", "referenceID"})


class NameHashing:
    """Works on fields by their names, in any revision of the SI."""

    def __init__(self, revision: Revision, salt: bytes) -> None:
        self._revision = revision
        self._salt = salt
        self._names: set[str] = set()  # of users and groups, seen so far

    def hashed(self, name: str, data: bytes) -> bytes:
        """Return a message with hashes, without configurations and unknown fields.

        DecodeError if the data is not of this message.
        """
        message: Message = getattr(self._revision.si, name).FromString(data)
        message.DiscardUnknownFields()
        self._walk(message)
        return message.SerializeToString()

    def text(self, text: str) -> str:
        """Return a text with hashes in place of the names seen before."""
        return _WORD.sub(self._word, text)

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        bare = word.rstrip(".:")
        return self._digest(bare) + word[len(bare) :] if bare in self._names else word

    def _walk(self, message: Any) -> None:
        kind = message.DESCRIPTOR.name
        if kind == "EventRecord" and self._is_about_user(message):
            message.objectID = self._name(message.objectID)
        for field, value in message.ListFields():
            name = field.name
            if name in _WITH_NAMES:
                message.ClearField(name)
            elif name in _TAGS:
                for key in list(value):  # a map that changes may skip some
                    value[key] = value[key] if key in _READABLE else self._digest(value[key])
            elif kind == "UserGroupInformation":
                self._user(message, name, value)
            elif field.message_type is not None:
                self._nested(field, value)
            elif name in _TEXTS:
                setattr(message, name, self.text(value))

    def _nested(self, field: Any, value: Any) -> None:
        if field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].message_type is not None:
                for one in value.values():
                    self._walk(one)
        elif isinstance(value, Message):
            self._walk(value)
        else:
            for one in value:
                self._walk(one)

    def _user(self, message: Any, name: str, value: Any) -> None:
        if isinstance(value, str):
            setattr(message, name, self._name(value))
        else:
            value[:] = [self._name(one) for one in value]

    def _is_about_user(self, event: Any) -> bool:
        field = event.DESCRIPTOR.fields_by_name.get("type")
        if field is None or field.enum_type is None:
            return False
        known = field.enum_type.values_by_number.get(event.type)
        return known is not None and known.name == "USERGROUP"

    def _name(self, name: str) -> str:
        if name and len(self._names) < _MOST_NAMES:
            self._names.add(name)
        return self._digest(name)

    def _digest(self, value: str) -> str:
        """Return a hash; that a value is empty has a meaning, and remains."""
        if not value:
            return ""
        digest = hmac.digest(self._salt, value.encode("utf-8"), hashlib.sha256)
        return _MARK + digest[:_BYTES].hex()
