"""Each revision's codec is composed of functions for its own messages."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest
from google.protobuf.message import Message
from sireference.codec import codec_for, r2023_04, r2023_08, r2023_12, r2024_10, r2026_04
from sireference.core.model import Identification, Rules
from sireference.core.states import WITHOUT_STARTING
from siwire import REVISIONS, Capability

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
    del read["node_actions"]

    assert [
        name for name, function in read.items() if not takes_messages_of(module, function)
    ] == []


@THREE_STREAMS
def test_writers_return_messages_of_the_revision(
    module: ModuleType,
) -> None:
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
