"""Patterns of what an RM sends, for expectations and switches."""

from dataclasses import fields
from typing import Any, Generic, TypeVar

from siconform.protocol.fact_text import shown, words_of
from siconform.protocol.matchers import ANY, agree
from siconform.protocol.requests import Request
from siconform.protocol.subjects import OneAllocation

R = TypeVar("R")


class Sent(Generic[R]):
    """Every request of a type that agrees in the named fields; amounts compare as sparse maps.

    ``Sent(AskRequest, application=app, placeholder=False)``; the fields of an existing allocation
    go by its own names: ``Sent(ExistingAllocationRequest, key=key)``.
    """

    def __init__(self, kind: type[R], **wanted: Any) -> None:
        self.kind = kind
        self._wanted = wanted

    def matches(self, content: object) -> bool:
        """Return whether this is such a request."""
        return isinstance(content, self.kind) and all(
            wanted is ANY or _agree(wanted, _value(content, name))
            for name, wanted in self._wanted.items()
        )

    def __str__(self) -> str:
        wanted = (shown(name, value) for name, value in self._wanted.items() if value is not ANY)
        return f"{words_of(self.kind.__name__)} {', '.join(wanted)}".rstrip()


def sent_like(request: Request) -> Sent[Any]:
    """Return the pattern of a request: of every field that differs from its default."""
    named = {one.name: (one, getattr(request, one.name)) for one in fields(request)}
    wanted = {name: value for name, (one, value) in named.items() if value != one.default}
    return Sent(type(request), **wanted)


def _value(content: object, name: str) -> Any:
    """Return a field of a request, or of the allocation it is about."""
    about = content if hasattr(content, name) else getattr(content, "allocation", content)
    return getattr(about, name)


def _agree(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, OneAllocation) and isinstance(given, OneAllocation) and not wanted.key:
        return (wanted.application, wanted.identity) == (given.application, given.identity)
    return agree(wanted, given)
