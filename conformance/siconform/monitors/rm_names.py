"""Rules about the names that an RM sends: well-known ones, tag keys, types of resources."""

from functools import lru_cache
from typing import Final

from siwire.constants import CPU, MEMORY

from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.well_known_names import KNOWN_IN_ALL, TAGS, is_tag_key, looks_like, names_of
from siconform.protocol.requests import Action, ApplicationRequest, AskRequest, NodeRequest
from siconform.recording.history import Entry

_CACHED: Final = 10_000  # names
_PREFIX: Final = "si"  # of attributes
_CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAINING)
_OTHER_NAMES: Final = {MEMORY: {"memory", "mem", "ram"}, CPU: {"vcore", "vcores", "cpu", "cpus"}}
"""Names for memory and CPU in lower case."""


def well_known_names_are_exact() -> Evaluator:
    """No name is nearly a constant that every revision defines, but for case, signs or prefix."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case NodeRequest(attributes=names, capacity=amounts):
                return _inexact(NodeRequest, tuple(sorted(names)), tuple(amounts or ()))
            case ApplicationRequest(tags=names):
                return _inexact(ApplicationRequest, tuple(sorted(names)), ())
            case AskRequest(tags=names, resource=amounts):
                return _inexact(AskRequest, tuple(sorted(names)), tuple(amounts or ()))
        return NOTHING_TO_EVALUATE

    return evaluate


@lru_cache(_CACHED)
def _inexact(kind: type, names: tuple[str, ...], types: tuple[str, ...]) -> EntryFinding:
    """Return what is wrong with the names of a node or the tags, and those of resources."""
    of_kind = [*names_of(kind, names, types)]
    for name, constants in of_kind:
        if meant := _meant(name, constants):
            return f"the name {name!r} is meant to be {meant!r}"
    is_known = any(name in constants for name, constants in of_kind)
    return "" if is_known else NOTHING_TO_EVALUATE


def _meant(name: str, constants: frozenset[str]) -> str:
    """Return the constant that a name is meant to be and is not, or ""."""
    if name in constants:
        return ""
    known = sorted(constants & KNOWN_IN_ALL)
    if not name.lower().startswith(_PREFIX):  # may be the RM's own
        known = [one for one in known if not one.startswith(_PREFIX)]
    return next((one for one in known if looks_like(name, one)), "")


def tag_keys_have_a_domain() -> Evaluator:
    """The key of an ask's tag is domain/name or domain/group/name, or a constant without domain."""

    def evaluate(entry: Entry) -> EntryFinding:
        if not isinstance(entry.content, AskRequest) or not entry.content.tags:
            return NOTHING_TO_EVALUATE
        wrong = next((key for key in entry.content.tags if not _is_tag_key(key)), None)
        return violated_if(wrong is not None, f"the tag {wrong!r} of {entry.content.key}")

    return evaluate


@lru_cache(_CACHED)
def _is_tag_key(key: str) -> bool:
    return is_tag_key(key, TAGS)


def memory_and_cpu_have_their_names() -> Evaluator:
    """A new node does not report its memory or its CPU under another name."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case NodeRequest(node=node, action=action, capacity=capacity) if capacity:
                if action in _CREATIONS:
                    return _misnamed(node, frozenset(capacity))
        return NOTHING_TO_EVALUATE

    return evaluate


def _misnamed(node: str, types: frozenset[str]) -> str:
    for right, names in _OTHER_NAMES.items():
        other = [name for name in sorted(types) if name.lower() in names and name != right]
        if other and right not in types:
            return f"node {node} reports {right} as {other[0]!r}"
    return ""


MONITORS: Final = (
    Monitor(
        well_known_names_are_exact,
        ("SI-CONST-001",),
        observes=(NodeRequest, ApplicationRequest, AskRequest),
        about_one_message=True,
    ),
    Monitor(
        tag_keys_have_a_domain, ("SI-CONST-002",), observes=(AskRequest,), about_one_message=True
    ),
    Monitor(
        memory_and_cpu_have_their_names,
        ("SI-CONST-008",),
        observes=(NodeRequest,),
        about_one_message=True,
    ),
)
