"""What is meant beside what is understood, and the outcome that comes of it."""

import ast
from collections import Counter
from pathlib import Path

import mixed
import pytest
from mixed.comparing import compare
from mixed.judging import Expected, judge
from mixed.outcomes import Finding, Outcome
from mixed.reading import _READERS, Reader
from mixed.scheduler import unconfirmed
from mixed.statements import Kind, Known, Statement
from mixed.vocabulary import Vocabulary
from siwire import REVISIONS, Capability, rpc
from siwire.r2023_12 import si_pb2 as si_2023_12
from siwire.r2024_10 import si_pb2 as si_2024_10

ASK = Statement(Kind.ASK, "k1", "a1", {"application": "a1", "priority": 5})
WITHOUT_PRIORITY = Statement(Kind.ASK, "k1", "a1", {"application": "a1"})
NOT_SAID_BY_ITSELF = {"rmID", "nodeRecommendations"}


def told(meant: list[Statement], understood: list[Statement]) -> list[tuple[Outcome, str]]:
    return [(one.outcome, one.says) for one in compare(meant, understood)]


def test_what_is_alike_is_no_finding() -> None:
    assert told([ASK, WITHOUT_PRIORITY], [ASK, WITHOUT_PRIORITY]) == []


def test_a_value_that_is_not_read_is_lost() -> None:
    assert told([ASK], [WITHOUT_PRIORITY]) == [
        (Outcome.PARTLY_LOST, "an ask k1 is read without `priority`")
    ]


def test_a_value_that_was_not_said_is_misread() -> None:
    says = "an ask k1 is read with `priority` 5, which was not said"
    assert told([WITHOUT_PRIORITY], [ASK]) == [(Outcome.MISREAD, says)]


def test_another_value_is_misread() -> None:
    other = Statement(Kind.ASK, "k1", "a1", {"application": "a1", "priority": 6})
    says = "`priority` 5 of an ask k1 is read as 6"
    assert told([ASK], [other]) == [(Outcome.MISREAD, says)]


def test_another_kind_about_the_same_is_misread() -> None:
    existing = Statement(Kind.EXISTING, "k1", "a1", dict(ASK.values))
    says = "an ask k1 is read as the report of an existing allocation k1"
    assert told([ASK], [existing]) == [(Outcome.MISREAD, says)]


def test_a_release_of_all_of_the_same_application_is_what_one_is_read_as() -> None:
    one = Statement(Kind.RELEASE, "k1", "a1")
    everything = Statement(Kind.RELEASE_OF_ALL, "a1", "a1")
    of_another = Statement(Kind.RELEASE_OF_ALL, "a2", "a2")

    assert [outcome for outcome, _ in told([one], [everything])] == [Outcome.MISREAD]
    assert [outcome for outcome, _ in told([one], [of_another])] == [
        Outcome.NOT_HEARD,
        Outcome.MISREAD,
    ]


def test_what_is_not_read_is_not_heard_and_what_was_not_said_is_misread() -> None:
    assert told([ASK], []) == [(Outcome.NOT_HEARD, "an ask k1 is not seen")]
    assert told([], [ASK]) == [(Outcome.MISREAD, "an ask k1 is read, and was not said")]


# The readings


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_every_list_of_every_message_has_a_reader(revision: object) -> None:
    methods = rpc.methods(REVISIONS[str(revision)])
    fields = {
        (message.DESCRIPTOR.name, field.name)
        for name, method in methods.items()
        if name != "RegisterResourceManager"
        for message in (method.request, method.response)
        for field in message.DESCRIPTOR.fields
    }

    assert {field for field in fields - _READERS.keys() if field[1] not in NOT_SAID_BY_ITSELF} == (
        set()
    )


def test_an_entry_without_a_node_is_an_ask_from_2024_10_on_only() -> None:
    sent = si_2024_10.AllocationRequest()
    sent.allocations.add(allocationKey="k1", applicationID="a1")
    older = si_2023_12.AllocationRequest.FromString(sent.SerializeToString())

    (newer_reads,) = Reader(REVISIONS["2024-10"], Known()).read(sent)
    (older_reads,) = Reader(REVISIONS["2023-12"], Known()).read(older)

    assert (newer_reads.kind, older_reads.kind) == (Kind.ASK, Kind.EXISTING)


