"""Rules about what has no meaning in a revision: undefined actions, fields of older revisions."""

from collections.abc import Iterator
from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.memory import Names
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import Placed, Updated
from siconform.protocol.notifications import Allocated, NodeAccepted, Released
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    Action,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    LegacyNodeFields,
    LegacyRequest,
    NodeRequest,
)
from siconform.protocol.subjects import Identity
from siconform.recording.history import Content, Entry

_OBSERVED: Final = (RegistrationAnswered, NodeRequest)


def undefined_actions_create_nothing() -> Evaluator:
    """A node that only came with actions the revision does not define is not accepted or used."""
    undefined: set[str] = set()
    defined: set[str] = set()
    is_registered = False

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_registered
        match entry.content:
            case RegistrationAnswered(status="OK"):
                is_registered = True
            case NodeRequest(node=node, action=Action.UNDEFINED):
                if is_registered and node not in defined:
                    undefined.add(node)
                    return ""
            case NodeRequest(node=node):
                defined.add(node)
                undefined.discard(node)
            case NodeAccepted(node=node) | Allocated(node=node) if node in undefined:
                return f"{entry.content}, but all actions on {node} were undefined"
        return NOTHING_TO_EVALUATE

    return evaluate


def older_fields_have_no_effect() -> Evaluator:
    """Nothing is allocated or released under a key that the RM sent in older fields alone."""
    older: set[str] = set()
    named = Names()  # in fields of the revision
    is_registered = False

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_registered
        match entry.content:
            case RegistrationAnswered(status="OK"):
                is_registered = True
            case Allocated(key=key) | Released(key=key) if older and is_registered:
                wrong = key_of(key) in older and named.lack(key_of(key))
                return violated_if(wrong, f"{entry.content}: its key came in older fields only")
            case content:
                older.update(_older_in(content))
                for key in _named_in(content):
                    named.add(key)
        return NOTHING_TO_EVALUATE

    return evaluate


def _older_in(content: Content) -> list[str]:
    """Return the keys in fields of older revisions."""
    match content:
        case LegacyRequest(sent=AskRequest(key=key)):
            return [key]
        case NodeRequest(legacy_fields=LegacyNodeFields(existing=existing)):
            return [one.key for one in existing]
        case _:
            return []


def _named_in(content: Content) -> Iterator[str]:
    match content:
        case AskRequest(key=key) | Updated(key=key) | ForeignAllocationRequest(key=key):
            yield key_of(key)
        case Placed(allocation=one):
            yield key_of(one.key)
        case _:
            for one in recovered_in(content):
                yield key_of(one.key)


MONITORS: Final = (
    Monitor(
        undefined_actions_create_nothing,
        ("SI-WIRE-011",),
        observes=(*_OBSERVED, NodeAccepted, Allocated),
        outlives_registrations=True,
        about_new_names=True,
    ),
    Monitor(
        older_fields_have_no_effect,
        ("SI-WIRE-016",),
        observes=(
            *(*_OBSERVED, LegacyRequest, AskRequest, Updated, ForeignAllocationRequest, Placed),
            *(ExistingAllocationRequest, Allocated, Released),
        ),
        outlives_registrations=True,
        identity=Identity.KEY_OF_THE_ASK,
        about_new_names=True,
    ),
)
