"""Scalar values: valid and invalid ones."""

import re

import pytest
from sireference.configuration.acls import read_acl
from sireference.configuration.durations import read_duration
from sireference.configuration.model import Acl, NodeSortType, QueuePreemptionPolicy
from sireference.configuration.names import read_group, read_user
from sireference.configuration.quantities import read_quantity, written_quantity
from sireference.configuration.scalars import (
    read_choice,
    read_count,
    read_switch,
    read_weight,
    read_whole,
)

QUANTITIES = [
    ("vcore", "10", 10_000),
    ("vcore", "500m", 500),
    ("vcore", "2k", 2_000_000),
    ("vcore", "9223372036854775", 9_223_372_036_854_775_000),
    ("vcore", "9223372036854775807m", 2**63 - 1),
    ("memory", "10", 10),
    ("memory", "0", 0),
    ("memory", "010", 10),
    ("memory", " 10 ", 10),
    ("memory", "10 Gi", 10 * 2**30),
    ("memory", "1k", 10**3),
    ("memory", "1M", 10**6),
    ("memory", "1G", 10**9),
    ("memory", "1T", 10**12),
    ("memory", "1P", 10**15),
    ("memory", "9E", 9 * 10**18),
    ("memory", "1Ki", 2**10),
    ("memory", "1Mi", 2**20),
    ("memory", "1Gi", 2**30),
    ("memory", "1Ti", 2**40),
    ("memory", "1Pi", 2**50),
    ("memory", "7Ei", 7 * 2**60),
    ("memory", "9223372036854775807", 2**63 - 1),
    ("memory", "0" * 5000 + "1", 1),
    ("nvidia.com/gpu", "2", 2),
]


@pytest.mark.parametrize(("resource_type", "text", "amount"), QUANTITIES)
def test_quantity_is_in_the_smallest_unit(resource_type: str, text: str, amount: int) -> None:
    assert read_quantity(resource_type, text) == amount


UNITS = "the units are k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei"
NO_QUANTITIES = [
    ("memory", "lots", '"lots" is not a quantity'),
    ("memory", "", '"" is not a quantity'),
    ("memory", "1.5", '"1.5" is not a quantity'),
    ("memory", "+1", '"+1" is not a quantity'),
    ("memory", "0x10", '"0x10" is not a quantity'),
    ("memory", "1_000", '"1_000" is not a quantity'),
    ("memory", "1e3", '"1e3" is not a quantity'),
    ("memory", "\u0661", '"\u0661" is not a quantity'),
    ("memory", "10 10", '"10 10" is not a quantity'),
    ("memory", "-1", '"-1" is negative'),
    ("vcore", "-500m", '"-500m" is negative'),
    ("memory", "1K", f'"1K" is not a quantity: {UNITS}'),
    ("memory", "1mi", f'"1mi" is not a quantity: {UNITS}'),
    ("memory", "1GiB", f'"1GiB" is not a quantity: {UNITS}'),
    ("memory", "500m", '"500m" is in thousandths, which only vcore can be'),
    ("memory", "9223372036854775808", '"9223372036854775808" is more than 9223372036854775807'),
    ("memory", "8Ei", '"8Ei" is more than 9223372036854775807'),
    ("memory", "10E", '"10E" is more than 9223372036854775807'),
    ("vcore", "9223372036854776", '"9223372036854776" is more than 9223372036854775807'),
    ("memory", "9" * 5000, f'"{"9" * 37}..." is more than 9223372036854775807'),
]


@pytest.mark.parametrize(("resource_type", "text", "problem"), NO_QUANTITIES)
def test_invalid_quantity_has_a_reason(resource_type: str, text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        read_quantity(resource_type, text)


@pytest.mark.parametrize(
    ("resource_type", "amount", "text"),
    [
        ("vcore", 10_000, "10"),
        ("vcore", 1, "1m"),
        ("vcore", 1500, "1500m"),
        ("memory", 0, "0"),
        ("memory", 10240, "10240"),
        ("memory", 12 * 2**30, "12Gi"),
        ("memory", 150 * 10**9, "150G"),
        ("memory", 2**60, "1Ei"),
    ],
)
def test_quantity_is_written_as_it_would_be_read(
    resource_type: str, amount: int, text: str
) -> None:
    assert written_quantity(resource_type, amount) == text
    assert read_quantity(resource_type, text) == amount


DURATIONS = [
    ("30s", 30.0),
    ("1ms", 0.001),
    ("1m30s", 90.0),
    ("1.5h", 5400.0),
    (".5s", 0.5),
    ("1.s", 1.0),
    ("100us", 0.0001),
    ("100\u00b5s", 0.0001),
    ("100\u03bcs", 0.0001),
    ("1ns", 1e-9),
    ("0", 0.0),
    ("-0", 0.0),
    ("+2s", 2.0),
    ("-2s", -2.0),
    ("1h1m1s1ms", 3661.001),
    ("2562047h", 2562047 * 3600.0),
    ("9223372036854775807ns", (2**63 - 1) / 10**9),
]


@pytest.mark.parametrize(("text", "seconds"), DURATIONS)
def test_duration_is_in_seconds(text: str, seconds: float) -> None:
    assert read_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "s",
        "1 s",
        "1d",
        "1S",
        "--1s",
        "1s ",
        "1..s",
        "1.1.1s",
        ".s",
        "00",
        "1s1",
        "\u0661s",
    ],
)
def test_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        read_duration(text)