def test_a_release_by_key_is_of_what_the_key_is_to_both() -> None:
    release = Vocabulary(REVISIONS["2024-10"]).release("a1", "k1").message

    (pending,) = Reader(REVISIONS["2024-10"], Known()).read(release)
    (living,) = Reader(REVISIONS["2024-10"], Known(live={"k1"})).read(release)

    assert (pending.kind, living.kind) == (Kind.WITHDRAWAL, Kind.RELEASE)


def test_identities_of_two_revisions_are_compared_by_what_they_designate() -> None:
    known = Known(live={"k1"}, identities={"id": "k1"})
    by_identity = Vocabulary(REVISIONS["2023-12"]).release("a1", "id").message
    by_key = Vocabulary(REVISIONS["2024-10"]).release("a1", "k1").message

    assert (
        compare(
            Reader(REVISIONS["2023-12"], known).read(by_identity),
            Reader(REVISIONS["2024-10"], known).read(by_key),
        )
        == []
    )


# The outcome


def outcome(
    expected: Expected,
    before: Counter[str] | None = None,
    after: Counter[str] | None = None,
    findings: tuple[Finding, ...] = (),
    status: str = "",
) -> Outcome:
    return judge(expected, findings, before or Counter(), after or Counter(), status)[0]


def test_all_as_it_was_meant_is_understood() -> None:
    expected = Expected(gained=Counter(["a"]), lost=Counter(["b"]))

    assert outcome(expected, Counter(["b", "c"]), Counter(["a", "c"])) is Outcome.UNDERSTOOD


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (["b"], Outcome.NOT_HEARD),
        (["b", "a"], Outcome.PARTLY_LOST),
        (["a", "a"], Outcome.MISREAD),
        (["a", "other"], Outcome.MISREAD),
        (["b", unconfirmed("k1")], Outcome.NOT_HEARD),
    ],
)
def test_what_the_scheduler_holds_otherwise_tells_the_outcome(
    after: list[str], expected: Outcome
) -> None:
    meant = Expected(gained=Counter(["a"]), lost=Counter(["b"]))

    assert outcome(meant, Counter(["b"]), Counter(after)) is expected


def test_an_answer_that_does_not_come_is_not_heard() -> None:
    meant = Expected(answers=[(Kind.NODE_ACCEPTED, "n1")])

    assert outcome(meant) is Outcome.NOT_HEARD
    meant.said.append((Kind.NODE_ACCEPTED, "n1"))
    assert outcome(meant) is Outcome.UNDERSTOOD


def test_a_rejection_the_rm_is_told_is_a_refusal_where_nothing_changed() -> None:
    misread = Finding(Outcome.MISREAD, "something is read as another thing")
    meant = Expected(gained=Counter(["a"]), told=[(Kind.ASK_REJECTED, "k1")])

    assert outcome(meant, findings=(misread,)) is Outcome.REFUSED
    assert outcome(meant, after=Counter(["b"]), findings=(misread,)) is Outcome.MISREAD


def test_a_rejection_that_was_meant_is_none() -> None:
    answers = [(Kind.ASK_REJECTED, "k1")]

    assert outcome(Expected(answers=answers, told=answers)) is Outcome.UNDERSTOOD


def test_a_status_is_a_refusal() -> None:
    assert outcome(Expected(), status="UNIMPLEMENTED") is Outcome.REFUSED


def test_no_revision_says_more_than_it_can() -> None:
    for revision in REVISIONS.values():
        one_stream = revision.can(Capability.ONE_UPDATE_STREAM)
        message = Vocabulary(revision).node("n1").message
        assert message.DESCRIPTOR.name == ("UpdateRequest" if one_stream else "NodeRequest")
        assert message.DESCRIPTOR.file is revision.si.DESCRIPTOR


def test_the_experiment_shares_nothing_with_the_checks() -> None:
    imported = set()
    for file in Path(mixed.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported.add(".".join(node.module.split(".")[:2]))
            elif isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)

    ours = {name for name in imported if name.startswith(("siconform", "sireference", "proof"))}
    kit = {"siconform.targets", "siconform.transport", "siconform.protocol"}
    assert ours == kit | {"siconform.generated"}
