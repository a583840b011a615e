"""Targets with message races: racing tests are skipped, and the RM adds delays."""

import time
from typing import Any

import pytest
from siconform.config.options import settings_from
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.requests import Action, NodeRequest
from siconform.recording.history import History
from siconform.running.selecting import Selector
from siconform.targets.traits import (
    LATENCY,
    LOSES_PARTITION,
    OUT_OF_ORDER,
    RACES,
    REMOVES_MEANWHILE,
    latency_for,
)
from siconform.transport.connection import Connection
from siwire import DEFAULT_REVISION

TWO_TESTS = """
from siconform.marks import (
    order_is_a_race, registering_again_is_a_race, removals_are_a_race, requirement
)

@requirement("SI-NODE-004")
def test_certain():
    pass

@requirement("SI-NODE-004")
@MARK
def test_race():
    pass
"""


MARKERS = """
[pytest]
markers =
    requirement
    race_where
    disruptive
    real_clock
    waits
    explores
"""


class Options:
    """The options of the user, where pytest would have them."""

    def __init__(self, **given: str) -> None:
        self._given = given

    def getoption(self, flag: str) -> Any:
        return self._given.get(flag.removeprefix("--"))


def settings_for(**given: str) -> Any:
    return settings_from(Options(**given).getoption)


def left_out(pytester: pytest.Pytester, mark: str, target: str) -> dict[str, str]:
    pytester.makeini(MARKERS)
    items = pytester.getitems(TWO_TESTS.replace("MARK", mark))
    selector = Selector(settings_for(target=target))
    selector.pytest_collection_modifyitems(items[0].config, items)
    assert "test_certain" in [item.name for item in items]
    return {test.rpartition("::")[2]: why for test, why in selector.selection.left_out.items()}


@pytest.mark.parametrize(
    ("mark", "trait"),
    [
        ("registering_again_is_a_race", LOSES_PARTITION),
        ("order_is_a_race", OUT_OF_ORDER),
        ("removals_are_a_race", REMOVES_MEANWHILE),
    ],
)
def test_race_is_skipped_if_target_has_trait(
    pytester: pytest.Pytester, mark: str, trait: str
) -> None:
    assert left_out(pytester, mark, "yunikorn-core@1.4.0") == {"test_race": RACES[trait]}


@pytest.mark.parametrize("target", ["yunikorn-core@1.5.1", "127.0.0.1:1"])
def test_race_runs_on_other_targets(pytester: pytest.Pytester, target: str) -> None:
    assert left_out(pytester, "order_is_a_race", target) == {}


def test_target_has_baseline_per_revision() -> None:
    own = settings_for(target="yunikorn-core@1.4.0")
    sister = settings_for(target="yunikorn-core@1.4.0", revision="2023-04")
    foreign = settings_for(target="yunikorn-core@1.4.0", revision="2021-02")

    assert own.revision.name == "2023-08"
    assert own.baseline.file.endswith("1.4.0.yaml")
    assert sister.baseline.file.endswith("1.4.0.yaml")
    assert foreign.baseline.file == ""


class Written(Connection):
    """A connection whose only stream records writes."""

    open = True

    def __init__(self, latency: float) -> None:
        super().__init__("127.0.0.1:1", DEFAULT_REVISION, "rm", History(), latency)
        self.times: list[float] = []

    def _stream(self, kind: UpdateKind) -> Any:  # noqa: ARG002  # as overridden
        return self

    def send(self, data: bytes) -> None:
        assert data
        self.times.append(time.monotonic())


def test_rm_delays_messages_if_target_reorders_them() -> None:
    connection = Written(latency_for(frozenset({OUT_OF_ORDER})))

    for _ in range(3):
        connection.send_all(UpdateKind.NODES, [NodeRequest("n", Action.DRAIN)])

    first, second, third = connection.times
    assert min(second - first, third - second) >= LATENCY


def test_rm_does_not_delay_for_other_targets() -> None:
    assert latency_for(frozenset({LOSES_PARTITION})) == 0.0
