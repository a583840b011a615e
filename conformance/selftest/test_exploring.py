"""Randomised testing: violations are found, minimised, kept and replayed."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis.errors import FlakyStrategyDefinition
from patience import patient
from siconform.cli import main
from siconform.expecting.deadlines import Deadlines
from siconform.exploring import exploration as exploration_module
from siconform.exploring.counterexample import Counterexample
from siconform.exploring.exploration import Budget, Exploration
from siconform.exploring.recorded import read_history
from siconform.exploring.replay import Replay
from siconform.exploring.rules import RandomRM
from siconform.outcomes import PreconditionFailed, TargetLost
from siconform.policy import ExitCode
from siconform.recording.elements import Unreplayable
from siconform.rm.session import Session
from siconform.targets.attached import AttachedTarget
from siconform.targets.process import Launch, ProcessTarget
from siwire import DEFAULT_REVISION

from .commands import siconform

pytestmark = pytest.mark.end_to_end

FAULTY = f"{sys.executable} {Path(__file__).with_name('overcommitter.py')}"
BUDGET = Budget(histories=200, steps=6, seconds=30.0)  # takes six on an idle machine
LEAST = len(("node", "application", "ask", "ask"))  # to overfill a node
SPARE = 3  # overrun of a slow machine at the time limit
FAST = 0.1  # time scale: this scheduler answers at once or never
DEADLINES = replace(Deadlines().scaled(FAST), connect=5.0, register=10.0)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session with a scheduler that allocates every ask on the newest node."""
    launch = Launch.of("careless", FAULTY, patient(30.0))
    target = ProcessTarget(launch, DEFAULT_REVISION, 1.0, tmp_path_factory.mktemp("target") / "log")
    session = Session(target, DEADLINES, "exploring")
    yield session
    session.discard()
    target.stop()


@pytest.fixture(scope="module")
def overfilled(session: Session) -> Counterexample:
    """The violation that randomised testing of that scheduler finds."""
    exploration = Exploration(session, BUDGET, number=1)
    exploration.explores()
    found = {
        counterexample.name: counterexample for counterexample in exploration.counterexamples()
    }
    return found["nodes_are_not_overfilled"]


def test_ignored_capacity_is_detected(overfilled: Counterexample) -> None:
    assert overfilled.requirements == ("SI-NODE-006",)
    assert "holds" in overfilled.message


def test_failing_history_is_minimised(overfilled: Counterexample) -> None:
    sent, _ = overfilled.size
    assert sent <= LEAST + SPARE
    assert overfilled.exchange.entries()[-1].content.words() == "allocated"  # type: ignore[union-attr]


def test_kept_history_fails_again(
    session: Session, overfilled: Counterexample, tmp_path: Path
) -> None:
    overfilled.write(tmp_path / "history.jsonl")
    session.renew()

    replayed = Replay(session, read_history(tmp_path / "history.jsonl")).plays()

    assert [f.name for f in replayed.counterexamples][:1] == ["nodes_are_not_overfilled"]
    assert replayed.not_received == []


def test_failing_end_still_breaks_off_history() -> None:
    occasion = Mock(spec=Exploration)
    occasion.ends.side_effect = PreconditionFailed("nothing is given away again")

    with pytest.raises(PreconditionFailed):
        RandomRM(occasion).teardown()

    occasion.breaks_off.assert_called_once_with(occasion.begins.return_value)


def test_same_seed_gives_same_histories(session: Session) -> None:
    budget = Budget(histories=1, steps=5, seconds=patient(15.0))
    unhurried = Session(session.target, replace(Deadlines(), register=10.0), "same")
    first, again = (Exploration(unhurried, budget, number=7) for _ in range(2))

    first.explores()
    again.explores()

    assert first.progress.steps == again.progress.steps > 0
    unhurried.discard()


def test_generation_continues_after_hypothesis_gives_up(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def gives_up_once(*_: object, **__: object) -> None:
        tries.append(len(tries))
        if len(tries) == 1:
            raise FlakyStrategyDefinition("it answered at another pace")

    monkeypatch.setattr(exploration_module, "run_state_machine_as_test", gives_up_once)
    exploration = Exploration(session, Budget(histories=1, steps=5, seconds=15.0), number=7)

    exploration.explores()

    assert len(tries) == 2
    assert exploration.counterexamples() == []


def test_zero_budget_is_not_a_failure(session: Session) -> None:
    exploration = Exploration(session, Budget(histories=20, steps=10, seconds=0.0), number=1)

    exploration.explores()

    assert exploration.progress.out_of_time
    assert exploration.counterexamples() == []


def test_expired_budget_is_not_a_failure(session: Session) -> None:
    session.deadlines = DEADLINES
    exploration = Exploration(session, Budget(histories=1000, steps=2, seconds=0.5), number=1)

    exploration.explores()

    assert exploration.progress.out_of_time or exploration.counterexamples()


def test_exploring_needs_a_target() -> None:
    closed_address = AttachedTarget("127.0.0.1:1", DEFAULT_REVISION, 1.0)
    exploration = Exploration(
        Session(closed_address, Deadlines().scaled(FAST), "x"), BUDGET, number=1
    )

    with pytest.raises(TargetLost):
        exploration.explores()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no message of an RM"),
        ("no JSON", "line 1"),
        ('{"number": 1}', "is not a siconform history"),
        (json.dumps({"expected": {"is": "Nonsense"}}), "is not one of"),
    ],
)
def test_invalid_history_file_is_rejected(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text(text)

    with pytest.raises(Unreplayable, match=message):
        read_history(file)


def test_explore_and_replay_report_failure_and_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["--time-scale", str(FAST), "--waiting-timeout", "3"]
    target = ["--target-command", FAULTY, *given]

    found = command(monkeypatch, "explore", "--time", "4", "--seed", "1", *target)
    received = capsys.readouterr().out
    file = the_file_named_in(received)
    again = command(monkeypatch, "replay", file, *target)
    replayed = capsys.readouterr().out

    assert found == again == ExitCode.NON_CONFORMANT
    assert "nodes are not overfilled" in received
    assert "reproduced" in received
    suggested = next(line for line in received.splitlines() if line.startswith("  again"))
    assert "siconform replay build/exploring/histories/" in suggested
    assert " ".join(given[:2]) in suggested
    assert " ".join(given[2:]) in suggested
    assert "nodes are not overfilled" in replayed
    assert "the same verdict is reproduced" in replayed
    assert Path(file).exists()


@pytest.mark.parametrize(
    ("explore", "message"),
    [
        ("1", "seed 2023"),
        ("0", "randomised testing disabled (--explore SECONDS)"),
        ("-1", '--explore "-1" must be a positive number'),
    ],
)
def test_run_explores_for_given_time(tmp_path: Path, explore: str, message: str) -> None:
    options = ["--target-command", FAULTY, "--time-scale", str(FAST), "-n", "0"]
    options += ["-k", "test_histories", "--results", str(tmp_path / "results")]

    done = siconform("run", *options, "--explore", explore)

    assert message in " ".join((done.stdout + done.stderr).split())


def the_file_named_in(received: str) -> str:
    lines = [line for line in received.splitlines() if "nodes_are_not_overfilled.jsonl" in line]
    return next(word for word in lines[0].split() if word.endswith(".jsonl"))


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["siconform", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)
