"""The well-known names that an RM may send, and what looks like one of them."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from siwire.constants import (
    CPU,
    CREATION_TIME,
    FOREIGN,
    GROUP_ANNOTATION,
    GROUP_LABEL,
    GROUP_META,
    KNOWN_IN,
    MEMORY,
    NODE_READY_ATTRIBUTE,
)

from siconform.protocol.requests import ApplicationRequest, AskRequest, NodeRequest

_PREFIX: Final = "si/"  # of attributes
_EVERY: Final = frozenset().union(*KNOWN_IN.values())
_NODE_ATTRIBUTES: Final = frozenset(
    {NODE_READY_ATTRIBUTE, *(one for one in _EVERY if one.startswith(_PREFIX))}
)
_APPLICATION_TAGS: Final = frozenset(
    one for one in _EVERY if one.startswith(("namespace.", "application."))
)
_RESOURCES: Final = frozenset({MEMORY, CPU})
_TAG_GROUPS: Final = frozenset({GROUP_META, GROUP_LABEL, GROUP_ANNOTATION})
_TAG_DOMAINS: Final = frozenset(one for one in _EVERY if one.endswith("/")) - _TAG_GROUPS

TAGS: Final = frozenset({CREATION_TIME, FOREIGN})
"""Tags without a domain."""

KNOWN_IN_ALL: Final = frozenset.intersection(*KNOWN_IN.values())
"""The names that every revision defines."""


def names_in(
    sent: NodeRequest | ApplicationRequest | AskRequest,
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each name in an RM's request, with the constants that exist for such names."""
    match sent:
        case NodeRequest(attributes=names, capacity=amounts):
            yield from names_of(NodeRequest, names, amounts or {})
        case ApplicationRequest(tags=names):
            yield from names_of(ApplicationRequest, names, {})
        case AskRequest(tags=names, resource=amounts):
            yield from names_of(AskRequest, names, amounts or {})


def names_of(
    kind: type, names: Iterable[str], types: Iterable[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield attributes or tags and types of resources of a request, as ``names_in`` does."""
    yield from ((name, _RESOURCES) for name in types)
    if kind is not AskRequest:
        constants = _NODE_ATTRIBUTES if kind is NodeRequest else _APPLICATION_TAGS
        yield from ((name, constants) for name in names)
        return
    for key in names:
        yield key, TAGS
        *parts, _ = key.split("/")
        for part, constants in zip(parts, (_TAG_DOMAINS, _TAG_GROUPS), strict=False):
            yield f"{part}/", constants


@lru_cache(10_000)
def looks_like(name: str, constant: str) -> bool:
    """Return whether a name is meant to be a constant: but for case, signs and the prefix "si/"."""
    domain, _, last = name.lower().rpartition("/")
    is_attribute = constant.startswith(_PREFIX) and re.match(r"(si\b.*)?$", domain) is not None
    return _plain(name) == _plain(constant) or (
        is_attribute and _plain(last) == _plain(constant.removeprefix(_PREFIX))
    )


def is_tag_key(key: str, without_domain: frozenset[str]) -> bool:
    """Return whether a tag key consists of domain, optional group and name."""
    domain, *others = key.split("/")
    is_domain = bool(domain) and f"{domain}/" not in _TAG_GROUPS
    return key in without_domain or (is_domain and bool(others) and all(others))


def _plain(name: str) -> str:
    """Return letters and digits alone, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
