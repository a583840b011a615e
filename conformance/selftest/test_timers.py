"""The timers of a target: their sources, and tests without known timers."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import PreconditionFailed
from siconform.protocol.handles import Gang
from siconform.protocol.timers import UNKNOWN, Timers
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager
from siconform.targets.embedded import TIMERS, embedded
from siconform.targets.named import find_named
from siconform.targets.profile import TargetProfile
from siconform.targets.terms import LONGEST_TIMER, PLAIN, Terms
from siwire import DEFAULT_REVISION

from .resource_managers import rm_on

Run = Callable[..., Any]

RECEIVED = (
    '@requirement("SI-NODE-004")\n'
    "def test_one(target):\n"
    "    import msgspec, pathlib\n"
    "    timers = msgspec.structs.asdict(target.timers)\n"
    '    pathlib.Path("timers.json").write_bytes(msgspec.json.encode(timers))\n'
)


def test_timer_sources_by_precedence() -> None:
    known = Timers(placeholder=900.0, placeholder_from_application_timeout=True)

    assert known.with_known(Timers(placeholder=2.0)) == Timers(2.0, True)  # noqa: FBT003  # a record
    assert known.with_known(UNKNOWN) == known


def test_the_embedded_reference_is_started_with_the_timers_the_kit_counts_on() -> None:
    words = embedded(DEFAULT_REVISION, TIMERS, real_clock=True).command

    assert "--virtual-clock" not in words
    assert words[words.index("--placeholder-timeout") + 1] == f"{TIMERS.placeholder:g}"
    assert words[words.index("--completing-timeout") + 1] == f"{TIMERS.waiting_to_completed:g}"
    assert words[words.index("--connection-loss-timeout") + 1] == f"{TIMERS.connection_loss:g}"


def test_the_embedded_reference_runs_on_virtual_time() -> None:
    assert "--virtual-clock" in embedded(DEFAULT_REVISION, TIMERS, real_clock=False).command


def test_named_target_has_timers() -> None:
    timers = find_named("yunikorn-core@1.5.1").timers

    assert timers.waiting_to_completed == 30
    assert timers.placeholder_from_application_timeout
    assert timers.connection_loss is None


@pytest.mark.parametrize(
    ("options", "received"),
    [
        ((), UNKNOWN),
        (("--placeholder-timeout", "2.5"), Timers(placeholder=2.5)),
        (("--placeholder-timeout", "application"), Timers(None, True)),  # noqa: FBT003  # a record
        (("--placeholder-timeout", "application,9"), Timers(9.0, True)),  # noqa: FBT003  # a record
        (
            ("--waiting-timeout", "3", "--connection-loss-timeout", "4"),
            Timers(waiting_to_completed=3.0, connection_loss=4.0),
        ),
    ],
)
def test_user_can_set_timers(
    conformance: Run, tmp_path: Any, options: tuple[str, ...], received: Timers
) -> None:
    file = tmp_path / "told.json"
    outcome = conformance(RECEIVED.replace("timers.json", str(file)), *options)

    assert outcome.code == 0
    assert Timers(**json.loads(file.read_text())) == received


@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan"])
def test_timer_must_be_positive(conformance: Run, value: str) -> None:
    outcome = conformance(RECEIVED, "--waiting-timeout", value, target=False)

    assert outcome.code == 4
    assert (
        outcome.err.strip() == f'siconform: --waiting-timeout "{value}" must be a positive number'
    )


def test_unknown_timer_is_inconclusive() -> None:
    rm = _rm(UNKNOWN)

    with pytest.raises(PreconditionFailed, match="set --waiting-timeout SECONDS"):
        rm.waiting_timeout()
    with pytest.raises(PreconditionFailed, match="set --placeholder-timeout SECONDS"):
        rm.placeholder_timeout()
    with pytest.raises(PreconditionFailed, match="set --connection-loss-timeout SECONDS"):
        rm.connection_loss_timeout()


def test_too_long_timer_is_inconclusive() -> None:
    assert _rm(Timers(waiting_to_completed=LONGEST_TIMER)).waiting_timeout() == LONGEST_TIMER
    with pytest.raises(PreconditionFailed, match="is 900 s, too long to wait for"):
        _rm(Timers(placeholder=900.0)).placeholder_timeout()


def test_patience_option_allows_long_timer() -> None:
    rm = _rm(Timers(placeholder=900.0), Terms(longest_timer=1000.0))

    assert rm.placeholder_timeout() == 900


@pytest.mark.parametrize(("left", "part"), [(9.0, 1.0), (0.75, 0.75), (0.25, 1.0), (-1.0, 1.0)])
def test_quiet_window_ends_with_the_gang_if_half_of_it_is_left(left: float, part: float) -> None:
    rm = _rm(Timers(placeholder=10.0))
    gang = Gang.of("g", "root.fifo", members=1, member={})

    window = rm.window_before_end(gang, rm.now() - 10.0 + left * rm.quiet_window())

    assert window == pytest.approx(part * rm.quiet_window(), abs=0.01)


@pytest.mark.parametrize(("missing", "part"), [(0, 0.75), (1, 1.0)])
def test_quiet_window_ends_with_the_waiting_of_a_gang_that_has_its_placeholders(
    missing: int, part: float
) -> None:
    rm = _rm(Timers(placeholder=100.0, waiting_to_completed=10.0))
    gang = Gang.of("g", "root.fifo", members=missing, member={})

    window = rm.window_before_end(gang, rm.now() - 10.0 + 0.75 * rm.quiet_window())

    assert window == pytest.approx(part * rm.quiet_window(), abs=0.01)


def _rm(timers: Timers, terms: Terms = PLAIN) -> ResourceManager:
    line = SimpleNamespace(rm_id="rm", history=History())
    return rm_on(line, Deadlines(), profile=TargetProfile(timers, terms=terms))
