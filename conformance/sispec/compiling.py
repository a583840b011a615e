"""Compiles protobuf source, and maps declarations to lines."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from sispec import buf
from sispec.blocks import code_of
from sispec.model import SpecError, UnreadableSpec

SI_FILE = "si.proto"

_ADVICE = (
    (r"field number .* used more than once|overlap", "take a number that was never used"),
    (r"use of reserved", "it had another owner before: take one that was never used"),
    (r"cannot find", "declare it in a protobuf block, or correct the name"),
    (r"imported file does not exist", "only files of google/protobuf can be imported"),
    (
        r"declared multiple times",
        "names must be unique, and enum values share the scope around their enum",
    ),
    (r"^unexpected .* after definition", "a `;` may be missing before it"),
    (r"built-in options message", 'import "google/protobuf/descriptor.proto" first'),
    (r"first enum value|must be zero|zero value", "begin the enum with a value 0 that means unset"),
)
_NUMBER_TWICE = re.compile(r"^(?:field number|enum value) `-?\d+` used more than once")
_BRACE = re.compile(r"(?:\b(?:message|enum)\s+(\w+)\s*)?\{|\}")
_TWICE = re.compile(r"`(\w+)` declared multiple times")
_DECLARED = re.compile(r"\b(?:message|enum)\s+(\w+)")
_NOT_FOUND = re.compile(r"cannot find `(\w+)`")
_SYNTAX = re.compile(r"^\s*(?:syntax|edition)\s*=", re.MULTILINE)
_OTHER_SYNTAX = re.compile(r"^\s*((?:syntax\s*=\s*[\"']proto2|edition\s*=)[^;\n]*;?)", re.MULTILINE)
_FOLLOWS = "have the same JSON name"  # follows from a duplicate name
_MESSAGES, _ENUMS, _SERVICES, _EXTENSIONS = 4, 5, 6, 7  # field numbers in FileDescriptorProto
_FIELDS, _NESTED, _NESTED_ENUMS, _NESTED_EXTENSIONS, _ONEOFS = 2, 3, 4, 6, 8  # in DescriptorProto
_MEMBERS = 2  # values of an enum, methods of a service
_MOST_SOURCES = 64


def compile_source(name: str, source: str) -> FileDescriptorProto:
    """Compile the schema, with source info whose lines are those of `source`.

    Raises UnreadableSpec with every error and its line, and buf.NoCompiler without buf.
    """
    buf.executable()
    return FileDescriptorSet.FromString(_compiled(name, source)).file[0]


@lru_cache(maxsize=_MOST_SOURCES)  # each is compared with several others
def _compiled(name: str, source: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="siconform-") as folder:
        path = Path(folder, SI_FILE)
        path.write_bytes(source.encode())
        image = Path(folder, "out.binpb")
        arguments = ["build", ".", "--as-file-descriptor-set", "--exclude-imports"]
        findings = buf.run([*arguments, "-o", image.name], Path(folder))
        other = _OTHER_SYNTAX.search(source)
        if findings and other:
            message = f'`{other[1]}` is not the syntax of the SI: write `syntax = "proto3";`'
            raise UnreadableSpec(
                name, [SpecError(message, source.count("\n", 0, other.start(1)) + 1)]
            )
        if findings and not _SYNTAX.search(source):
            message = 'the protobuf does not begin with `syntax = "proto3";`: write that first'
            raise UnreadableSpec(name, [SpecError(message)])
        if findings:
            raise UnreadableSpec(name, _errors(findings, source.split("\n")))
        return image.read_bytes()


def with_imports(file: FileDescriptorProto) -> FileDescriptorSet:
    """Return the file as `si.proto` in a descriptor set without source info, after its imports."""
    known = descriptor_pool.Default()
    found: dict[str, FileDescriptorProto] = {}

    def add(name: str) -> None:
        if name not in found:
            imported = FileDescriptorProto()
            known.FindFileByName(name).CopyToProto(imported)
            for dependency in imported.dependency:
                add(dependency)
            found[name] = imported

    for dependency in file.dependency:
        add(dependency)
    bare = FileDescriptorProto()
    bare.CopyFrom(file)
    bare.ClearField("source_code_info")
    bare.name = SI_FILE
    return FileDescriptorSet(file=[*found.values(), bare])


def declared_lines(file: FileDescriptorProto) -> dict[str, int]:
    """Map full names to lines; see `Spec.lines` for the names. Empty without source info."""
    starts = {tuple(at.path): at.span[0] + 1 for at in file.source_code_info.location}
    return {name: starts[path] for name, path in declared_paths(file) if path in starts}


def line_of_path(file: FileDescriptorProto, path: Sequence[int]) -> int:
    """Return the line of this path in the source info, or 0 if it is unknown."""
    starts = (at.span[0] + 1 for at in file.source_code_info.location if [*at.path] == [*path])
    return next(starts, 0)


def _errors(findings: Sequence[buf.Finding], lines: Sequence[str]) -> Iterator[SpecError]:
    """Yield the first finding of each line, once for consecutive lines, without consequential ones.

    A name that is declared but not found is in a message with an error of its own.
    """
    declared = set(_DECLARED.findall("\n".join(lines)))
    own = [
        found
        for found in findings
        if not (declared & set(_NOT_FOUND.findall(found.message)) or _FOLLOWS in found.message)
    ]
    own = _without_members(own, lines)
    last = buf.Finding(-1, "", "")
    for found in sorted(own or findings, key=lambda finding: finding.line):
        before, last = last, found
        if found.line == before.line or (found.line - 1, found.message) == (
            before.line,
            before.message,
        ):
            continue
        twice = _TWICE.match(found.message)
        places = _lines_of(twice[1], lines) if twice else []
        if twice and len(places) > 1:
            yield SpecError(f"`{twice[1]}` is declared on {_listed(places)}: keep one", found.line)
            continue
        code = lines[found.line - 1].strip() if 0 < found.line <= len(lines) else ""
        code = code.split("//")[0].strip()
        within_code = f", in `{code}`" if code else ""
        advice = next(
            (message for pattern, message in _ADVICE if re.search(pattern, found.message)), ""
        )
        within = f" in {_owner(found, lines)}" if _NUMBER_TWICE.match(found.message) else ""
        yield SpecError(
            f"{found.message}{within}{within_code}{advice and ': '}{advice}", found.line
        )


def _owner(found: buf.Finding, lines: Sequence[str]) -> str:
    """Return the message or enum that a finding is in: `NodeInfo.ActionFromRM`."""
    last = lines[found.line - 1][: max(found.column - 1, 0)]
    opened: list[str] = []
    for brace in _BRACE.finditer("\n".join(code_of([*lines[: found.line - 1], last]))):
        if brace[0] == "}":
            del opened[-1:]
        else:
            opened.append(brace[1] or "")
    return ".".join(name for name in opened if name)


def _without_members(findings: Sequence[buf.Finding], lines: Sequence[str]) -> list[buf.Finding]:
    """Drop members of duplicate declarations: they are duplicates, too."""
    twice = {found: _TWICE.match(found.message) for found in findings}
    if not any(known and len(_lines_of(known[1], lines)) > 1 for known in twice.values()):
        return [*findings]
    return [f for f, known in twice.items() if not known or len(_lines_of(known[1], lines)) > 1]


def _lines_of(name: str, lines: Sequence[str]) -> list[int]:
    """Return the lines that declare a message, an enum or a service of this name."""
    declares = re.compile(rf"^\s*(?:message|enum|service)\s+{name}\b")
    return [number for number, line in enumerate(lines, 1) if declares.match(line)]


def _listed(places: Sequence[int]) -> str:
    return f"lines {', '.join(map(str, places[:-1]))} and {places[-1]}"


_Path = tuple[int, ...]


def declared_paths(file: FileDescriptorProto) -> Iterator[tuple[str, _Path]]:
    """Yield everything a file declares, with its path in the source info."""
    prefix = f"{file.package}." if file.package else ""
    for at, message in enumerate(file.message_type):
        yield from _named_in(message, prefix, (_MESSAGES, at))
    for at, enum in enumerate(file.enum_type):
        yield from _named_values(enum, prefix, (_ENUMS, at))
    for at, extension in enumerate(file.extension):
        yield f"{prefix}{extension.name}", (_EXTENSIONS, at)
    for at, service in enumerate(file.service):
        yield f"{prefix}{service.name}", (_SERVICES, at)
        for number, method in enumerate(service.method):
            name = f"{prefix}{service.name}.{method.name}"
            yield name, (_SERVICES, at, _MEMBERS, number)


def _named_in(message: DescriptorProto, prefix: str, path: _Path) -> Iterator[tuple[str, _Path]]:
    name = f"{prefix}{message.name}"
    yield name, path
    for at, field in enumerate(message.field):
        yield f"{name}.{field.name}", (*path, _FIELDS, at)
    for at, oneof in enumerate(message.oneof_decl):
        yield f"{name}.{oneof.name}", (*path, _ONEOFS, at)
    for at, extension in enumerate(message.extension):
        yield f"{name}.{extension.name}", (*path, _NESTED_EXTENSIONS, at)
    for at, nested in enumerate(message.nested_type):
        yield from _named_in(nested, f"{name}.", (*path, _NESTED, at))
    for at, enum in enumerate(message.enum_type):
        yield from _named_values(enum, f"{name}.", (*path, _NESTED_ENUMS, at))


def _named_values(
    enum: EnumDescriptorProto, prefix: str, path: _Path
) -> Iterator[tuple[str, _Path]]:
    name = f"{prefix}{enum.name}"
    yield name, path
    for at, value in enumerate(enum.value):
        yield f"{name}.{value.name}", (*path, _MEMBERS, at)
