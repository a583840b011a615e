"""Rules about the wire format of an RM's messages, where the kit is the scheduler."""

from typing import Final, get_args

from google.protobuf.message import Message

from siconform.catalogue import Side
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.restated import Placed, Updated
from siconform.monitors.wire import (
    a_priority_is_sent_in_one_way,
    every_field_has_its_type,
    every_field_is_declared,
    holds,
    of_messages,
    parts,
    reserved_numbers_are_not_used,
)
from siconform.protocol.callbacks import (
    Answered,
    CallbacksOffered,
    ConfigurationStored,
    InvalidCall,
    StateDumped,
)
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.notifications import Nothing, NotInSpec, Released, Termination, Unreadable
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import Action, NodeRequest, ReleaseRequest, Request
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Entry


def every_field_of_the_rm_has_its_type() -> Evaluator:
    """What the RM sends decodes as its type, and each enum number is a defined one."""
    return every_field_has_its_type(Side.RM)


def every_field_of_the_rm_is_declared() -> Evaluator:
    """What the RM sends has no fields that its revision does not declare."""
    return every_field_is_declared(Side.RM)


def the_rm_uses_no_reserved_number() -> Evaluator:
    """No message of the RM uses a number that its definition, or that of an enum, reserves."""
    return reserved_numbers_are_not_used(Side.RM)


def what_the_rm_means_is_set() -> Evaluator:
    """A release that the RM starts has a type, and a node that it sends an action.

    The echo of a release that the scheduler sent without a type does not count.
    """
    unset: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Released(identity=identity, application=name, termination=Termination.UNKNOWN):
                unset.add(identity or name)
            case ReleaseRequest(
                OneAllocation(identity=name) | AllOf(application=name), termination
            ) if name not in unset:
                missing = termination is Termination.UNKNOWN
                return violated_if(missing, f"release of {name} has no type")
            case NodeRequest(node=name, action=action):
                return violated_if(action is Action.UNSET, f"node {name} has no action")
        return NOTHING_TO_EVALUATE

    return evaluate


def the_rm_sends_a_priority_in_one_way() -> Evaluator:
    """No message of an RM of 2021-02 carries both members of the priority."""
    return a_priority_is_sent_in_one_way(Side.RM)


def a_constraint_of_the_rm_is_simple() -> Evaluator:
    """A placement constraint of an RM of 2021-02 has the simple variant, the only one there is."""

    def evaluate_message(message: Message) -> EntryFinding:
        if not holds(message.DESCRIPTOR, "si.v1.PlacementConstraint"):
            return NOTHING_TO_EVALUATE
        sent = [p for p in parts(message) if p.DESCRIPTOR.full_name == "si.v1.PlacementConstraint"]
        if not sent:
            return NOTHING_TO_EVALUATE
        is_empty = any(not p.HasField("simpleConstraint") for p in sent)
        return violated_if(is_empty, "a placement constraint without the simple variant")

    return of_messages(evaluate_message, Side.RM)


SENT_BY_RM: Final = (
    *get_args(Request),
    RegistrationRequested,
    Updated,
    Placed,
    Nothing,
    Unreadable,
    NotInSpec,
    ConfigurationSent,
    Answered,
    ConfigurationStored,
    StateDumped,
    InvalidCall,
    CallbacksOffered,
)
"""What an RM's message may contain, also as monitors observe it."""


MONITORS: Final = (
    Monitor(
        every_field_of_the_rm_has_its_type, ("SI-WIRE-006",), SENT_BY_RM, about_one_message=True
    ),
    Monitor(
        every_field_of_the_rm_is_declared, ("SI-WIRE-017",), SENT_BY_RM, about_one_message=True
    ),
    Monitor(the_rm_uses_no_reserved_number, ("SI-WIRE-008",), SENT_BY_RM, about_one_message=True),
    Monitor(
        what_the_rm_means_is_set, ("SI-WIRE-010",), observes=(Released, ReleaseRequest, NodeRequest)
    ),
    Monitor(
        the_rm_sends_a_priority_in_one_way, ("SI-WIRE-012",), SENT_BY_RM, about_one_message=True
    ),
    Monitor(a_constraint_of_the_rm_is_simple, ("SI-WIRE-012",), SENT_BY_RM, about_one_message=True),
)
