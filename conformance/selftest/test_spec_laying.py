"""What is laid down for 2024-10, had there been none after 2023-12, is what stands there."""

import ast
import difflib
import tomllib
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import Message
from selftest.spec_laying import CHECKOUT, known_until, text_of
from siconform.spec.compiling import compile_source
from siconform.spec.laying import capabilities
from siconform.spec.laying.decisions import Topic
from siconform.spec.laying.declaration import declaration
from siconform.spec.laying.golden_messages import golden_messages
from siconform.spec.laying.plan import Plan, plan
from siconform.spec.laying.schema_table import schema_table
from siconform.spec.laying.source_edits import WIDTH, NotLaidError
from siconform.spec.laying.wire_lines import wire_bytes, wire_lines
from siconform.spec.places import elements
from siconform.spec.sources import from_text
from siconform.transport.dialects import r2023_12
from siwire import REVISIONS, Revision, constants

NAME, BEFORE = "2024-10", "2023-12"
EVERYTHING = """\
syntax = "proto3";
package si.v1;
import "google/protobuf/descriptor.proto";
import "google/protobuf/timestamp.proto";
option go_package = "lib/go/si";
option optimize_for = SPEED;
extend google.protobuf.FieldOptions { bool si_secret = 1059; string note = 1060; }
extend google.protobuf.MessageOptions { repeated int32 marks = 1061; }
service Scheduler {
  option deprecated = true;
  rpc A (Everything) returns (stream Everything.Inner) { option idempotency_level = IDEMPOTENT; }
  rpc B (Everything) returns (Everything);
  rpc C (Everything) returns (Everything) {}
}
enum E {
  option allow_alias = true;
  ZERO = 0; ONE = 1 [deprecated = true]; UNO = 1; MINUS = -3;
  reserved 5 to 9, -10;
  reserved "foo";
}
message Everything {
  option (marks) = 3;
  option (marks) = 4;
  message Inner {
    message Deep { .si.v1.E e = 1; map<int32, Deep> deeper = 2; }
    E e = 1;
    oneof either { string a = 2; Inner b = 3; }
    optional int32 present = 4;
  }
  string text = 1 [(si_secret) = true, json_name = "Text", (note) = "a \\"b\\" \\\\ c\\n"];
  repeated sint32 apart = 2 [packed = false];
  repeated int64 packed = 3;
  map<string, Inner.Deep> by_name = 4;
  google.protobuf.Timestamp at = 5;
  oneof number { double d = 6; bytes data = 7; }
  oneof fixed { sfixed64 wide = 8; fixed32 narrow = 9; }
  float share = 10;
  Inner inner = 11;
  reserved 20 to 30, 40;
  reserved "x", "y";
}
"""
"""A schema with whatever proto3 has, the texts' own oddities aside."""
each_revision = pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)


@pytest.fixture(scope="module")
def laid() -> Plan:
    return plan(from_text("text.md", text_of(NAME)), NAME, known_until(BEFORE))


def schema(revision: Revision) -> FileDescriptorProto:
    file = FileDescriptorProto()
    revision.si.DESCRIPTOR.CopyToProto(file)
    return file


def committed(path: str) -> str:
    return (CHECKOUT / path).read_text("utf-8")


def body(table: str) -> list[str]:
    return [line for line in table.splitlines() if not line.startswith("#")]


def executed(source: str) -> Mapping[str, Any]:
    module = ModuleType("laid")
    exec(compile(source, "laid", "exec"), module.__dict__)  # noqa: S102 - what was laid down
    return vars(module)


def added(text: str, older: str) -> list[str]:
    lines = difflib.ndiff(older.splitlines(), text.splitlines())
    return [line[2:] for line in lines if line.startswith("+ ")]


@each_revision
def test_a_declaration_compiles_to_the_schema_it_was_made_of(revision: Revision) -> None:
    file = compile_source("si.proto", declaration(schema(revision), revision.name))
    file.ClearField("source_code_info")

    assert file == schema(revision)


@each_revision
def test_a_table_is_the_golden_one_to_the_letter_but_for_its_remarks(revision: Revision) -> None:
    golden = committed(f"fixtures/golden/schema/{revision}.yaml")

    assert body(schema_table(schema(revision), revision.name)) == body(golden)


