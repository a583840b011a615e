"""Names of states and partitions match in any spelling, amounts as sparse maps."""

import pytest
from siconform.protocol.application_states import (
    ACCEPTED,
    FAILED,
    FAILING,
    KNOWN,
    NEW,
    OVER,
    RUNNING,
    WAITING,
    AnotherState,
)
from siconform.protocol.matchers import AnotherThan, Matcher, OneOf, PartitionNamed, QueueNamed
from siconform.protocol.notifications import Allocated, ApplicationUpdated


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (ACCEPTED, "ACCEPTED"),
        (RUNNING, "Starting"),
        (RUNNING, "running"),
        (WAITING, "Completing"),
        (WAITING, "waiting"),
        (FAILING, "Killed"),
        (FAILED, "killed"),
        (OVER, "Failing"),
        (OVER, "completed"),
        (KNOWN, "New"),
        (KNOWN, "rejected"),
        (AnotherState(NEW), "whatever a scheduler calls it"),
    ],
)
def test_state_matches_all_its_names(state: Matcher, name: str) -> None:
    assert ApplicationUpdated("a", state).matches(ApplicationUpdated("a", name, 1, ""))
    assert state.accepts(name)


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (ACCEPTED, "Running"),
        (WAITING, "Completed"),
        (FAILED, "Failing"),
        (OVER, "Starting"),
        (OVER, "whatever a scheduler calls it"),
        (KNOWN, "Queued"),
        (AnotherState(NEW), "new"),
        (AnotherState(NEW), ""),
    ],
)
def test_state_does_not_match_other_names(state: Matcher, name: str) -> None:
    assert not ApplicationUpdated("a", state).matches(ApplicationUpdated("a", name, 1, ""))
    assert not state.accepts(name)


def test_pattern_shows_accepted_names() -> None:
    assert "Running or Starting" in str(ApplicationUpdated("a", RUNNING))
    assert "anything but accepted or new" in str(
        ApplicationUpdated("a", AnotherState(NEW, ACCEPTED))
    )


def test_partition_matches_normalised_form() -> None:
    partition = PartitionNamed("default")

    assert partition.accepts("default")
    assert partition.accepts("[rm:1]default")
    assert not partition.accepts("")
    assert not partition.accepts("[rm:1]other")


def test_queue_matches_its_path_and_the_ends_of_it() -> None:
    queue = QueueNamed("root.parent.left")

    assert queue.accepts("root.parent.left")
    assert queue.accepts("parent.left")
    assert queue.accepts("left")
    assert not queue.accepts("")
    assert not queue.accepts("eft")
    assert not queue.accepts("root.parent")


@pytest.mark.parametrize(
    "matcher",
    [RUNNING, AnotherState(NEW), OneOf("ab"), AnotherThan("a"), PartitionNamed("default")],
)
def test_a_matcher_is_the_text_it_shows_and_nothing_else(matcher: Matcher) -> None:
    assert matcher == str(matcher)
    assert hash(matcher) == hash(str(matcher))
    assert RUNNING != "Running"


def test_omitted_amount_is_zero() -> None:
    pattern = Allocated(resource={"memory": 1})

    assert pattern.matches(Allocated(resource={"memory": 1, "gpu": 0}))
    assert not pattern.matches(Allocated(resource={"memory": 1, "gpu": 1}))
    assert not pattern.matches(Allocated(resource={"memory": 2}))
