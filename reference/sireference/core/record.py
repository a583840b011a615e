"""Records that are made for every ask: immutable for the type checker, and cheap to make."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[Kind]) -> type[Kind]:
    """Make ``cls`` a dataclass whose fields mypy lets no one set.

    Python itself does not prevent it: a frozen dataclass takes three times as long to make, because
    it sets every field through a function. With frozen ones a tenth of the time for an allocation
    went into that.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
