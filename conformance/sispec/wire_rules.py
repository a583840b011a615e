"""The rules of buf that a change breaks, and what breaks with each: wire, JSON or source."""

import json
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from sispec import buf
from sispec.compiling import with_imports
from sispec.model import Spec


class Breaks(StrEnum):
    """What a rule protects, as in buf's categories."""

    WIRE = "wire"
    JSON = "JSON"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule of buf that the newer specification breaks."""

    rule: str  # FIELD_SAME_TYPE
    breaks: Breaks
    message: str  # message of buf
    line: int  # in the newer specification; 0 if unknown


_USED = ("WIRE", "WIRE_JSON", "FILE")

_WIRE = frozenset(
    {
        "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED",
        "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED",
        "FIELD_SAME_DEFAULT",
        "FIELD_SAME_ONEOF",
        "FIELD_WIRE_COMPATIBLE_CARDINALITY",
        "FIELD_WIRE_COMPATIBLE_TYPE",
        "FILE_SAME_PACKAGE",
        "MESSAGE_SAME_REQUIRED_FIELDS",
        "RESERVED_ENUM_NO_DELETE",
        "RESERVED_MESSAGE_NO_DELETE",
        "RPC_SAME_CLIENT_STREAMING",
        "RPC_SAME_IDEMPOTENCY_LEVEL",
        "RPC_SAME_REQUEST_TYPE",
        "RPC_SAME_RESPONSE_TYPE",
        "RPC_SAME_SERVER_STREAMING",
        # buf classifies these as source, but a call to a removed method fails
        "RPC_NO_DELETE",
        "SERVICE_NO_DELETE",
    }
)
_JSON = frozenset(
    {
        "ENUM_SAME_JSON_FORMAT",
        "ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED",
        "ENUM_VALUE_SAME_NAME",
        "FIELD_NO_DELETE_UNLESS_NAME_RESERVED",
        "FIELD_SAME_JSON_NAME",
        "FIELD_SAME_NAME",
        "FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY",
        "FIELD_WIRE_JSON_COMPATIBLE_TYPE",
        "MESSAGE_SAME_JSON_FORMAT",
    }
)


def broken_rules(old: Spec, new: Spec) -> tuple[BrokenRule, ...]:
    """Return the rules of buf that `new` breaks for peers and code of `old`, in document order.

    If both declare the same, there are none, and buf does not run. Raises buf.NoCompiler if it is
    not installed.
    """
    buf.executable()
    if with_imports(old.file).file[-1] == with_imports(new.file).file[-1]:
        return ()
    config = json.dumps({"version": "v2", "breaking": {"use": _USED}})
    with tempfile.TemporaryDirectory(prefix="siconform-") as name:
        folder = Path(name)
        for file, spec in (("old.binpb", old), ("new.binpb", new)):
            folder.joinpath(file).write_bytes(_image(spec.file))
        arguments = ["breaking", "new.binpb", "--against", "old.binpb", "--limit-to-input-files"]
        findings = buf.run(arguments, folder, config)
    broken = [
        BrokenRule(found.rule, _breaks(found.rule), found.message, found.line) for found in findings
    ]
    return tuple(sorted(broken, key=lambda rule: (rule.line, rule.rule, rule.message)))


def _breaks(rule: str) -> Breaks:
    if rule in _WIRE:
        return Breaks.WIRE
    return Breaks.JSON if rule in _JSON else Breaks.SOURCE


def _image(file: FileDescriptorProto) -> bytes:
    """Return a descriptor set with imports and lines."""
    image = with_imports(file)
    image.file[-1].source_code_info.CopyFrom(file.source_code_info)
    return image.SerializeToString()
