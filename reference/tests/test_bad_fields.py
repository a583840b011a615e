"""One bad field at a time: an answer or silence, no crash, no partial effect."""

import asyncio
from collections import Counter
from typing import Any, Final

import pytest
from google.protobuf.message import Message
from hypothesis_profiles import examples
from patience import patient
from sireference.codec.policies import NoPolicyError
from sireference.configuration.problems import ConfigurationError
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    Refused,
    RejectedAllocation,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    UpdatedApplication,
)
from siwire import REVISIONS, Capability, Revision
from tests.answering import Served
from tests.bad_fields import VERY_MANY, Names, registration, requests, spoilt
from tests.example_settings import is_quick
from tests.fields import identity_in, recovers_by_allocations
from tests.sessions import Speaker
from tests.wire import Stream
from tests.wire import served as serving

every_revision = pytest.mark.parametrize("revision", list(REVISIONS.values()), ids=str)
NAMES: dict[str, Names] = {
    "all new": {"nodeID": "n9", "applicationID": "a9", "UUID": "old", "allocationID": "old"},
    "all known": {"nodeID": "n1", "applicationID": "g1", "UUID": "1", "allocationID": "1"},
    "new node": {"nodeID": "n9", "applicationID": "a1", "UUID": "old", "allocationID": "old"},
    "recovered": {"nodeID": "n1", "applicationID": "a1", "UUID": "old", "allocationID": "old"},
    "asked for": {"nodeID": "", "applicationID": "a9"},
    "foreign": {"nodeID": "n1", "applicationID": "", "allocationTags": "foreign"},
}
every_kind_of_name = pytest.mark.parametrize("names", NAMES, ids=str)
LAST: Final = list(REVISIONS.values())[-1]
_THIRD: Final = 3
REJECTIONS = (RejectedNode, RejectedApplication, RejectedAsk, RejectedAllocation, Refused)


def begun(revision: Revision) -> Served:
    served = Served(revision)
    served.opens()
    assert served.identities[0] == ("p1" if is_key_the_identity(revision) else "1")
    return served


def is_key_the_identity(revision: Revision) -> bool:
    return identity_in(revision) == "allocationKey"


def names_in(revision: Revision, kind: str) -> Names:
    """Return names of this kind; where the key is the identity, the known key."""
    names = NAMES[kind]
    is_known = names.get("allocationID") == "1"
    return {**names, "allocationKey": "p1"} if is_known and is_key_the_identity(revision) else names


def elements(message: Any) -> int:
    held = [(field.is_repeated, held) for field, held in message.ListFields()]
    return sum(len(one) if is_repeated else 1 for is_repeated, one in held) - bool(message.rmID)


def very_many(revision: Revision) -> int:
    """Return the maximum number; less in quick runs except for the last revision."""
    return VERY_MANY if revision == LAST else examples(VERY_MANY)


def share_of(revision: Revision, names: str) -> slice:
    """Select ways to spoil a field: all, in quick runs a third by revision and names.

    So each way is tried in every revision with two kinds of names, and with each kind of names in
    two revisions.
    """
    if not is_quick():
        return slice(None)
    number = list(REVISIONS.values()).index(revision) + list(NAMES).index(names)
    return slice(number % _THIRD, None, _THIRD)


@every_revision
@every_kind_of_name
def test_any_field_may_be_bad(revision: Revision, names: str) -> None:
    served = begun(revision)
    before = served.held()
    most = very_many(revision) if names == "new node" else 20  # once is enough for slow cases
    share = share_of(revision, names)
    unknown_application = Speaker(revision).asks("unknown", "k", placeholder=False)
    for method, message in requests(revision, names_in(revision, names)):
        for what, bad in spoilt(message, most, share):
            try:
                served.receives(method, bad)
                served.make_sense()
                is_rejected = any(isinstance(effect, REJECTIONS) for effect in served.effects)
                if is_rejected and elements(bad) <= 1:
                    assert served.held() == before
                served.receives(*unknown_application)
                assert [type(effect) for effect in served.effects] == [RejectedAsk]
            except Exception as why:
                raise AssertionError(f"{method}: {what}") from why
            if served.held() != before:
                served = begun(revision)
    assert served.longest_reason < 1000


@every_revision
def test_the_messages_do_something_before_they_are_spoilt(revision: Revision) -> None:
    kinds: set[type] = set()
    for names in NAMES:
        for method, message in requests(revision, names_in(revision, names)):
            served = begun(revision)
            before = served.held()
            served.receives(method, message)
            kinds |= {type(effect) for effect in served.effects}
            kinds |= {type(None)} if served.held() != before else set()

    assert {*REJECTIONS, AcceptedNode, AcceptedApplication, UpdatedApplication} - kinds == (
        {Refused} if recovers_by_allocations(revision) else {Refused, RejectedAllocation}
    )


def rm_of(message: Any) -> str:
    return str(message.rmID)


@every_revision
def test_bad_fields_over_grpc_leave_the_streams_open(revision: Revision) -> None:
    async def play() -> None:
        async with serving(revision) as wire:
            await wire.registers()
            streams: dict[str, Stream] = {}
            sent = 0
            for method, message in requests(revision, NAMES["new node"]):
                stream = streams.get(method) or await wire.opens(method)
                streams[method] = stream
                for _, bad in spoilt(message, most=3):
                    if rm_of(bad) == "rm" and bad.ByteSize() < 10_000:
                        await stream.call.write(bad)
                        sent += 1
            rm = Speaker(revision)
            for method, fields in (
                rm.node("fine", 5),
                rm.application("fine", gang=0),
                rm.asks("unknown", "fine", placeholder=False),
            ):
                await streams[method].send(**fields)
                while "fine" not in str(await streams[method].receives()):
                    pass
            assert sent > 300
            assert not any(stream.call.done() for stream in streams.values())

    asyncio.run(asyncio.wait_for(play(), patient()))


def outcome_of(served: Served, registering: Message) -> str:
    try:
        event = served.codec.register(registering)
    except (ConfigurationError, NoPolicyError) as why:
        return type(why).__name__
    (effect,) = served.scheduler.handle(event, served.now)
    return type(effect).__name__


@every_revision
def test_any_field_of_a_registration_may_be_bad(revision: Revision) -> None:
    outcomes: Counter[str] = Counter()
    served = begun(revision)
    before = served.held()
    for what, bad in spoilt(registration(revision)):
        outcome = outcome_of(served, bad)
        outcomes[outcome] += 1
        if outcome == "Registered":
            served = begun(revision)
        else:
            assert served.held() == before, what

    assert outcomes["Registered"] > 20
    assert outcomes["Refused"] == 2  # without rmID, and with one that is too long
    assert (outcomes["ConfigurationError"] > 0) is revision.can(
        Capability.CONFIGURATION_IN_REGISTRATION
    )
