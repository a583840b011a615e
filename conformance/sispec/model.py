"""The parts of an SI specification, regardless of its format."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import FileDescriptorProto


@dataclass(frozen=True, slots=True)
class Constant:
    """A named string, such as `HostName = "si/hostname"`."""

    name: str
    value: str
    line: int = 0  # 0 if there is no document
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ApiMethod:
    """A method of an interface of the Go API, such as `SchedulerAPI.UpdateNode`."""

    name: str  # Interface.Method
    signature: str  # what follows the name, with single spaces: `(request *si.NodeRequest) error`
    comment: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the prose or of a comment; a rule if it has modal words."""

    text: str
    section: str  # its heading, "" before the first one
    line: int  # its first line
    words: tuple[str, ...] = ()
    """The modal words found, in order of appearance and in their base form."""
    place: str = ""
    """The `where` of a requirement's source: `NodeInfo.nodeID` or `section "Event Plugin"`."""

    @property
    def is_rule(self) -> bool:
        """Whether it states what must, should, may or will happen, or what is rejected."""
        return bool(self.words)


@dataclass(frozen=True, slots=True)
class SpecError:
    """An error in a specification, as one sentence."""

    message: str
    line: int = 0  # 0 if it concerns the whole document

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class UnreadableSpec(Exception):
    """An unreadable or uncompilable specification, with all its errors."""

    def __init__(self, name: str, errors: Iterable[SpecError]) -> None:
        self.name = name
        self.errors = tuple(errors)
        super().__init__("\n".join(f"{name}: {error}" for error in self.errors))


@dataclass(frozen=True, slots=True)
class Spec:
    """A compiled specification: its schema, constants, Go API and sentences."""

    name: str
    """The name the user gave: a path, a revision, `git:REV:PATH`."""
    file: FileDescriptorProto
    """With source info (comments, and places in `source`) if there was a source."""
    constants: Mapping[str, Constant] = field(default_factory=dict)
    sentences: tuple[Sentence, ...] = ()
    """All sentences in document order, including comments of declarations."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Full name to line: `si.v1.NodeInfo`, `si.v1.NodeInfo.nodeID`,
    `si.v1.NodeInfo.ActionFromRM.CREATE`, `si.v1.Scheduler.UpdateNode`. A value is named under
    its enum, a member of a oneof under its message, an extension under the package."""
    guesses: tuple[str, ...] = ()
    """Guesses made while reading, one sentence each."""
    api: Mapping[str, ApiMethod] = field(default_factory=dict)
    """Methods of the Go API by `Interface.Method`; empty if the source has none."""
    source: str = ""
    """The protobuf source that was compiled; "" for a descriptor set or a revision."""
    content: str = ""
    """The whole document, for `siconform.catalogue.texts.read_text`; "" if there is none."""
    has_text: bool = False
    """Whether the format can have prose: a document, not a schema alone. A .proto file has the
    sentences of its comments only."""
    has_constants: bool = False
    """Whether the format can have constants and the Go API: a document or a revision."""

    def line_of(self, full_name: str) -> int:
        """Return the line of a declaration, or 0 if it is unknown."""
        return self.lines.get(full_name, 0)
