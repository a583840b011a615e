"""Dialects of both ends agree: what one end writes, the other reads, in every revision."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any, cast, get_type_hints

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from siconform.protocol.availability import omitting
from siconform.protocol.constraints import Affinity, Condition, Constraint, Operator
from siconform.protocol.fact_text import field_names
from siconform.protocol.matchers import ANY
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRecommended,
    NodeRejected,
    Nothing,
    PreemptionPolicy,
    RegistrationWanted,
    Released,
    Termination,
    Unreadable,
    UpdateKind,
    kind_of,
)
from siconform.protocol.queue_configurations import QueueConfiguration
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    Amounts,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    LegacyNodeFields,
    LegacyRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
    Request,
    StreamOpening,
    UtilisationRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.transport.dialects import Dialect, dialect_for
from siconform.transport.dialects.decoding import decode
from siconform.transport.dialects.dialect import filled
from siwire import REVISIONS, Revision

TRACES = Path(__file__).parents[2] / "fixtures" / "traces"
EVERY_REVISION = pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
BY_KEY = [REVISIONS["2024-10"], REVISIONS["2026-04"]]

BRIEFLY = settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.generate))

names = st.text("abc/-", min_size=1, max_size=4)
texts = st.text("abc é", max_size=4)
amounts = st.dictionaries(names, st.integers(-(2**63), 2**63 - 1), max_size=2)
maps = st.dictionaries(names, texts, max_size=2)
policies = st.none() | st.builds(PreemptionPolicy, st.booleans(), st.booleans())
numbers = st.integers(-(2**31), 2**31 - 1)
terminations = st.sampled_from(Termination)
conditions = st.builds(
    Condition, names, st.lists(names, max_size=2).map(tuple), st.sampled_from(Operator)
)
affinities = st.builds(
    Affinity,
    names,
    st.lists(conditions, max_size=2).map(tuple),
    st.integers(0, 9),
    st.integers(0, 9),
    st.booleans(),
)
constraints = st.builds(
    Constraint, st.lists(conditions, max_size=2).map(tuple), st.none() | affinities
)
BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: numbers,
    str: texts,
    Mapping[str, str]: maps,
    Amounts: amounts,
    Amounts | None: st.none() | amounts,
    PreemptionPolicy | None: policies,
    Constraint | None: st.none() | constraints,
}


def with_every_field(kind: type[Any], *named: str) -> st.SearchStrategy[Any]:
    """Build it with every field, also new ones; those ``named`` are names, not empty."""
    types = get_type_hints(kind)
    by_field = {one.name: BY_TYPE[types[one.name]] for one in fields(kind)}
    return st.builds(kind, **{**by_field, **dict.fromkeys(named, names)})


allocations = with_every_field(Allocated, "key", "application", "node", "identity")
asks = with_every_field(AskRequest, "key", "application")
ask_releases = st.builds(
    AskReleaseRequest,
    st.builds(OneAsk, names, names) | st.builds(AllOf, names) | st.builds(AllThereIs),
    texts,
    terminations,
)
requests = st.one_of(
    st.builds(
        NodeRequest,
        names,
        st.sampled_from(Action),
        st.none() | amounts,
        st.none() | amounts,
        maps,
        st.lists(allocations, max_size=2).map(tuple),
        st.booleans(),
        st.none()
        | st.builds(LegacyNodeFields, amounts, st.lists(allocations, max_size=2).map(tuple)),
    ),
    st.builds(UtilisationRequest, names, amounts),
    st.builds(
        ApplicationRequest,
        names,
        texts,
        texts,
        texts,
        st.lists(names, max_size=2).map(tuple),
        maps,
        st.integers(-(2**63), 2**63 - 1),
        st.none() | amounts,
        texts,
    ),
    st.builds(ApplicationRequest, names, texts, texts, st.none()),
    st.builds(ApplicationRemoval, names, texts),
    asks,
    st.builds(
        ReleaseRequest,
        st.builds(OneAllocation, names, names, names) | st.builds(AllOf, names, texts),
        terminations,
        texts,
        texts,
    ),
    ask_releases,
    st.builds(ExistingAllocationRequest, allocations),
    st.builds(ForeignAllocationRequest, names, names, texts, st.none() | amounts, maps),
    st.builds(LegacyRequest, asks | ask_releases),
)
facts = st.one_of(
    st.builds(NodeAccepted, texts),
    st.builds(NodeRejected, texts, texts),
    st.builds(ApplicationAccepted, texts),
    st.builds(ApplicationRejected, texts, texts),
    st.builds(ApplicationUpdated, texts, texts, st.integers(-(2**63), 2**63 - 1), texts),
    allocations,
    st.builds(Released, names, names, texts, terminations, texts, texts),
    st.builds(AskReleased, names, names, terminations, texts, texts),
    st.builds(AskRejected, texts, texts, texts),
    st.builds(AllocationRejected, texts, texts, texts),
    st.builds(RegistrationWanted),
    st.builds(NodeRecommended, amounts, texts),
)


UNSET: dict[str, Any] = {"originator": False, "preemption_policy": None}
"""What a field of an allocation is read as if it was not sent; others are read as ""."""


def expressible(element: Any, revision: Revision) -> Any:
    """Return the element without what the revision has no field for."""
    kind: type = type(element)
    for name in field_names(kind):
        if omitting(element, name, revision.name) is not element:
            default = element.__dataclass_fields__[name].default
            unset = UNSET.get(name, "") if default is ANY or default is MISSING else default
            element = replace(element, **{name: unset})
        value = getattr(element, name)
        if isinstance(value, Allocated):
            element = replace(element, **{name: expressible(value, revision)})
        if isinstance(element, LegacyRequest):
            element = LegacyRequest(expressible(element.sent, REVISIONS["2023-12"]))
        if name == "existing":
            without = tuple(expressible(one, revision) for one in value)
            element = replace(element, **{name: without})
    return element


def as_read(sent: Request, dialect: Dialect) -> Request:  # noqa: PLR0911  # one a difference
    """Return a request as the other end reads it, by what the revision has no way to tell."""
    by_key = dialect.identity is Identity.KEY_OF_THE_ASK
    oldest = dialect.revision.name == "2021-02"
    match sent:
        case NodeRequest(action=Action.UNSET) if oldest:
            return replace(sent, action=Action.UPDATE)
        case NodeRequest(legacy_fields=LegacyNodeFields() as legacy):
            # the empty message of occupied resources shows that they were sent
            older = tuple(replace(one, queue="", priority_class="") for one in legacy.existing)
            return replace(sent, legacy_fields=replace(legacy, existing=older))
        case ReleaseRequest(subject=OneAllocation() as one) if by_key or oldest:
            key = one.identity if by_key else ""
            subject = OneAllocation(one.application, one.identity, key)
            return replace(sent, subject=subject, termination=_as_sent(sent.termination, oldest))
        case ReleaseRequest(subject=AllOf() as of_all) if oldest:
            termination = _as_sent(sent.termination, oldest)
            return replace(sent, subject=AllOf(of_all.application), termination=termination)
        case AskReleaseRequest(subject=OneAsk(application, key)) if by_key:
            subject = OneAllocation(application, key, key)  # of a key without an ask
            return ReleaseRequest(subject, sent.termination, sent.partition)
        case AskReleaseRequest(subject=AllOf() as of_all) if by_key:
            return ReleaseRequest(of_all, sent.termination, sent.partition)
        case AskReleaseRequest() if oldest:
            return replace(sent, termination=Termination.STOPPED_BY_RM)
        case ExistingAllocationRequest(allocation=allocation) if by_key:
            return replace(sent, allocation=replace(allocation, key=allocation.identity))
    return sent


def _as_sent(termination: Termination, oldest: bool) -> Termination:  # noqa: FBT001  # of a test
    omitted = termination in (Termination.UNKNOWN, Termination.UNDEFINED)
    return Termination.STOPPED_BY_RM if oldest and omitted else termination


@EVERY_REVISION
@BRIEFLY
@given(request_=requests)
def test_request_is_read_as_it_was_written(revision: Revision, request_: Request) -> None:
    writing, reading = dialect_for(revision), dialect_for(revision)
    sent = expressible(request_, revision)
    try:
        message = writing.request(sent.kind, "rm", [sent])
    except LookupError:
        return  # the revision cannot express it

    decoded = decode(reading, sent.kind, message.SerializeToString(), sent_by_rm=True)

    assert decoded.contents == (as_read(sent, reading),)
    assert decoded.rm_id == "rm"


@EVERY_REVISION
@BRIEFLY
@given(fact=facts)
def test_fact_is_read_as_it_was_written(revision: Revision, fact: Fact) -> None:
    writing, reading = dialect_for(revision), dialect_for(revision)
    sent = expressible(fact, revision)
    kind = kind_of(sent)
    assert kind is not None
    try:
        message = writing.response_with(kind, [sent])
    except LookupError:
        return  # the revision cannot express it

    decoded = decode(reading, kind, message.SerializeToString(), sent_by_rm=False)

    (read,) = decoded.contents
    assert isinstance(read, Fact)
    assert fact_as_read(sent, reading).matches(read)


def fact_as_read(sent: Fact, dialect: Dialect) -> Fact:
    """Return a fact as the other end reads it, by what the revision has no way to tell."""
    by_key = dialect.identity is Identity.KEY_OF_THE_ASK
    oldest = dialect.revision.name == "2021-02"
    match sent:
        case AskReleased() if oldest:
            return replace(sent, termination=Termination.TIMEOUT)
        case Released() if oldest and sent.termination is Termination.UNKNOWN:
            return replace(sent, termination=Termination.STOPPED_BY_RM)
        case AskReleased() if by_key:  # of a key without an ask
            return Released(sent.key, sent.application, sent.key, sent.termination, sent.message)
        case AskRejected() if by_key:
            return AllocationRejected(sent.key, sent.application, sent.reason)
        case Allocated() | Released() if by_key:
            return replace(sent, key=sent.identity)
    return sent


@EVERY_REVISION
def test_registration_is_read_as_it_was_written(revision: Revision) -> None:
    oldest = revision.name == "2021-02"
    sent = Registration("rm", "1", "group", QueueConfiguration("queues", "group"))
    if not oldest:
        sent = replace(sent, build_info={"a": "b"}, extra_config={"c": "d"})

    dialect = dialect_for(revision)
    message = dialect.parsed_registration(dialect.registration(sent).SerializeToString())

    assert dialect.registered(message) == (replace(sent, config="") if oldest else sent)


@pytest.mark.parametrize("revision", BY_KEY, ids=str)
def test_scheduler_distinguishes_entries_of_one_list(revision: Revision) -> None:
    rm, scheduler = dialect_for(revision), dialect_for(revision)
    ask = AskRequest("k", "a", "default", {"memory": 1})
    allocated = allocation("k", "n")
    withdrawal = AskReleaseRequest(OneAsk("a", "k"), "default")
    release = ReleaseRequest(OneAllocation("a", "k", "k"), Termination.STOPPED_BY_RM)
    foreign = ForeignAllocationRequest("f", "n", "default", {"memory": 1}, {"foreign": "static"})

    def read(*sent: Request) -> list[Any]:
        message = rm.request(UpdateKind.ALLOCATIONS, "rm", sent)
        return scheduler.requests(UpdateKind.ALLOCATIONS, message)

    def report(*sent: Fact) -> None:
        rm.facts(UpdateKind.ALLOCATIONS, scheduler.response_with(UpdateKind.ALLOCATIONS, sent))

    assert read(ask, foreign) == [ask, foreign]
    assert read(ask) == [ask]  # repeated
    assert read(withdrawal) == [withdrawal]
    report(AskReleased("k", "a", Termination.STOPPED_BY_RM))
    assert read(ask) == [ask]
    report(allocated)
    assert read(AllocationUpdate(allocated)) == [AllocationUpdate(allocated)]
    assert read(AllocationUpdate(replace(allocated, node=""))) == [
        AllocationUpdate(replace(allocated, node=""))
    ]
    assert read(release) == [release]
    report(Released("k", "a", "k", Termination.STOPPED_BY_RM))
    assert read(ask) == [ask]
    report(AskReleased("k", "a", Termination.TIMEOUT))
    confirmed = replace(withdrawal, termination=Termination.TIMEOUT)
    assert read(confirmed) == [confirmed]
    existing = ExistingAllocationRequest(allocation("k2", "n"))
    assert read(existing) == [existing]
    assert read(existing) == [AllocationUpdate(existing.allocation)]


def allocation(key: str, node: str) -> Allocated:
    sent = Allocated(key, "a", node, key, {"memory": 1}, tags={}, partition="default")
    return cast("Allocated", filled(sent))


@EVERY_REVISION
def test_messages_without_elements_and_other_bytes_are_distinguished(revision: Revision) -> None:
    dialect = dialect_for(revision)
    empty = dialect.request(UpdateKind.NODES, "rm", []).SerializeToString()

    first = decode(dialect, UpdateKind.NODES, empty, sent_by_rm=True, opens=True)
    later = decode(dialect, UpdateKind.NODES, empty, sent_by_rm=True)
    broken = decode(dialect, UpdateKind.NODES, b"\xff", sent_by_rm=True)

    assert first.contents == (StreamOpening(UpdateKind.NODES),)
    assert later.contents == (Nothing(UpdateKind.NODES),)
    assert broken.message is None
    assert isinstance(broken.contents[0], Unreadable)


@EVERY_REVISION
def test_both_ends_reproduce_recorded_sessions(revision: Revision) -> None:
    elements = 0
    for session in sessions(revision):
        observer, rm, scheduler = (dialect_for(revision) for _ in range(3))
        for record in session:
            data = bytes.fromhex(record["hex"])
            if record["call"] == "RegisterResourceManager":
                if record["from"] == "rm":
                    registration = observer.registered(observer.parsed_registration(data))
                    assert registration.rm == "rm-1"
                continue
            by_rm = record["from"] == "rm"
            kind = next(kind for kind in UpdateKind if observer.method(kind) == record["call"])
            decoded = decode(observer, kind, data, sent_by_rm=by_rm, opens=True)
            again: Any = decoded.contents
            if by_rm:
                written = rm.request(kind, "rm-1", again)
                scheduler.requests(kind, written)
            else:
                written = scheduler.response_with(kind, again)
                rm.facts(kind, written)
            assert written == without_empty_priorities(decoded.message)
            elements += len(decoded.contents)
    assert elements > 40


def without_empty_priorities(message: Any) -> Any:
    """Return a message of 2021-02 without priorities of 0, which mean the same as none."""
    nodes = getattr(message, "newSchedulableNodes", ())
    existing = (one for node in nodes for one in node.existingAllocations)
    for allocation_ in (*getattr(message, "newAllocations", ()), *existing):
        if not allocation_.priority.priorityValue and not allocation_.priority.priorityClassName:
            allocation_.ClearField("priority")
    return message


def sessions(revision: Revision) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages of each life of the recorded scheduler."""
    messages: list[dict[str, Any]] = []
    for line in (TRACES / f"{revision.name}.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        if record.get("do") == "start":
            yield messages
            messages = []
        elif "from" in record:
            messages.append(record)
    yield messages
