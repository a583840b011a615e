"""Names and fields of facts as text."""

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any


@cache
def field_names(kind: type) -> tuple[str, ...]:
    """Return the field names of a dataclass."""
    return tuple(field.name for field in fields(kind))


@cache
def words_of(name: str) -> str:
    """Return a class name in words: ``NodeAccepted`` becomes ``node accepted``."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def shown(name: str, value: Any) -> str:
    """Return a field and its value as text."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Mapping):
        return "{" + " ".join(f"{k}={v}" for k, v in sorted(value.items())) + "}"
    if name in ("node", "application", "key"):
        return str(value) if name == "key" else f"{name} {value}"
    return name.replace("_", " ") if value is True else f"{name.replace('_', ' ')} {value!s:.120}"
