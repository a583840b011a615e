"""Each field of the schema tables, encoded here by the table alone, is one that siwire knows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf import unknown_fields
from siwire import REVISIONS, Revision

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden" / "schema"
VARINT, BYTES = 0, 2  # wire types


def varint(number: int) -> bytes:
    more, last = number >> 7, number & 0x7F
    return bytes([last | 0x80]) + varint(more) if more else bytes([last])


def sized(payload: bytes) -> bytes:
    return varint(len(payload)) + payload


def encoded(number: int, kind: str, table: Mapping[str, Any]) -> bytes:
    """Return a field with a value that is not its default: one, "a" or an empty message."""
    if kind in ("bool", "int32", "int64"):
        return varint(number << 3 | VARINT) + varint(1)
    if kind in table["enums"]:
        largest = max(table["enums"][kind].values())
        return varint(number << 3 | VARINT) + varint(largest)
    payload = b"a" if kind == "string" else b""
    if kind.startswith("map<"):
        key, value = kind.removeprefix("map<").removesuffix(">").split(", ")
        payload = encoded(1, key, table) + encoded(2, value, table)
    return varint(number << 3 | BYTES) + sized(payload)


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_each_field_is_read_and_written_as_in_its_table(revision: Revision) -> None:
    table = yaml.safe_load((GOLDEN / f"{revision}.yaml").read_text(encoding="utf-8"))
    for name, declared in table["messages"].items():
        for field, cell in declared.items():
            number, _, kind = cell.partition(" (")[0].partition(" ")
            wire = encoded(int(number), kind.removeprefix("repeated "), table)

            read = getattr(revision.si, name).FromString(wire)

            assert len(unknown_fields.UnknownFieldSet(read)) == 0, f"{name}.{field}"
            assert [one.name for one, _ in read.ListFields()] == [field], f"{name}.{field}"
            assert read.SerializeToString(deterministic=True) == wire, f"{name}.{field}"
