"""The comments of a compiled schema by place: what stands above and beside each declaration."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    SourceCodeInfo,
)

_MESSAGE, _ENUM, _SERVICE = 4, 5, 6  # numbers of the lists in FileDescriptorProto
_FIELD, _NESTED, _NESTED_ENUM = 2, 3, 4  # in DescriptorProto
_VALUE, _METHOD = 2, 2  # in EnumDescriptorProto, in ServiceDescriptorProto


def comments_of(file: FileDescriptorProto) -> dict[str, str]:
    """Place inside the package to its comment with spaces squeezed; empty without source info."""
    names = dict(_places(file))
    found: dict[str, str] = {}
    for location in file.source_code_info.location:
        name = names.get(tuple(location.path))
        comment = _words_of(location)
        if name and comment:
            found[name] = comment
    return found


def alike(one: str, other: str) -> float:
    """How much of two comments is equal word by word, 0 to 1, whatever the case of letters."""
    return SequenceMatcher(None, one.lower().split(), other.lower().split(), autojunk=False).ratio()


def _words_of(location: SourceCodeInfo.Location) -> str:
    return " ".join(f"{location.leading_comments} {location.trailing_comments}".split())


def _places(file: FileDescriptorProto) -> Iterator[tuple[tuple[int, ...], str]]:
    for i, message in enumerate(file.message_type):
        yield from _inside_message((_MESSAGE, i), message.name, message)
    for i, enum in enumerate(file.enum_type):
        yield from _inside_enum((_ENUM, i), enum.name, enum)
    for i, service in enumerate(file.service):
        yield (_SERVICE, i), service.name
        for k, method in enumerate(service.method):
            yield (_SERVICE, i, _METHOD, k), f"{service.name}.{method.name}"


def _inside_message(
    path: tuple[int, ...], name: str, message: DescriptorProto
) -> Iterator[tuple[tuple[int, ...], str]]:
    yield path, name
    for k, field in enumerate(message.field):
        yield (*path, _FIELD, k), f"{name}.{field.name}"
    for k, enum in enumerate(message.enum_type):
        yield from _inside_enum((*path, _NESTED_ENUM, k), f"{name}.{enum.name}", enum)
    for k, nested in enumerate(message.nested_type):
        yield from _inside_message((*path, _NESTED, k), f"{name}.{nested.name}", nested)


def _inside_enum(
    path: tuple[int, ...], name: str, enum: EnumDescriptorProto
) -> Iterator[tuple[tuple[int, ...], str]]:
    yield path, name
    for k, value in enumerate(enum.value):
        yield (*path, _VALUE, k), f"{name}.{value.name}"
