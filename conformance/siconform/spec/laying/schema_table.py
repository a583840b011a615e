"""Says a schema as a table, the golden file fixtures/golden/schema/NAME.yaml."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from siconform.spec.laying.source_edits import NotLaidError
from siconform.spec.schema import Method, Reserved, Schema, schema_of

_HEADER: Final = """\
# SI {name} as a table: made by a program from the descriptors of the SI text's own protobuf blocks.
# Never made from proto/si, so that a test can compare the two.
# A field is "number type", with its oneof in brackets; what an enum reserves stands with the rest.
revision: "{name}"
syntax: {syntax}
package: {package}
go_package: {go_package}
"""
_SECRECY: Final = "si_secret"
_MOST_RESERVED: Final = 1000


def schema_table(file: FileDescriptorProto, name: str) -> str:
    """The table of a schema as the text of the revision `name` has it.

    Raises NotLaidError where it reserves more numbers than anybody reads.
    """
    schema = schema_of(file)
    head = _HEADER.format(
        name=name,
        syntax=file.syntax,
        package=file.package,
        go_package=file.options.go_package,
    )
    return head + "\n".join([*_counted(schema), *_methods(schema), *_body(schema)]) + "\n"


def _counted(schema: Schema) -> Iterator[str]:
    secret = schema.extensions.get(_SECRECY)
    if secret is not None:
        yield f"option_{_SECRECY}: {secret}"
    counts = {
        "methods": len(schema.methods),
        "messages": len(schema.messages),
        "fields": sum(len(message.fields) for message in schema.messages.values()),
        "enums": len(schema.enums),
        "enum_values": sum(len(enum.values) for enum in schema.enums.values()),
    }
    yield f"counts: {{{', '.join(f'{key}: {count}' for key, count in counts.items())}}}"


def _methods(schema: Schema) -> Iterator[str]:
    calls = [
        f"  {method.name.partition('.')[2]}: {_call(method)}" for method in schema.methods.values()
    ]
    yield from _section("methods", sorted(calls))


def _body(schema: Schema) -> Iterator[str]:
    """Messages by name, fields and values by number."""
    messages: list[str] = []
    for name, message in sorted(schema.messages.items()):
        fields = sorted(message.fields.values(), key=lambda field: field.number)
        messages.append(f"  {name}:" if fields else f"  {name}: {{}}")
        messages += [f"    {field.name}: {field}" for field in fields]
    yield from _section("messages", messages)
    reserved = sorted(
        [
            *((name, message.reserved) for name, message in schema.messages.items()),
            *((name, enum.reserved) for name, enum in schema.enums.items()),
        ],
        key=lambda owner: owner[0],
    )
    yield from _section(
        "reserved", [f"  {name}: {_entries(one)}" for name, one in reserved if str(one)]
    )
    enums: list[str] = []
    for name, enum in sorted(schema.enums.items()):
        enums.append(f"  {name}:")
        values = sorted(enum.values.items(), key=lambda value: value[1])
        enums += [f"    {_word(value)}: {number}" for value, number in values]
    yield from _section("enums", enums)


def _section(name: str, lines: Sequence[str]) -> Iterator[str]:
    yield from [f"{name}:", *lines] if lines else [f"{name}: {{}}"]


def _call(method: Method) -> str:
    request = ("stream " if method.client_streams else "") + method.input
    return f"{request} -> {'stream ' if method.server_streams else ''}{method.output}"


def _entries(reserved: Reserved) -> str:
    if sum(high - low for low, high in reserved.ranges) > _MOST_RESERVED:
        raise NotLaidError(
            f"the text reserves {reserved}: the golden table lists each number, so reserve fewer "
            f"than {_MOST_RESERVED} at once"
        )
    numbers = [str(n) for low, high in sorted(reserved.ranges) for n in range(low, high + 1)]
    return f"{{numbers: {_list(numbers)}, names: {_list(map(_word, sorted(reserved.names)))}}}"


def _list(entries: Iterable[str]) -> str:
    return f"[{', '.join(entries)}]"


def _word(name: str) -> str:
    """A name, in quotes where YAML takes the word for something else."""
    is_another = name.lower() in {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    return f'"{name}"' if is_another else name