@each_revision
def test_bytes_are_written_as_the_golden_ones_to_the_letter(revision: Revision) -> None:
    files = sorted((CHECKOUT / "fixtures/golden/bytes" / revision.name).glob("*.json"))
    assert files

    for file in files:
        kind = getattr(revision.si, file.stem.partition("-")[0])
        message = json_format.Parse(file.read_text("utf-8"), kind())
        assert wire_lines(message) == file.with_suffix(".hex").read_text("utf-8"), file.stem


@each_revision
def test_a_schema_shows_the_capabilities_that_are_recorded(revision: Revision) -> None:
    assert capabilities.shown(elements(schema(revision))) == revision.capabilities


def test_a_declaration_says_whatever_a_text_may_say() -> None:
    file = compile_source("si.proto", EVERYTHING)
    file.ClearField("source_code_info")

    again = compile_source("si.proto", declaration(file, "2027-01"))
    again.ClearField("source_code_info")

    assert again == file


def test_every_kind_of_field_travels_in_messages_that_are_made_up() -> None:
    file = compile_source("si.proto", EVERYTHING)

    found = golden_messages(file, file, {})

    assert found.untravelled == ()
    assert list(found.said) == ["Everything-new-fields", "Everything-new-fields-2"]


def test_a_table_of_millions_of_reserved_numbers_is_refused() -> None:
    file = compile_source("si.proto", EVERYTHING.replace("20 to 30, 40", "20 to max"))

    with pytest.raises(NotLaidError, match="reserve fewer than 1000"):
        schema_table(file, "2027-01")


def test_the_declaration_laid_down_is_the_schema_of_the_text(laid: Plan) -> None:
    source = laid.new[f"proto/si/{NAME}/si.proto"]
    file = compile_source("si.proto", source)
    file.ClearField("source_code_info")

    assert file == schema(REVISIONS[NAME])
    assert source.splitlines()[:10] == committed(f"proto/si/{NAME}/si.proto").splitlines()[:10]
    assert "//" not in source.partition("syntax")[2]


def test_the_table_laid_down_is_the_golden_one_but_for_its_remarks(laid: Plan) -> None:
    table = laid.new[f"fixtures/golden/schema/{NAME}.yaml"]
    golden = committed(f"fixtures/golden/schema/{NAME}.yaml")

    assert body(table) == body(golden)
    assert table.splitlines()[2] == golden.splitlines()[2]


def test_the_windows_of_the_constants_are_those_of_the_golden_table(laid: Plan) -> None:
    path = "fixtures/golden/schema/constants.yaml"

    assert laid.edited[path] == committed(path)


def test_constants_are_kept_gone_and_new_as_they_are_recorded(laid: Plan) -> None:
    now = executed(laid.edited["proto/siwire/constants.py"])

    assert now["KNOWN_IN"][NAME] == constants.KNOWN_IN[NAME]
    for name, value in vars(constants).items():
        if name.isupper() and isinstance(value, str):
            assert now[name] == value
    known = dict(now["KNOWN_IN"])
    assert known == {name: constants.KNOWN_IN[name] for name in known}


def test_the_record_is_the_one_there_is_but_for_its_aliases(laid: Plan) -> None:
    now = executed(laid.edited["proto/siwire/revisions.py"])["REVISIONS"]

    there = REVISIONS[NAME]
    assert list(now) == [name for name in REVISIONS if name <= NAME]
    assert now[NAME].package == there.package
    assert {one.name for one in now[NAME].capabilities} == {o.name for o in there.capabilities}
    assert now[NAME].aliases == ()
    assert any("aliases" in one.says for one in laid.decisions if one.topic is Topic.NAME)


def test_the_generator_makes_the_package_of_the_same_declaration(laid: Plan) -> None:
    path = "proto/generate.py"
    entry = next(line for line in committed(path).splitlines() if f"si/{NAME}" in line)

    assert added(laid.edited[path], known_until(BEFORE).files[path]) == [entry]


def test_the_layers_are_those_there_are(laid: Plan) -> None:
    def layers(text: str) -> dict[str, list[str]]:
        contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
        return {one["id"]: one["layers"] for one in contracts if "layers" in one}

    now, there = layers(laid.edited["pyproject.toml"]), layers(committed("pyproject.toml"))
    without_2026 = {
        contract: [layer for layer in each if layer != "(r2026_04)"]
        for contract, each in there.items()
    }
    assert now == without_2026


