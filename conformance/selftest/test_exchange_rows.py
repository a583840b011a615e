"""A failed exchange next to that of the reference: names, order, first difference, width."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from siconform.output.side_by_side import Row, rows, text
from siconform.recording.exchange_text import Line, lines


def sent(words: str, at: float = 0.0, rm: int = 0, *, aside: bool = False) -> Line:
    return Line(at, words, words, by_rm=True, aside=aside, rm=rm)


def received(words: str, at: float = 0.0, *, wording: str = "") -> Line:
    return Line(at, f"{words}{wording}", words, by_rm=False, aside=False, rm=0)


def pairs(found: Sequence[Row]) -> list[tuple[str | None, str | None]]:
    return [
        (row.ours.message if row.ours else None, row.reference.message if row.reference else None)
        for row in found
    ]


def first(found: Sequence[Row]) -> list[int]:
    return [index for index, row in enumerate(found) if row.is_first_difference]


def test_matching_messages_share_a_row_despite_names() -> None:
    ours = [
        sent("ask ask-3 of app-2 for root.a"),
        received("allocated ask-3", wording=", as I please"),
    ]
    its = [sent("ask ask-7 of app-4 for root.gangs.first"), received("allocated ask-7")]

    found = rows(ours, its)

    assert pairs(found) == [
        ("ask ask-3 of app-2 for root.a", "ask ask-3 of app-2 for root.a"),
        ("allocated ask-3, as I please", "allocated ask-3"),
    ]
    assert first(found) == []


def test_only_first_difference_is_marked() -> None:
    asks = sent("ask ask-1 of app-1")
    found = rows(
        [asks, received("released ask-1")], [asks, received("allocated ask-1"), received("more")]
    )

    assert first(found) == [1]
    assert pairs(found)[1] == ("released ask-1", "allocated ask-1")


def test_swapped_name_is_a_difference() -> None:
    asks = [sent("ask ask-1 of app-1"), sent("ask ask-2 of app-1")]
    found = rows([*asks, received("allocated ask-2")], [*asks, received("allocated ask-1")])

    assert first(found) == [2]


def test_stream_order_within_a_turn_is_not_a_difference() -> None:
    one, other = received("allocated ask-1"), received("application updated app-1")
    asks, releases = sent("ask ask-1 of app-1"), sent("release ask-1")

    assert first(rows([asks, one, other, releases], [asks, other, one, releases])) == []
    assert first(rows([asks, one, releases, other], [asks, one, other, releases])) != []


def test_requests_are_paired_across_other_messages() -> None:
    asks = [sent("ask ask-1 of app-1"), sent("ask ask-2 of app-1")]
    its_asks = [sent("ask ask-6 of app-4"), sent("ask ask-7 of app-4")]
    its = [its_asks[0], received("allocated ask-6"), its_asks[1]]
    found = rows([*asks, received("allocated ask-1")], its)

    assert [one for one, other in pairs(found) if one == other] == [line.message for line in asks]


def test_confirmation_may_cross_next_request() -> None:
    asks, confirms = sent("ask ask-2 of app-1"), sent("release ask-1, confirmed")
    released, more = received("released ask-1"), received("allocated ask-2")

    crossed = rows([asks, released, confirms], [released, confirms, asks, more])

    assert [row.reference for row in crossed if row.is_first_difference] == [more]
    assert [row for row in crossed if row.ours and row.ours.by_rm and row.reference is None] == []


@pytest.mark.parametrize("termination", ["PLACEHOLDER_REPLACED", "TIMEOUT"])
def test_order_around_a_confirmation_is_not_a_difference(termination: str) -> None:
    released = received(f"released ask-1 {termination}")
    confirms, state = sent(f"release ask-1 {termination}"), received("updated app-1 Running")
    allocated = received("allocated ask-2")

    found = rows([released, confirms, state], [state, released, confirms, allocated])

    assert [row.reference for row in found if row.is_first_difference] == [allocated]
    assert [row.ours for row in found if row.reference == state] == [state]


def test_probe_messages_are_not_a_difference() -> None:
    aside = sent("application app-9", aside=True)
    found = rows([aside, sent("ask ask-1")], [sent("ask ask-1"), sent("gang", aside=True)])

    assert pairs(found) == [("application app-9", None), ("ask ask-1", "ask ask-1")]
    assert first(found) == []


WORDS = st.sampled_from(["allocated ask-1", "allocated ask-2", "released ask-1", "updated app-1"])
CONFIRMATIONS = st.just("release ask-1 TIMEOUT")
LINES = st.lists(st.one_of(WORDS.map(received), (WORDS | CONFIRMATIONS).map(sent)), max_size=8)


@given(LINES, LINES)
def test_every_message_is_shown_once(ours: list[Line], its: list[Line]) -> None:
    found = rows(ours, its)

    assert [row.ours for row in found if row.ours is not None] == ours
    shown = [row.reference for row in found if row.reference is not None]
    assert len(shown) == len(its)
    assert sorted(line.by_rm for line in shown) == sorted(line.by_rm for line in its)
    assert len(first(found)) <= 1


@given(LINES)
def test_the_same_exchange_has_no_difference(ours: list[Line]) -> None:
    found = rows(ours, ours)

    assert first(found) == []
    assert all(row.ours == row.reference for row in found)


@pytest.mark.parametrize("with_reference", [True, False])
def test_rows_fit_100_columns(*, with_reference: bool) -> None:
    long = "ask " + " ".join(f"{{memory={n} vcore={n}}}" for n in range(40))
    found = rows([sent(long), received(long, 1234.5)], [received(long)] if with_reference else None)

    shown = text(found, with_reference=with_reference)

    assert max(map(len, shown)) <= 100
    assert ("the reference" in shown[0]) is with_reference
    assert "   0.000" in shown[1]
    assert any("1234.500" in line for line in shown)


def record(who: str, message: str, rm: str = "rm-a", **more: object) -> dict[str, object]:
    base = {"at": 1.0, "rm": rm, "from": who, "stream": "nodes", "says": message, "brief": message}
    return {**base, "same": message, "fence": False, "aside": False, **more}


def test_worker_names_are_removed_and_rms_numbered() -> None:
    shown = lines(
        [
            record("rm", "node gw0-12-node-1 create"),
            record("scheduler", "node accepted node gw0-12-node-1", at=1.25),
            record("rm", "node gw0-12b-node-1 create", rm="rm-b"),
        ]
    )

    assert [str(line) for line in shown] == [
        "RM1 node node-1 create",
        "   to RM1: node accepted node node-1",
        "RM2 node b-node-1 create",
    ]
    assert [line.at for line in shown] == [0.0, 0.25, 0.0]


def test_barriers_are_shown_once() -> None:
    barrier = record("rm", "node barrier-1", fence=True)
    answer = record("scheduler", "node rejected barrier-1", fence=True)
    opening = record("rm", "opens the nodes stream", fence=True)

    shown = lines([opening, barrier, answer, barrier, answer])

    assert [str(line) for line in shown] == ["RM (barrier on the nodes stream, 2 times)"]
