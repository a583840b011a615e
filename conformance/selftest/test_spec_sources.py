"""Each kind of source argument is compiled to a specification."""

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from selftest.spec_commands_run import committed
from selftest.spec_texts import SMALL, line_of, without_barriers, written
from sispec import buf
from sispec.compiling import with_imports
from sispec.model import Spec, UnreadableSpec
from sispec.sources import read_spec
from siwire import REVISIONS
from siwire import constants as si_constants

PROTO = Path(__file__).parents[2] / "proto" / "si"


def bare(spec: Spec) -> FileDescriptorProto:
    """Return the schema without comments and places."""
    file = FileDescriptorProto()
    file.CopyFrom(spec.file)
    file.ClearField("source_code_info")
    return file


def errors(argument: str) -> list[str]:
    with pytest.raises(UnreadableSpec) as caught:
        read_spec(argument)
    return [str(error) for error in caught.value.errors]


def test_declarations_have_the_lines_of_the_text(tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, "a.md", SMALL))

    assert {name: spec.line_of(name) for name in spec.lines} == {
        f"si.v1.{name}": line_of(SMALL, start)
        for name, start in {
            "si_secret": "extend google",
            "Scheduler": "service Scheduler",
            "Scheduler.UpdateNode": "rpc UpdateNode",
            "NodeRequest": "message NodeRequest",
            "NodeRequest.nodeID": "string nodeID",
            "NodeRequest.action": "Action action",
            "NodeRequest.Action": "enum Action",
            "NodeRequest.Action.UNKNOWN": "UNKNOWN = 0",
            "NodeRequest.Action.CREATE": "CREATE = 1",
            "NodeRequest.how": "oneof how",
            "NodeRequest.count": "oneof how",
            "NodeRequest.all": "oneof how",
            "NodeResponse": "message NodeResponse",
        }.items()
    }
    assert spec.line_of("si.v1.Unknown") == 0
    assert spec.has_text
    assert spec.content == SMALL


@pytest.mark.parametrize("name", REVISIONS)
def test_revision_equals_its_compiled_proto_file(name: str) -> None:
    assert bare(read_spec(name)) == bare(read_spec(str(PROTO / name / "si.proto")))


