"""Properties: invalid values are refused, unknown properties are kept."""

from collections.abc import Callable

import pytest
from sireference.configuration.model import (
    PriorityPolicy,
    QueuePreemptionPolicy,
    QueueProperties,
    SortPolicy,
)
from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError, ConfigurationProblem

QUEUE = "partitions:\n  - queues:\n      - name: a\n        properties:\n          "

VALUES = {
    "application.sort.policy": ("Fair", "fair", '"Fair" is unknown; did you mean fair?'),
    "application.sort.priority": ("on", "DISABLED", '"on" is neither enabled nor disabled'),
    "priority.policy": ("x", "fence", '"x" is unknown: the choice is default, fence'),
    "priority.offset": (
        "2147483648",
        "2147483647",
        '"2147483648" is not between -2147483648 and 2147483647',
    ),
    "preemption.policy": ("fenc", "fence", '"fenc" is unknown; did you mean fence?'),
    "preemption.delay": ("0s", "1ns", '"0s" is not a delay longer than 0'),
    "quota.preemption.delay": ("-1s", "1s", '"-1s" is not a delay longer than 0'),
}


def properties_of(text: str) -> QueueProperties:
    [queue] = parse_configuration(text).partitions[0].root.queues
    return queue.properties


@pytest.mark.parametrize(("name", "values"), VALUES.items(), ids=VALUES)
def test_invalid_value_is_one_problem_with_its_position(
    name: str, values: tuple[str, str, str], fill: Callable[[str, str], tuple[str, int, int]]
) -> None:
    bad, good, problem = values
    text, line, column = fill(f"{QUEUE}{name}: ^@\n", bad)

    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(text)

    path = f"partitions[0].queues[0].properties.{name}"
    assert caught.value.errors == (ConfigurationProblem(path, line, column, problem),)
    assert properties_of(fill(f"{QUEUE}{name}: ^@\n", good)[0]) != QueueProperties()


@pytest.mark.parametrize("offset", ["-2147483648", "2147483647", "+5", "0"])
def test_offset_has_the_range_of_a_priority(offset: str) -> None:
    assert properties_of(f"{QUEUE}priority.offset: {offset}\n").priority_offset == int(offset)


@pytest.mark.parametrize(
    "delay",
    [
        *("nan", "inf", "infs", "1e308s", "1e3s", "9" * 30 + "s", "9" * 5000 + "s", "9223372037s"),
        *("1h" * 3_000_000, "1" * 9_000_000, "1ns" * 3_000_000),
    ],
    ids=lambda delay: f"{delay[:8]}, {len(delay)} characters",
)
def test_delay_is_a_duration_a_timer_accepts(delay: str) -> None:
    with pytest.raises(ConfigurationError, match=r"is not a duration|longer than a duration can"):
        parse_configuration(f"{QUEUE}preemption.delay: {delay}\n")


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("nothing", ["", '""', "~"])
def test_property_without_a_value_is_omitted(name: str, nothing: str) -> None:
    assert properties_of(f"{QUEUE}{name}: {nothing}\n") == QueueProperties()


def test_unknown_properties_are_kept() -> None:
    properties = properties_of(f"{QUEUE}application.sort.polcy: fair\n          x: on\n")

    assert properties == QueueProperties(others={"application.sort.polcy": "fair", "x": "on"})


def test_property_values_are_kept_as_written() -> None:
    text = """\
{application.sort.policy: stateaware, application.sort.priority: Disabled, priority.policy: fence,
 priority.offset: -7, preemption.policy: disabled, preemption.delay: 250ms,
 quota.preemption.delay: 1m}
"""
    assert properties_of(QUEUE + text.replace("\n", "")) == QueueProperties(
        sort_policy=SortPolicy.STATE_AWARE,
        sort_priority=False,
        priority_policy=PriorityPolicy.FENCE,
        priority_offset=-7,
        preemption_policy=QueuePreemptionPolicy.DISABLED,
        preemption_delay=0.25,
        quota_preemption_delay=60.0,
    )
