"""Declarations of a specification are written atomically; violated buf rules are named."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from selftest.spec_texts import SMALL, line_of, written
from sispec import buf
from sispec import extract as extracting
from sispec.extract import FILES, OccupiedFolder, extract
from sispec.model import Spec, UnreadableSpec
from sispec.sources import read_spec
from sispec.wire_rules import Breaks, broken_rules


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    return read_spec(written(tmp_path, "a.md", SMALL))


def test_schema_descriptor_set_and_constants_are_written(spec: Spec, tmp_path: Path) -> None:
    proto, binpb, constants = extract(spec, tmp_path / "deep" / "out")

    again = read_spec(str(proto))
    assert sorted(again.lines) == sorted(spec.lines)
    assert again.sentences
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(binpb.read_bytes()).file:
        pool.Add(file)
    assert pool.FindMessageTypeByName("si.v1.NodeRequest").fields_by_name["nodeID"].number == 1
    assert json.loads(constants.read_text("utf-8")) == {
        "HostName": "si/hostname",
        "Domain": "example.org/",
    }


def test_an_earlier_extraction_is_replaced_whole(spec: Spec, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    extract(spec, folder)
    (folder / "si.proto").write_text("old", "utf-8")
    (folder / "si.binpb").unlink()

    extract(spec, folder)

    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert (folder / "si.proto").read_text("utf-8") == spec.source
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "out"]


def test_other_files_are_left_alone(spec: Spec, tmp_path: Path) -> None:
    for name in ("a.md", "."):
        with pytest.raises(OccupiedFolder, match="name a new or empty folder"):
            extract(spec, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]


def test_failed_extraction_leaves_no_partial_files(
    spec: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    extract(spec, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    broken = {"si.proto": b"new", "si.binpb": None}
    monkeypatch.setattr(extracting, "contents", lambda _spec: broken)

    with pytest.raises(TypeError):
        extract(spec, folder)

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "out"]


def test_a_revision_has_no_source_to_write(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSpec, match="no protobuf source"):
        extract(read_spec("2023-12"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("before", "after", "at", "rule", "breaks"),
    [
        (
            *("string nodeID = 1;", "", "message NodeRequest"),
            *("FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED", Breaks.WIRE),
        ),
        (
            *("string nodeID = 1;", "sint32 nodeID = 1;", "string nodeID"),
            *("FIELD_WIRE_COMPATIBLE_TYPE", Breaks.WIRE),
        ),
        (
            *("string nodeID = 1;", "string node = 1;", "string nodeID"),
            *("FIELD_SAME_NAME", Breaks.JSON),
        ),
        (
            *("returns (stream NodeResponse)", "returns (NodeResponse)", "rpc UpdateNode"),
            *("RPC_SAME_SERVER_STREAMING", Breaks.WIRE),
        ),
        (
            *("reserved 3;", "", "message NodeRequest"),
            *("RESERVED_MESSAGE_NO_DELETE", Breaks.WIRE),
        ),
        (
            *("CREATE = 1;", "MAKE = 1;", "CREATE = 1"),
            *("ENUM_VALUE_SAME_NAME", Breaks.JSON),
        ),
    ],
)
def test_buf_rules_have_protected_element_and_line(
    spec: Spec, tmp_path: Path, *, before: str, after: str, at: str, rule: str, breaks: Breaks
) -> None:
    new = read_spec(written(tmp_path, "b.md", SMALL.replace(before, after)))

    found = {(broken.rule, broken.breaks, broken.line) for broken in broken_rules(spec, new)}

    assert (rule, breaks, line_of(SMALL, at)) in found


def test_the_same_text_and_prose_alone_break_no_rule(spec: Spec, tmp_path: Path) -> None:
    new = read_spec(written(tmp_path, "b.md", SMALL.replace("Nodes must be known.", "New prose.")))

    assert broken_rules(spec, spec) == ()
    assert broken_rules(spec, new) == ()
    assert broken_rules(read_spec("2024-10"), read_spec("2026-04")) == ()


def test_buf_is_not_asked_where_both_declare_the_same(
    spec: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = read_spec(written(tmp_path, "b.md", SMALL.replace("Nodes must be known.", "New prose.")))
    other = read_spec(written(tmp_path, "c.md", SMALL.replace("count = 4", "count = 6")))
    asked: list[str] = []

    def run(arguments: Sequence[str], *_: object) -> tuple[buf.Finding, ...]:
        asked.append(arguments[0])
        return ()

    monkeypatch.setattr(buf, "run", run)

    broken_rules(spec, new)
    assert asked == []

    broken_rules(spec, other)
    assert asked == ["breaking"]
