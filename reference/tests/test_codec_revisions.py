"""Each revision's codec is composed of functions for its own messages."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest
from google.protobuf.message import Message
from sireference.codec import codec_for, r2023_04, r2023_08, r2023_12, r2024_10, r2026_04
from sireference.codec.reading import copied
from sireference.core.model import Ask, Identification, NewApplication, Rules
from sireference.core.states import WITHOUT_STARTING
from siwire import REVISIONS, Capability
from tests.coding import read
from tests.fields import asked

THREE_STREAMS = pytest.mark.parametrize(
    "module",
    [r2023_04, r2023_08, r2023_12, r2024_10, r2026_04],
    ids=lambda module: module.__name__,
)


def messages_of(function: Callable[..., Any]) -> Iterator[type[Message]]:
    """Return the message types a function accepts, by the hint of its last parameter."""
    hints = get_type_hints(function)
    hints.pop("return")
    last = list(hints.values())[-1]
    yield from get_args(last) or (last,)


def takes_messages_of(module: ModuleType, function: Callable[..., Any]) -> bool:
    pool = module.CODEC.revision.si.POOL
    return any(one.DESCRIPTOR.file.pool is pool for one in messages_of(function))


@THREE_STREAMS
def test_readers_accept_messages_of_the_revision(module: ModuleType) -> None:
    read = {one.name: getattr(module.READING, one.name) for one in fields(module.READING)}
    for table in ("node_actions", "copied_by_asks", "copied_by_applications"):
        del read[table]

    assert [
        name for name, function in read.items() if not takes_messages_of(module, function)
    ] == []


@THREE_STREAMS
def test_writers_return_messages_of_the_revision(module: ModuleType) -> None:
    tables = [getattr(module.SLOTS, one.name) for one in fields(module.SLOTS)]
    written = [slot.write for table in tables for slot in table.values()]

    assert [one for one in written if not takes_messages_of(module, one)] == []


def test_function_for_other_messages_is_detected() -> None:
    assert takes_messages_of(r2023_08, r2023_04.release)
    assert not takes_messages_of(r2023_12, r2023_04.release)
    assert not takes_messages_of(r2026_04, r2023_12.release)


@THREE_STREAMS
def test_responses_are_messages_of_the_revision(module: ModuleType) -> None:
    streams = module.CODEC.streams.values()
    pool = module.CODEC.revision.si.POOL

    assert all(stream.response.DESCRIPTOR.file.pool is pool for stream in streams)


def test_every_revision_has_its_own_codec() -> None:
    for revision in REVISIONS.values():
        assert codec_for(revision).revision is revision


def test_registration_carries_the_rules_of_the_revision() -> None:
    for revision in REVISIONS.values():
        codec = codec_for(revision)
        others = replace(codec, rules=Rules(Identification.BY_KEY))
        message = revision.si.RegisterResourceManagerRequest(rmID="rm")

        assert codec.register(message).rules == codec.rules
        assert others.register(message).rules == Rules(Identification.BY_KEY)


def test_key_is_the_identity_where_asks_are_allocations() -> None:
    for revision in REVISIONS.values():
        rules = codec_for(revision).rules
        by_key = (rules.identification, rules.application_transitions) == (
            Identification.BY_KEY,
            WITHOUT_STARTING,
        )

        assert by_key is not revision.can(Capability.ASKS_APART)
        assert by_key or rules == Rules()


@THREE_STREAMS
def test_each_scalar_that_a_record_copies_is_read(module: ModuleType) -> None:
    revision = module.CODEC.revision
    si = revision.si
    asks, ask = asked(revision, si.Resource())
    application = si.AddApplicationRequest()
    copied_by_asks = copied(Ask, type(ask))
    copied_by_applications = copied(NewApplication, type(application))
    for message, scalars in (ask, copied_by_asks), (application, copied_by_applications):
        for one in scalars:
            setattr(message, one.field, type(getattr(message, one.field))(7))

    update = read(revision, "UpdateAllocation", **{asks: [ask]})
    (new,) = read(revision, "UpdateApplication", new=[application]).new

    (request,) = update.asks + update.entries
    for record, scalars in (request, copied_by_asks), (new, copied_by_applications):
        for one in scalars:
            expected = "7" if one.divided_by == 1 else 7 / one.divided_by
            assert getattr(record, one.name) == expected, one


def test_each_scalar_that_a_record_copies_is_in_some_revision() -> None:
    messages = {NewApplication: ("AddApplicationRequest",), Ask: ("AllocationAsk", "Allocation")}
    for record, names in messages.items():
        known = {
            field
            for revision in REVISIONS.values()
            for name in names
            if (message := revision.si.DESCRIPTOR.message_types_by_name.get(name)) is not None
            for field in message.fields_by_name
        }
        named = {one.metadata["copied_from"] for one in fields(record) if one.metadata}

        assert named <= known
