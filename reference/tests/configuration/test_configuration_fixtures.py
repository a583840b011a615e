"""Configurations under `fixtures/queues`: accepted, or refused with every error named."""

from pathlib import Path

import pytest
from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError, ConfigurationProblem, quoted

QUEUES = Path(__file__).parents[3] / "fixtures" / "queues"
GOOD = sorted([*QUEUES.glob("good/*.yaml"), *QUEUES.glob("*.yaml")])
BAD = sorted(QUEUES.glob("bad/*.yaml"))


# An error in a child queue must not be reported for its parents.
LOST_COUNT = """
partitions: [{queues: [{name: a, maxapplications: 1, queues: [
  {name: b, maxapplications: x}]}]}]
"""
DEEP_GUARANTEE = """
partitions: [{queues: [{name: a, resources: {guaranteed: {m: 5}}, queues: [{name: b, queues: [
  {name: c, resources: {max: {m: 1}, guaranteed: {m: 9}}}]}]}]}]
"""


def test_fixtures_of_both_kinds_exist() -> None:
    assert len(GOOD) >= 3
    assert len(BAD) >= 5


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_configuration_is_accepted(path: Path) -> None:
    assert parse_configuration(path.read_text(encoding="utf-8")).partitions


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_configuration_is_refused_with_the_errors_listed_next_to_it(path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(path.read_text(encoding="utf-8"))

    assert f"{caught.value}\n" == path.with_suffix(".txt").read_text(encoding="utf-8")


def test_error_listing_has_a_count_and_can_be_limited() -> None:
    problems = tuple(ConfigurationProblem(f"a[{n}]", n, 7, "is wrong") for n in range(1, 4))

    assert str(ConfigurationError(problems)) == (
        "3 errors\n  a[1]: is wrong (1: 7)\n  a[2]: is wrong (2: 7)\n  a[3]: is wrong (3: 7)"
    )
    assert ConfigurationError(problems).listing(most=1) == (
        "3 errors\n  a[1]: is wrong (1: 7)\n  ... and 2 more"
    )
    assert ConfigurationError(problems).listing(most=3) == str(ConfigurationError(problems))
    assert str(ConfigurationError(problems[:1])) == "1 error\n  a[1]: is wrong (1: 7)"
    assert str(ConfigurationProblem("", 1, 2, "is wrong")) == "is wrong (1: 2)"


def test_quoted_value_is_short_and_on_one_line() -> None:
    assert quoted("x" * 40) == f'"{"x" * 40}"'
    assert quoted("x" * 41) == f'"{"x" * 37}..."'
    assert quoted('a"\n\x1b') == '"a\\"\\n\\u001b"'


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("partitions: [{quees: []}]", "partitions[0].quees"),
        ("partition: [{queues: []}]", "partition"),
        ("partitions: [{queues: [{nam: a}]}]", "partitions[0].queues[0].nam"),
        ("partitions: [{queues: [{name: [a]}]}]", "partitions[0].queues[0].name"),
        (
            "partitions: [{queues: [{name: a, limits: [{users: [u], maxapplications: x}]}]}]",
            "partitions[0].queues[0].limits[0].maxapplications",
        ),
        (
            "partitions: [{queues: [{name: a, limits: [{users: [1], maxapplications: 1}]}]}]",
            "partitions[0].queues[0].limits[0].users[0]",
        ),
        (
            "partitions: [{queues: [], placementrules: [{name: fixed, valu: a}]}]",
            "partitions[0].placementrules[0].valu",
        ),
        (
            LOST_COUNT,
            "partitions[0].queues[0].queues[0].maxapplications",
        ),
        (DEEP_GUARANTEE, "partitions[0].queues[0].queues[0].queues[0].resources.guaranteed.m"),
    ],
)
def test_one_mistake_is_one_problem(text: str, only: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(text)

    assert [problem.path for problem in caught.value.errors] == [only]
