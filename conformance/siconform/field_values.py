"""What is wrong with the value of a field in a file of the user."""

from difflib import get_close_matches
from typing import Any

import msgspec


def problem_with(value: Any, of: msgspec.structs.FieldInfo) -> str:
    """Return what is wrong with the value of a field, with the known values of a choice, or ""."""
    try:
        msgspec.convert(value, of.type)
    except msgspec.ValidationError as error:
        known = _choices(of)
        if not known:
            return str(error)
        near = get_close_matches(str(value), known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        return f'unknown value "{value}"{meant} (known: {", ".join(known)})'
    return ""


def _choices(of: msgspec.structs.FieldInfo) -> list[str]:
    """Return the values of a choice; empty for other types."""
    kind = msgspec.inspect.type_info(of.type)
    if isinstance(kind, msgspec.inspect.EnumType):
        return [str(one.value) for one in kind.cls]
    return (
        [str(one) for one in kind.values] if isinstance(kind, msgspec.inspect.LiteralType) else []
    )
