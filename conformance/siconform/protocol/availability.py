"""What the fields of requests say of themselves: the revisions that have them, and their names.

Setting a field in a revision that lacks it is an error.
"""

from collections.abc import Iterator
from dataclasses import Field, fields, replace
from functools import cache
from typing import Any, Final, TypeVar

from siconform.protocol.matchers import ANY

_FIRST: Final = "0000-00"
_LAST: Final = "9999-99"

Element = TypeVar("Element", bound=Any)


def sent_as(name: str) -> dict[str, str]:
    """Return the metadata of a field that is sent as it is, in a scalar field of this name."""
    return {"sent_as": name}


def since(revision: str) -> dict[str, str]:
    """Return the metadata of a field that exists from this revision on."""
    return {"since": revision}


def until(revision: str) -> dict[str, str]:
    """Return the metadata of a field that exists up to this revision, including it."""
    return {"until": revision}


def lacking(element: Any, revision: str) -> Iterator[str]:
    """Yield the fields set in this dataclass, or in those it contains, that the revision lacks."""
    limited, containers = _fields_of(element.__class__)
    for one in limited:
        first, last = one.metadata.get("since", _FIRST), one.metadata.get("until", _LAST)
        if not first <= revision <= last and _is_set(one, getattr(element, one.name)):
            yield one.name
    for name in containers:
        value = getattr(element, name)
        for part in value if isinstance(value, tuple) else (value,):
            if hasattr(part, "__dataclass_fields__"):
                yield from lacking(part, revision)


def omitting(element: Element, name: str, revision: str) -> Element:
    """Return the element without a field whose value no test chose, if the revision lacks it.

    A value that a test chose is sent or refused.
    """
    if name not in lacking(element, revision):
        return element
    default = element.__dataclass_fields__[name].default
    return replace(element, **{name: None if default is ANY else default})


@cache
def _fields_of(kind: Any) -> tuple[list[Field[Any]], list[str]]:
    """Return the limited fields, and those that contain allocations."""
    declared = fields(kind)
    return [one for one in declared if one.metadata.keys() & {"since", "until"}], [
        one.name for one in declared if one.name in ("allocation", "existing")
    ]


def _is_set(one: Field[Any], value: Any) -> bool:
    """Return whether the value says more than the default; in a pattern, "" says nothing."""
    return bool(value != one.default) and (one.default is not ANY or bool(value))