@pytest.mark.parametrize("name", REVISIONS)
def test_revision_in_text_blocks_equals_revision(tmp_path: Path, name: str) -> None:
    proto = (PROTO / name / "si.proto").read_text("utf-8")
    middle = proto.index("\nmessage ", len(proto) // 2)
    head, tail = proto[:middle], proto[middle:]
    text = f"# A\n\n```protobuf\n{head}\n```\n\nProse.\n\n```protobuf{tail}\n```\n"
    synchronised = read_spec(written(tmp_path, "a.md", text))
    lost = read_spec(written(tmp_path, "b.md", without_barriers(text)))

    assert bare(synchronised) == bare(read_spec(name))
    assert bare(lost) == bare(read_spec(name))


def test_revision_has_constants_of_its_text() -> None:
    for name in REVISIONS:
        constants = read_spec(name).constants
        assert {constant.value for constant in constants.values()} == si_constants.KNOWN_IN[name]
        assert len(constants) == len(si_constants.KNOWN_IN[name])
    assert {
        key: constants[key].value
        for key in ("ARCH", "HostName", "ApplicationID", "DomainK8s", "DomainYuniKornInternal")
    } == {
        "ARCH": "si/arch",
        "HostName": "si/hostname",
        "ApplicationID": "si/application-id",
        "DomainK8s": "kubernetes.io/",
        "DomainYuniKornInternal": "internal.yunikorn.apache.org/",
    }


def test_release_line_is_resolved_with_note_if_approximate() -> None:
    assert bare(read_spec("1.8")) == bare(read_spec("2024-10"))
    assert read_spec("1.8").guesses == ()
    assert read_spec("1.5").guesses[0].startswith("SI 1.5 is mapped to 2023-12")


def test_a_descriptor_set_is_read_by_its_ending_or_its_bytes(tmp_path: Path) -> None:
    data = with_imports(read_spec("2023-12").file).SerializeToString()
    for name in ("si.binpb", "si"):
        (tmp_path / name).write_bytes(data)
        assert bare(read_spec(str(tmp_path / name))) == bare(read_spec("2023-12"))


@pytest.mark.parametrize("name", ["a.md", "a.binpb", "a.proto", "a"])
def test_invalid_binary_source_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x7fELF\0\1\2" * 99)

    assert errors(str(tmp_path / name)) == [
        "the file is binary but not a descriptor set: give a .md, a .proto or a .binpb"
    ]


def test_descriptor_set_without_si_is_refused(tmp_path: Path) -> None:
    files = [FileDescriptorProto(name="a.proto"), FileDescriptorProto(name="b.proto")]
    path = tmp_path / "a.binpb"
    path.write_bytes(FileDescriptorSet(file=files).SerializeToString())

    assert errors(str(path)) == [
        "the descriptor set should have one file or an si.proto; it has a.proto, b.proto"
    ]


def test_sentences_of_a_proto_file_are_those_of_its_comments(tmp_path: Path) -> None:
    proto = 'syntax = "proto3";\n// It must be told.\nmessage A {}\n'

    spec = read_spec(written(tmp_path, "a.proto", proto))

    assert [(s.text, s.place, s.line) for s in spec.sentences] == [("It must be told.", "A", 2)]
    assert not spec.has_text


def test_text_in_git_is_read_from_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(tmp_path, a=SMALL)
    written(tmp_path, "a.md", SMALL.replace("nodeID", "nodeId"))
    monkeypatch.chdir(tmp_path)

    assert "si.v1.NodeRequest.nodeID" in read_spec("git:HEAD:a.md").lines
    assert "si.v1.NodeRequest.nodeId" in read_spec("a.md").lines
    assert errors("git:HEAD:b.md")[0].startswith("git has no such file: path 'b.md' does not exi")
    assert errors("git:nowhere:a.md")[0].startswith("git has no such file: ")
    assert errors("git:HEAD")[0].startswith("write git:REV:PATH")
    assert errors("git:--help:a.md")[0].startswith("write git:REV:PATH")


_DOES_NOT_COMPILE = [
    (
        "string nodeID = 1;",
        "string nodeID = 2;",
        "Action action",
        (
            "field number `2` used more than once in NodeRequest, in `Action action = 2;`: take a "
            "number that was never used"
        ),
    ),
    (
        "string nodeID = 1;",
        "string nodeID = 3;",
        "string nodeID",
        (
            "use of reserved field number `3`, in `string nodeID = 3;`: it had another "
            "owner before: take one that was never used"
        ),
    ),
    (
        "string nodeID = 1;",
        "Identity nodeID = 1;",
        "string nodeID",
        (
            "cannot find `Identity` in this scope, in `Identity nodeID = 1;`: declare it in a "
            "protobuf block, or correct the name"
        ),
    ),
    (
        "google/protobuf/descriptor.proto",
        "other/descriptor.proto",
        "import",
        (
            'imported file does not exist, in `import "other/descriptor.proto";`: only files '
            "of google/protobuf can be imported"
        ),
    ),
    ("UNKNOWN = 0;", "UNKNOWN = 7;", "UNKNOWN", ""),
    ("string nodeID = 1;", "strng nodeID 1;", "string nodeID", ""),
    ("CREATE = 1;", "UNKNOWN = 1;", "UNKNOWN = 0", "`UNKNOWN` declared multiple times"),
]


@pytest.mark.parametrize(
    ("before", "after", "at", "message"),
    _DOES_NOT_COMPILE,
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_compile_error_has_line_of_text(
    tmp_path: Path, *, before: str, after: str, at: str, message: str, line_end: str
) -> None:
    text = SMALL.replace(before, after).replace("\n", line_end)
    path = tmp_path / "a.md"
    path.write_bytes(text.encode())

    found = errors(str(path))

    assert found[0].startswith(f"line {line_of(SMALL, at)}: {message}")


def test_every_error_of_a_text_is_named(tmp_path: Path) -> None:
    text = SMALL.replace("string nodeID = 1;", "string nodeID = 2;").replace(
        "CREATE = 1;", "CREATE = 0;"
    )

    found = errors(written(tmp_path, "a.md", text))

    lines = [line_of(SMALL, "CREATE = 1"), line_of(SMALL, "Action action")]
    assert [error.split(":")[0] for error in found] == [f"line {line}" for line in lines]


def test_consequential_errors_are_not_reported(tmp_path: Path) -> None:
    text = SMALL.replace("message NodeRequest {", "the message NodeRequest {")
    text = text.replace("message NodeResponse {}", "message NodeResponse { Unknown one = 1; }")

    found = errors(written(tmp_path, "a.md", text))

    assert found[0].startswith(f"line {line_of(SMALL, 'message NodeRequest')}: ")
    assert "cannot find `Unknown`" in found[-1]


def test_lines_in_a_row_with_one_error_are_reported_once(tmp_path: Path) -> None:
    text = SMALL.replace("string nodeID = 1;", '"string nodeID = 1;')

    lines = [error.split(":")[0] for error in errors(written(tmp_path, "a.md", text))]

    assert f"line {line_of(SMALL, 'string nodeID')}" in lines
    assert len(lines) < 5


def test_missing_source_suggests_nearest_revision(tmp_path: Path) -> None:
    assert errors("2023-13")[0].startswith(
        'there is no such file; unknown revision "2023-13"; did you mean "2023-12"?'
    )
    assert errors(str(tmp_path)) == ["the file cannot be read: Is a directory"]


def test_missing_compiler_shows_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name, path=None: path and None)

    with pytest.raises(buf.NoCompiler, match=r"pip install '.\[spec\]'"):
        buf.executable()