def test_the_runs_have_the_revision(laid: Plan) -> None:
    line = next(
        line for line in laid.edited["noxfile.py"].splitlines() if line.startswith("REVISIONS")
    )

    assert ast.literal_eval(line.partition(" = ")[2]) == (
        "2021-02",
        "2023-04",
        "2023-08",
        BEFORE,
        NAME,
    )


def fields_within(message: Message) -> set[str]:
    found: set[str] = set()
    for one, value in message.ListFields():
        found.add(one.full_name)
        is_map = one.message_type is not None and one.message_type.GetOptions().map_entry
        entries = value.values() if is_map else value if one.is_repeated else [value]
        for entry in entries:
            if isinstance(entry, Message):
                found |= fields_within(entry)
    return found


def test_golden_messages_are_read_as_written_and_every_field_travels(laid: Plan) -> None:
    si = REVISIONS[NAME].si
    travelled: set[str] = set()
    for path, said in laid.new.items():
        if f"/bytes/{NAME}/" in path and path.endswith(".json"):
            kind = getattr(si, PurePosixPath(path).stem.partition("-")[0])
            read = kind.FromString(wire_bytes(laid.new[path.removesuffix(".json") + ".hex"]))
            assert read == json_format.Parse(said, kind())
            travelled |= fields_within(read)

    messages = si.DESCRIPTOR.message_types_by_name.values()
    assert travelled == {one.full_name for message in messages for one in message.fields}


def test_what_became_of_older_golden_messages_is_told(laid: Plan) -> None:
    told = [one.says for one in laid.decisions if one.topic is Topic.GOLDEN]

    assert "AllocationRequest-asks does not go on, without AllocationRequest.asks" in told
    assert any(says.startswith("NodeRequest-create goes on without") for says in told)
    assert any("EventRecord.ChangeDetail.APP_RUNNABLE_QUOTA: telling?" in says for says in told)
    path = f"fixtures/golden/bytes/{NAME}/Resource-limits.json"
    assert laid.new[path] == committed(path)


def test_the_codec_goes_on_with_the_one_before(laid: Plan) -> None:
    module = executed(laid.new["reference/sireference/codec/r2024_10.py"])

    assert module["CODEC"].revision is REVISIONS[NAME]
    question = module["CALLBACKS"].write[module["PreemptionQuestion"]]
    assert question.args == (REVISIONS[NAME].si.PreemptionPredicatesArgs,)
    registry = laid.edited["reference/sireference/codec/__init__.py"]
    assert "r2023_08, r2023_12, r2024_10)" in registry


def test_the_dialect_goes_on_with_the_one_before(laid: Plan) -> None:
    module = executed(laid.new["conformance/siconform/transport/dialects/r2024_10.py"])
    registry = laid.edited["conformance/siconform/transport/dialects/registry.py"]

    assert module["TABLES"] is r2023_12.TABLES
    assert '    "2024-10": lambda: r2024_10.TABLES,\n' in registry


def test_what_is_new_other_and_gone_is_for_people(laid: Plan) -> None:
    told = {topic: [one.says for one in laid.decisions if one.topic is topic] for topic in Topic}

    assert "AllocationRequest.asks: field removed (1 repeated AllocationAsk)" in told[Topic.GONE]
    assert "EventRecord.ChangeDetail.UG_APP_LINK: enum value added (602)" in told[Topic.NEW]
    assert "ASKS_APART is recorded as gone: which verbs ask for it?" in told[Topic.CAPABILITY]
    assert "API_STOP is recorded: do its messages mean the same?" in told[Topic.CAPABILITY]
    assert 'Foreign ("foreign") is new: what is it for?' in told[Topic.CONSTANT]
    assert 'NodeReadyAttribute ("ready") is gone: who goes by it?' in told[Topic.CONSTANT]
    assert "NodeInfo has other fields than before" in told[Topic.MESSAGE]


def test_what_is_laid_down_keeps_to_the_width_of_the_sources(laid: Plan) -> None:
    files = {**laid.new, **laid.edited}

    assert not [
        (path, line)
        for path, text in files.items()
        if path.endswith(".py")
        for line in text.splitlines()
        if len(line) > WIDTH
    ]
