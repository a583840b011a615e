"""The time of each phase of a run, for ``--timings``."""

import io
from collections.abc import Callable

from siconform.output import phases
from siconform.output.events import PhaseBegan, RunFinished
from siconform.output.live.output import Output
from siconform.output.live.terminal import Terminal
from siconform.output.phases import Phases

from .conftest import FinishedRun
from .test_summary import run


def test_repeated_phase_is_summed() -> None:
    printed = io.StringIO()
    timed = Phases(Output(Terminal.of(printed), 0))
    for name in (phases.TESTS, phases.RESULTS, phases.TESTS):
        timed.on_event(PhaseBegan(name))
    timed.on_event(RunFinished(run([])))

    head, *lines = printed.getvalue().splitlines()

    assert head == "time by phase:"
    names = [line.partition(" s  ")[2] for line in lines]
    assert names == [phases.START, phases.TESTS, phases.RESULTS, "from command to verdict"]
    seconds = [float(line.partition(" s  ")[0]) for line in lines]
    assert abs(sum(seconds[:-1]) - seconds[-1]) < 0.05


def test_a_run_prints_its_phases_last(conformance: Callable[..., FinishedRun]) -> None:
    done = conformance(
        "@requirement('SI-NODE-004')\ndef test_it(): pass\n", "--timings", target=False
    )

    printed = done.out.splitlines()
    begun = printed.index("time by phase:")
    assert [line.partition(" s  ")[2] for line in printed[begun + 1 : begun + 3]] == [
        phases.START,
        phases.TARGET,
    ]
    assert any("from command to verdict" in line for line in printed[begun:])


def test_phases_need_timings_option(conformance: Callable[..., FinishedRun]) -> None:
    done = conformance("@requirement('SI-NODE-004')\ndef test_it(): pass\n", target=False)

    assert "time by phase" not in done.out
