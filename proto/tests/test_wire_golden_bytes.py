"""Golden messages: bytes written without siwire, read and written by it identically."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, unknown_fields
from google.protobuf.message import Message
from siwire import REVISIONS, Revision

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden" / "bytes"


@dataclass(frozen=True)
class Case:
    revision: Revision
    file: Path

    @property
    def message(self) -> type[Message]:
        name = self.file.stem.partition("-")[0]
        kind: type[Message] = getattr(self.revision.si, name)
        return kind

    @property
    def wire(self) -> bytes:
        text = self.file.with_suffix(".hex").read_text(encoding="utf-8")
        return bytes.fromhex(re.sub(r"#.*", "", text))

    @property
    def sent(self) -> Any:
        return json.loads(self.file.read_text(encoding="utf-8"))

    def __str__(self) -> str:
        return f"{self.revision}-{self.file.stem}"


CASES = [
    Case(revision, file)
    for revision in REVISIONS.values()
    for file in sorted((GOLDEN / revision.name).glob("*.json"))
]

each_case = pytest.mark.parametrize("case", CASES, ids=str)


def messages_within(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            values = [item for item in value.values() if isinstance(item, Message)]
        else:
            values = list(value) if field.is_repeated else [value]
        for item in values:
            yield from messages_within(item)


@each_case
def test_bytes_are_parsed_as_the_message(case: Case) -> None:
    read = case.message.FromString(case.wire)

    assert read == json_format.ParseDict(case.sent, case.message())


@each_case
def test_message_is_serialised_to_the_bytes(case: Case) -> None:
    message = json_format.ParseDict(case.sent, case.message())

    assert message.SerializeToString(deterministic=True).hex(" ") == case.wire.hex(" ")


@each_case
def test_message_is_rendered_as_its_json(case: Case) -> None:
    read = case.message.FromString(case.wire)

    assert json_format.MessageToDict(read) == case.sent


@each_case
def test_bytes_have_no_unknown_fields(case: Case) -> None:
    read = case.message.FromString(case.wire)

    unknown = [
        part.DESCRIPTOR.full_name
        for part in messages_within(read)
        if len(unknown_fields.UnknownFieldSet(part))
    ]
    assert unknown == []


def test_every_golden_message_has_bytes_and_vice_versa() -> None:
    written = {path.with_suffix("") for path in GOLDEN.rglob("*.hex")}
    sent = {path.with_suffix("") for path in GOLDEN.rglob("*.json")}

    assert written == sent == {case.file.with_suffix("") for case in CASES}
