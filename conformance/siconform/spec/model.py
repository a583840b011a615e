"""What a specification of the SI is made of, whatever it was read from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import FileDescriptorProto


@dataclass(frozen=True, slots=True)
class Constant:
    """A named string of the text, such as `HostName = "si/hostname"`."""

    name: str
    value: str
    line: int = 0  # of the text; 0 where there is no text
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ApiMethod:
    """A method of an interface of the Go API, such as `SchedulerAPI.UpdateNode`."""

    name: str  # Interface.Method
    signature: str  # what follows the name, spaces squeezed: `(request *si.NodeRequest) error`
    comment: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the text or of a comment; a rule when it has modal words."""

    text: str
    section: str  # heading it stands under, "" before the first one
    line: int  # its first line
    words: tuple[str, ...] = ()
    """The modal words found, in order of appearance and as `MODAL_WORDS` has them."""
    place: str = ""
    """The `where` of a requirement's source: `NodeInfo.nodeID` or `section "Event Plugin"`."""

    @property
    def is_rule(self) -> bool:
        """Whether it says what somebody must, should, may or will do, or what is refused."""
        return bool(self.words)


@dataclass(frozen=True, slots=True)
class SpecError:
    """One thing that is wrong with a specification, as one sentence."""

    message: str
    line: int = 0  # of the text; 0 when it is about the whole

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class UnreadableSpec(Exception):
    """A specification that cannot be read or does not compile, with everything wrong with it."""

    def __init__(self, name: str, errors: Iterable[SpecError]) -> None:
        self.name = name
        self.errors = tuple(errors)
        super().__init__("\n".join(f"{name}: {error}" for error in self.errors))


@dataclass(frozen=True, slots=True)
class Spec:
    """One specification, compiled: its schema, constants, Go API and sentences."""

    name: str
    """What the user called it: a path, a revision, `git:REV:PATH`."""
    file: FileDescriptorProto
    """With source info (comments, and places in `source`) where there was a source."""
    constants: Mapping[str, Constant] = field(default_factory=dict)
    sentences: tuple[Sentence, ...] = ()
    """All sentences in order of the text, comments of declarations included."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Full name to line of the text: `si.v1.NodeInfo`, `si.v1.NodeInfo.nodeID`,
    `si.v1.NodeInfo.ActionFromRM.CREATE`, `si.v1.Scheduler.UpdateNode`. A value is named under
    its enum, a member of a oneof under its message, an extension under the package."""
    guesses: tuple[str, ...] = ()
    """What had to be guessed to read the text, one sentence each."""
    api: Mapping[str, ApiMethod] = field(default_factory=dict)
    """Methods of the Go API by `Interface.Method`; empty where the source has none."""
    source: str = ""
    """The protobuf source that was compiled; "" for a descriptor set or a revision."""
    content: str = ""
    """The whole text, for `siconform.catalogue.texts.read_text`; "" where there was no text."""
    has_text: bool = False
    """Whether prose could have been there: a text, no schema alone. A .proto file has the
    sentences of its comments only."""
    has_constants: bool = False
    """Whether constants and the Go API could have been there: a text or a revision."""

    def line_of(self, full_name: str) -> int:
        """The line of a declaration, or 0 where it is not known."""
        return self.lines.get(full_name, 0)