@pytest.mark.parametrize("text", ["2562048h", "9223372036854775808ns", f"{'9' * 40}h"])
def test_endless_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is longer than a duration can be"):
        read_duration(text)


ACLS = [
    ("", Acl()),
    ("  ", Acl()),
    ("*", Acl(all=True)),
    (" * ", Acl(all=True)),
    ("* g", Acl(all=True)),
    (" *", Acl(all=True)),
    ("u *", Acl(all=True)),
    ("u", Acl(users=frozenset({"u"}))),
    ("u,v", Acl(users=frozenset({"u", "v"}))),
    ("u,v ", Acl(users=frozenset({"u", "v"}))),
    ("u,,v", Acl(users=frozenset({"u", "v"}))),
    (" g,h", Acl(groups=frozenset({"g", "h"}))),
    ("u g", Acl(users=frozenset({"u"}), groups=frozenset({"g"}))),
    ("svc$,a.b@c g:h", Acl(users=frozenset({"svc$", "a.b@c"}), groups=frozenset({"g:h"}))),
]


@pytest.mark.parametrize(("text", "acl"), ACLS)
def test_acl_lists_users_and_groups(text: str, acl: Acl) -> None:
    assert read_acl(text) == acl


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("u g h", "more than one space"),
        ("u  g", "more than one space"),
        ("u,* g", '"\\*" cannot be a user'),
        ("1u", '"1u" cannot be a user'),
        ("u g@h", '"g@h" cannot be a group'),
        ("u\tg", "cannot be a user"),
    ],
)
def test_invalid_acl_has_a_reason(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_acl(text)


def test_acl_allows_its_users_and_the_members_of_its_groups() -> None:
    acl = read_acl("alice developers")

    assert acl.allows("alice", ())
    assert acl.allows("bob", ("operators", "developers"))
    assert not acl.allows("bob", ("operators",))
    assert not Acl().allows("alice", ("developers",))
    assert Acl(all=True).allows("anybody", ())


def test_names_of_users_and_groups() -> None:
    assert read_user("a.b@c$") == "a.b@c$"
    assert read_group("a.b:c") == "a.b:c"
    for name in ("", "$", "1", "a b", "a$b", "\u00e4"):
        with pytest.raises(ValueError, match="cannot be a user"):
            read_user(name)
    for name in ("", "a$", "a@b", "1"):
        with pytest.raises(ValueError, match="cannot be a group"):
            read_group(name)


def test_counts() -> None:
    assert read_count("0") == 0
    assert read_count("18446744073709551615") == 2**64 - 1
    for text in ("", "-1", "+1", "1.0", "010", "0x1", "1_0", "18446744073709551616", "9" * 5000):
        with pytest.raises(ValueError, match="is not a count"):
            read_count(text)


def test_switches() -> None:
    assert [read_switch(text) for text in ("true", "True", "YES", "on", "y")] == [True] * 5
    assert [read_switch(text) for text in ("false", "False", "NO", "off", "n")] == [False] * 5
    for text in ("", "1", "0", "enabled", "tru"):
        with pytest.raises(ValueError, match="is neither true nor false"):
            read_switch(text)


def test_weights() -> None:
    assert [read_weight(text) for text in ("0", "1.5", ".5", "2.", "1e3")] == [0, 1.5, 0.5, 2, 1000]
    for text in ("", "x", ".", ".inf", "nan", "1e999", "1_0", "0x1"):
        with pytest.raises(ValueError, match="is not a number"):
            read_weight(text)
    with pytest.raises(ValueError, match="is negative"):
        read_weight("-0.1")


@pytest.mark.parametrize("digits", ["1", "1.", "1e", ".1", "11.1"])
def test_a_weight_that_never_ends_is_refused_at_once(digits: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        read_weight(digits * 500_000 + "!")


def test_whole_numbers() -> None:
    assert read_whole("-5", -5, 5) == -5
    assert read_whole("+05", -5, 5) == 5
    for text in ("", "1.0", "a", "--1", "9" * 5000):
        with pytest.raises(ValueError, match="is not a whole number"):
            read_whole(text, -5, 5)
    for text in ("6", "-6"):
        with pytest.raises(ValueError, match="is not between -5 and 5"):
            read_whole(text, -5, 5)


def test_choices() -> None:
    assert read_choice("fence", QueuePreemptionPolicy) is QueuePreemptionPolicy.FENCE
    with pytest.raises(ValueError, match='"Fence" is unknown; did you mean fence'):
        read_choice("Fence", QueuePreemptionPolicy)
    with pytest.raises(ValueError, match='"x" is unknown: the choice is fair, binpacking'):
        read_choice("x", NodeSortType)
