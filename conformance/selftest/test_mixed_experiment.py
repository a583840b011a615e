"""RMs of one revision with schedulers of another: what is seen, with the bytes that show it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from typing import NamedTuple

import pytest
from google.protobuf.message import DecodeError
from mixed import play as playing
from mixed.__main__ import PAGE
from mixed.bridge import carried
from mixed.experiment import meet, play
from mixed.outcomes import Exchange, Finding, Outcome
from mixed.play import Result
from mixed.reading import Reader
from mixed.scheduler import Scheduler, served, started
from mixed.statements import Known
from mixed.steps import STEPS
from siwire import REVISIONS, Revision

BY_NAME = {step.name: step for step in STEPS}
SOUND = frozenset({Outcome.UNDERSTOOD, Outcome.NO_WORDS})


class Laboratory:
    """Schedulers that are started when they are needed first, and what came of meetings."""

    def __init__(self, start: Callable[[Revision], Scheduler]) -> None:
        self.scheduler = cache(start)
        self.among_their_own = cache(self._among_their_own)

    def play(self, rm: str, scheduler: str, step: str) -> Result:
        return play(REVISIONS[rm], self.scheduler(REVISIONS[scheduler]), BY_NAME[step])

    def _among_their_own(self, name: str) -> Mapping[str, Result]:
        revision = REVISIONS[name]
        return meet(revision, self.scheduler(revision))


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    folder = tmp_path_factory.mktemp("schedulers")
    with ExitStack() as stack:
        yield Laboratory(
            lambda revision: stack.enter_context(
                served(stack.enter_context(started(revision, folder)))
            )
        )


def exchange_of(result: Result, says: str) -> Exchange:
    """The message that shows it."""
    (found,) = [one for one in result.findings if one.says == says]
    assert found.exchange is not None
    return found.exchange


def sentences(result: Result) -> list[str]:
    return [one.says for one in result.findings]


@pytest.mark.parametrize("name", REVISIONS)
def test_a_revision_is_understood_by_its_own(laboratory: Laboratory, name: str) -> None:
    results = laboratory.among_their_own(name)

    assert {step: sentences(one) for step, one in results.items() if one.outcome not in SOUND} == {}


@pytest.mark.parametrize("name", REVISIONS)
def test_every_message_of_an_rm_says_something(laboratory: Laboratory, name: str) -> None:
    reader = Reader(REVISIONS[name], Known())
    silent = {
        (step, exchange.means)
        for step, result in laboratory.among_their_own(name).items()
        for exchange in result.exchanges
        if exchange.by_rm
        and not reader.read(getattr(reader.revision.si, exchange.message).FromString(exchange.data))
    }

    assert {step for step, _ in silent} == {"opens_its_streams", "leaves"}
    assert {means.strip() for _, means in silent} == {'rmID: "rm"'}


def test_most_steps_can_be_said_in_every_revision(laboratory: Laboratory) -> None:
    for name in REVISIONS:
        results = laboratory.among_their_own(name).values()
        assert sum(one.outcome is Outcome.UNDERSTOOD for one in results) > 25


def test_2026_04_and_2024_10_understand_each_other(laboratory: Laboratory) -> None:
    for rm, scheduler in (("2024-10", "2026-04"), ("2026-04", "2024-10")):
        for step in ("asks", "releases_one", "updates_an_allocation", "withdraws_an_ask"):
            assert laboratory.play(rm, scheduler, step).outcome is Outcome.UNDERSTOOD


@pytest.mark.parametrize(
    ("rm", "scheduler", "unseen", "hexadecimal"),
    [
        ("2023-08", "2023-12", '3: "existing-1"', "1a0a6578697374696e672d31"),
        ("2023-12", "2023-08", '7: "existing-1"', "3a0a6578697374696e672d31"),
        ("2023-12", "2024-10", '7: "existing-1"', "3a0a6578697374696e672d31"),
        ("2024-10", "2023-12", 'allocationKey: "k1"', "32026b31"),
    ],
)
def test_the_release_of_one_allocation_ends_all_of_the_application(
    laboratory: Laboratory, rm: str, scheduler: str, unseen: str, hexadecimal: str
) -> None:
    result = laboratory.play(rm, scheduler, "releases_one")

    assert result.outcome is Outcome.MISREAD
    says = "the release of the allocation k1 is read as the release of all allocations of "
    exchange = exchange_of(result, f"{says}application a1")
    assert unseen in exchange.reads
    assert bytes.fromhex(hexadecimal) in exchange.data
    lost = "not meant, and no longer so: the allocation k2 of a1 holds memory 2 on n1"
    assert lost in sentences(result)


def test_a_withdrawal_of_2024_10_ends_what_lives_in_2023_12(laboratory: Laboratory) -> None:
    result = laboratory.play("2024-10", "2023-12", "withdraws_an_ask")

    assert result.outcome is Outcome.MISREAD
    for key in ("k1", "k2"):
        lost = f"not meant, and no longer so: the allocation {key} of a1 holds memory 2 on n1"
        assert lost in sentences(result)
    assert "meant to end, and still so: the ask k3 of a1 waits" in sentences(result)


def test_a_release_with_its_key_too_is_that_of_the_key_in_2024_10(laboratory: Laboratory) -> None:
    result = laboratory.play("2023-12", "2024-10", "releases_one_with_its_key")

    assert not any(says.startswith("not meant") for says in sentences(result))
    assert "the end of the allocation k1 is read as the end of all" in sentences(result)[0]


def test_an_ask_of_2023_12_is_silence_in_2024_10(laboratory: Laboratory) -> None:
    for step in ("asks", "asks_for_nobody"):
        result = laboratory.play("2023-12", "2024-10", step)

        assert result.outcome is Outcome.NOT_HEARD
        exchange = exchange_of(result, "an ask k1 is not seen")
        assert exchange.reads.startswith('rmID: "rm"')
        assert "1 {" in exchange.reads


def test_an_ask_of_2024_10_is_an_existing_allocation_in_2023_12(laboratory: Laboratory) -> None:
    result = laboratory.play("2024-10", "2023-12", "asks")

    assert result.outcome is Outcome.REFUSED
    read = "an ask k1 is read as the report of an existing allocation k1"
    exchange = exchange_of(result, read)
    assert "allocations {" in exchange.reads
    assert exchange.data.startswith(b"\x1a\x02rm\x22")  # rmID as 3, then one in the list 4


def test_an_allocation_loses_its_identity_between_2023_08_and_2023_12(
    laboratory: Laboratory,
) -> None:
    for rm, scheduler, name in (
        ("2023-08", "2023-12", "allocationID"),
        ("2023-12", "2023-08", "UUID"),
    ):
        result = laboratory.play(rm, scheduler, "asks")

        assert result.outcome is Outcome.PARTLY_LOST
        assert sentences(result) == [
            f"the new allocation k1 is read without its identity (`{name}`)"
        ]


class Seen(NamedTuple):
    """What comes of a step of a pair."""

    rm: str
    scheduler: str
    step: str
    outcome: Outcome
    says: str


SEEN = [
    Seen(
        *("2023-12", "2024-10", "creates_an_occupied_node", Outcome.PARTLY_LOST),
        says="the creation of node n1 is read without `occupiedResource`",
    ),
    Seen(
        *("2023-12", "2024-10", "creates_a_node_with_allocations", Outcome.NOT_HEARD),
        says="the report of an existing allocation k1 is not seen",
    ),
    Seen(
        *("2023-08", "2023-04", "creates_a_closed_node", Outcome.MISREAD),
        says="the creation of node n1, closed is read as a word about node n1 without an action",
    ),
    Seen(
        *("2023-08", "2023-04", "reports_an_allocation", Outcome.NOT_HEARD),
        says="the report of an existing allocation k1 is not seen",
    ),
    Seen(
        *("2024-10", "2023-12", "updates_an_allocation", Outcome.REFUSED),
        says="an update of the allocation k1 is read as the report of an existing allocation k1",
    ),
    Seen(
        *("2024-10", "2023-12", "reports_a_foreign_allocation", Outcome.REFUSED),
        says="the report of a foreign allocation pod is read as the report of an existing "
        "allocation pod",
    ),
    Seen(
        *("2023-12", "2024-10", "releases_all", Outcome.MISREAD),
        says="not meant, and no longer so: the ask k3 of a1 waits",
    ),
    Seen(
        *("2021-02", "2023-04", "creates_a_node", Outcome.REFUSED),
        says="`Update` ends with UNIMPLEMENTED: Method not found!",
    ),
    Seen(
        *("2024-10", "2021-02", "asks", Outcome.REFUSED),
        says="`UpdateAllocation` ends with UNIMPLEMENTED: Method not found!",
    ),
    Seen(
        *("2023-04", "2021-02", "sends_its_configuration", Outcome.PARTLY_LOST),
        says="a registration is read without `config`, `extraConfig`",
    ),
]


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: f"{seen.rm} {seen.scheduler} {seen.step}")
def test_what_is_known_of_a_pair_is_seen(laboratory: Laboratory, seen: Seen) -> None:
    result = laboratory.play(seen.rm, seen.scheduler, seen.step)

    assert result.outcome is seen.outcome
    assert seen.says in sentences(result)


# Between one stream and three


def across(laboratory: Laboratory, sender: str, receiver: str, *, by_rm: bool) -> list[Finding]:
    results = laboratory.among_their_own(sender).values()
    return carried(REVISIONS[sender], REVISIONS[receiver], results, by_rm=by_rm)


def test_a_bridge_would_have_schedulers_of_2021_02_misread(laboratory: Laboratory) -> None:
    found = across(laboratory, "2021-02", "2023-04", by_rm=False)

    assert [one.says for one in found if one.outcome is Outcome.MISREAD] == [
        f'`terminationType` "{said}" of the end of the allocation p1 is read as "{read}"'
        for said, read in (
            ("PLACEHOLDER_REPLACED", "PREEMPTED_BY_SCHEDULER"),
            ("TIMEOUT", "STOPPED_BY_RM"),
        )
    ]


@pytest.mark.parametrize(
    ("sender", "receiver", "says"),
    [
        ("2021-02", "2023-04", "an ask p1 is read with `Originator` true, which was not said"),
        ("2023-04", "2021-02", "an ask k1 is read with `placeholder` true, which was not said"),
        ("2023-04", "2021-02", "the decommissioning of node n1 is read as an update of node n1"),
        (
            *("2021-02", "2023-04"),
            "the decommissioning of node n1 is read as a word about node n1 without an action",
        ),
    ],
)
def test_a_bridge_would_have_rms_misread(
    laboratory: Laboratory, sender: str, receiver: str, says: str
) -> None:
    found = across(laboratory, sender, receiver, by_rm=True)

    assert [one.outcome for one in found if one.says == says] == [Outcome.MISREAD]


def test_a_placement_constraint_of_2021_02_would_be_a_task_group(laboratory: Laboratory) -> None:
    found = across(laboratory, "2021-02", "2023-04", by_rm=True)

    (ask,) = [one for one in found if "with `taskGroupName`" in one.says]
    assert ask.outcome is Outcome.MISREAD
    assert "disk" in ask.says


def test_a_task_group_of_2023_04_ends_the_reading_in_2021_02(laboratory: Laboratory) -> None:
    found = across(laboratory, "2023-04", "2021-02", by_rm=True)
    (ask,) = [one for one in found if one.says == "an ask p1 cannot be decoded"]

    assert ask.outcome is Outcome.REFUSED
    assert ask.exchange is not None
    with pytest.raises(DecodeError):
        REVISIONS["2021-02"].si.AllocationAsk.FromString(ask.exchange.shown)


# The experiment itself


def test_a_scheduler_that_does_nothing_is_not_taken_for_one_that_understood(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = laboratory.scheduler(REVISIONS["2024-10"])
    monkeypatch.setattr(scheduler, "holds", Counter)

    result = play(REVISIONS["2024-10"], scheduler, BY_NAME["drains_a_node"])

    assert result.outcome is Outcome.NOT_HEARD
    assert sentences(result) == ["meant to end, and still so: node n1 is open"]


def test_what_no_state_shows_is_seen_in_the_bytes_alone(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "compare", lambda *_: [])

    result = laboratory.play("2023-08", "2023-12", "asks")

    assert result.outcome is Outcome.UNDERSTOOD


def test_a_reader_of_another_revision_is_noticed(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["2023-12", "2024-10"])
    monkeypatch.setattr(playing, "Reader", lambda _, known: Reader(REVISIONS[next(names)], known))

    assert laboratory.play("2024-10", "2024-10", "asks").outcome is Outcome.MISREAD


def test_a_step_is_shown_alike_each_time(laboratory: Laboratory) -> None:
    first, second = (
        laboratory.play("2023-12", "2023-12", "replaces_a_placeholder") for _ in range(2)
    )

    assert [one.data for one in first.exchanges] != [one.data for one in second.exchanges]
    assert [one.shown for one in first.exchanges] == [one.shown for one in second.exchanges]
    assert [one.reads for one in first.exchanges] == [one.reads for one in second.exchanges]


@pytest.mark.parametrize(("rm", "scheduler"), [("2023-12", "2024-10"), ("2024-10", "2023-12")])
def test_the_committed_page_tells_what_comes_of_a_pair(
    laboratory: Laboratory, rm: str, scheduler: str
) -> None:
    page = PAGE.read_text("utf-8")
    results = meet(REVISIONS[rm], laboratory.scheduler(REVISIONS[scheduler]))
    told = {one.says for result in results.values() for one in result.findings}

    assert sorted(says for says in told if says not in page) == [], "run: nox -s generate"
