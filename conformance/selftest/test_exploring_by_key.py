"""Randomised testing where the key is the identity: key violations, and tracked resources."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from patience import patient
from selftest.monitor_cases.by_key import end, ended, foreign, new, reported, update
from selftest.sample_histories import APP, ASK, DECOMMISSION, NODE, REMOVAL, Part, by_key
from siconform.expecting.deadlines import Deadlines
from siconform.exploring.counterexample import Counterexample
from siconform.exploring.exploration import Budget, Exploration
from siconform.exploring.model_state_by_key import ModelStateByKey
from siconform.exploring.recorded import Sent, read_history
from siconform.exploring.replay import Replay
from siconform.protocol.handles import Application, Node
from siconform.protocol.notifications import AllocationRejected
from siconform.protocol.requests import AllocationUpdate
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.session import Session
from siconform.targets.process import Launch, ProcessTarget
from siwire import find_revision

pytestmark = pytest.mark.end_to_end

FAULTY = f"{sys.executable} {Path(__file__).with_name('overcommitter.py')} 2024-10"
FAST = 0.1  # time scale: this scheduler answers at once or never
REJECTED = AllocationRejected("k", "a", "no")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session with a scheduler that allocates a key once per message."""
    launch = Launch.of("careless", FAULTY, patient(30.0))
    revision = find_revision("2024-10")
    target = ProcessTarget(launch, revision, 1.0, tmp_path_factory.mktemp("target") / "log")
    deadlines = replace(Deadlines().scaled(FAST), connect=5.0, register=10.0)
    session = Session(target, deadlines, "exploring")
    yield session
    session.discard()
    target.stop()


@pytest.fixture(scope="module")
def found(session: Session) -> Sequence[Counterexample]:
    """The violation that randomised testing of that scheduler finds."""
    exploration = Exploration(session, Budget(histories=200, steps=12, seconds=15.0), number=1)
    exploration.explores()
    return exploration.counterexamples()


def test_key_violation_is_detected(found: Sequence[Counterexample]) -> None:
    named = {requirement for one in found for requirement in one.requirements}

    assert named & {"SI-NODE-006", "SI-ASK-027"}


def test_kept_history_fails_again(
    session: Session, found: Sequence[Counterexample], tmp_path: Path
) -> None:
    found[0].write(tmp_path / "history.jsonl")
    session.renew()

    replayed = Replay(session, read_history(tmp_path / "history.jsonl")).plays()

    assert [one.name for one in replayed.counterexamples][:1] == [found[0].name]


def test_updates_and_foreign_allocations_round_trip(tmp_path: Path) -> None:
    changed = AllocationUpdate(replace(new(memory=8), priority_class=""))
    by_key([NODE, APP, ASK, new(), changed, foreign(3)]).write_jsonl(tmp_path / "history.jsonl")

    sent = [m for m in read_history(tmp_path / "history.jsonl").messages if isinstance(m, Sent)]
    requests = [request for message in sent for request in message.requests]

    assert changed in requests
    assert foreign(3) in requests


@pytest.mark.parametrize(
    ("parts", "memory"),
    [
        ([ASK], None),
        ([ASK, new()], 4),
        ([ASK, new(), update(8, node="n")], 8),
        ([ASK, new(), ASK, end(), ended()], None),
        ([ASK, new(), end(), ended(), ASK, new(memory=5)], 5),
        ([reported(memory=3)], 3),
        ([reported(memory=3), REJECTED], None),
        ([ASK, new(), update(0), REJECTED], 0),
        ([ASK, new(), REMOVAL], None),
        ([ASK, new(), DECOMMISSION, NODE], None),
    ],
)
def test_key_usage_is_tracked(parts: Sequence[Part], memory: int | None) -> None:
    has = state_after(parts)

    assert [a.resource["memory"] for a in has.allocations()] == ([] if memory is None else [memory])


def test_free_resources_exclude_foreign_allocations() -> None:
    has = state_after([ASK, new(), update(5, node="n")])
    assert has.memory_left() == 5

    has.foreign["f"] = ("n", 3)
    assert has.memory_left() == 2


def state_after(parts: Sequence[Part]) -> ModelStateByKey:
    rm = SimpleNamespace(exchange=by_key(parts), connection=SimpleNamespace(rm_id="rm"))
    has = ModelStateByKey(cast("ResourceManager", rm))
    has.nodes = [Node("n", {"memory": 10})]
    has.applications = [Application("a", "root.plain")]
    return has
