"""``siconform check-trace``: violated with its line, held, or not exercised; never conformant."""

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from patience import patient, wait_for
from selftest.monitor_cases.by_key import end, ended, new
from selftest.sample_histories import ASK, IN_THE_CLUSTER, NODE, Part, by_key
from selftest.trace_samples import REVISION_NAMES, recorded_lines
from siconform.cli import main
from siconform.monitors import traces
from siconform.protocol.requests import Registration
from siconform.protocol.subjects import Identity
from siwire.r2024_10 import si_pb2

from .commands import first_line, invoke, serving_reference, started

TWICE = (NODE, ASK, new(), new())
MISSPELT = (replace(NODE, attributes={"si/hostName": "n"}),)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def check(trace: Path, *parts: Part, options: tuple[str, ...] = ()) -> Result:
    if parts:
        by_key((*IN_THE_CLUSTER, *parts)).write_jsonl(trace)
    return invoke("check-trace", trace, *options)


def test_violation_is_reported_with_its_line(trace: Path) -> None:
    done = check(trace, NODE, ASK, new(), new())

    assert "happened   allocation k was announced twice" in done.stdout
    assert f"{trace}, line 6, RM rm" in " ".join(done.stdout.split())
    assert done.exit_code == 1


def test_legal_exchange_is_never_called_conformant(trace: Path) -> None:
    done = check(trace, NODE, ASK, new(), end(), ended(), options=("-v",))

    assert "SI-NODE-006  MUST   held 1 time\n" in done.stdout
    assert "not exercised" in done.stdout
    assert "  0 violated, " in done.stdout
    assert "CONFORMANT" not in done.stdout.upper()
    assert done.exit_code == 0


def test_exchange_that_exercises_nothing_is_code_12(trace: Path) -> None:
    by_key([Registration("", "", "", "")]).write_jsonl(trace)

    done = check(trace)

    assert "NOTHING SEEN: the exchange exercised no requirement" in done.stdout
    assert done.exit_code == 12


def test_what_may_have_begun_before_the_trace_is_no_violation(trace: Path) -> None:
    check(trace, NODE, ASK, new(), new())
    trace.write_text("".join(trace.read_text("utf-8").splitlines(keepends=True)[2:]))

    done = check(trace)

    assert "0 violated" in done.stdout
    assert "not seen: the beginning of rm: 4 elements about what had begun" in done.stdout
    assert done.exit_code == 0  # rules about a single message


def test_dropped_messages_are_counted_and_what_was_known_is_unknown(trace: Path) -> None:
    check(trace, NODE, ASK, new(), new())
    lines = trace.read_text("utf-8").splitlines(keepends=True)
    trace.write_text("".join([*lines[:-1], '{"dropped": 7}\n', lines[-1]]))

    done = check(trace)

    assert "not seen: 7 dropped messages: " in done.stdout
    assert "0 violated" in done.stdout
    assert done.exit_code == 0


@pytest.mark.parametrize("revision", REVISION_NAMES)
def test_raw_lines_are_checked(trace: Path, revision: str) -> None:
    trace.write_text("\n".join(recorded_lines(revision)) + "\n")

    done = check(trace, options=("--revision", revision, "-v"))

    violated = [line.split()[1] for line in done.stdout.splitlines() if "VIOLATED" in line]
    assert set(violated) == {"SI-CONST-002"}  # the tags of this RM have no domain
    assert "SI-ALLOC-004 MUST   held" in done.stdout or revision >= "2023-12"
    assert "SI-REL-013   SHOULD held" in done.stdout
    assert done.exit_code == 0


def test_callbacks_are_checked(trace: Path) -> None:
    lines = recorded_lines("2024-10")[:2]
    event = {"at": 1, "from": "scheduler", "rm": "rm-1", "stream": "callbacks", "number": 3}
    sent = si_pb2.EventRecord(objectID="a")
    record = {**event, "message": "si.v1.EventRecord", "hex": sent.SerializeToString().hex()}
    trace.write_text("\n".join([*lines, json.dumps(record)]) + "\n")

    done = check(trace)

    assert "VIOLATED  SI-WIRE-010   MUST" in done.stdout
    assert "happened   event about a has no type" in done.stdout
    assert done.exit_code == 1


def test_standard_input_is_read(trace: Path) -> None:
    check(trace, NODE, ASK, new(), new())

    done = CliRunner().invoke(main, ["check-trace", "-"], input=trace.read_bytes())

    assert "where      line 6, RM rm" in done.stdout
    assert done.exit_code == 1


def test_files_of_a_directory_are_one_trace(trace: Path) -> None:
    check(trace, NODE, ASK, new(), new())
    lines = trace.read_text("utf-8").splitlines(keepends=True)
    trace.unlink()
    (trace.parent / "tap-10.jsonl").write_text("".join(lines[5:]))
    (trace.parent / "tap-9.jsonl").write_text("".join(lines[:5]))

    done = check(trace.parent)

    assert f"{trace.parent / 'tap-10.jsonl'}, line 1, RM rm" in " ".join(done.stdout.split())
    assert done.exit_code == 1


def test_header_with_another_revision_is_refused(trace: Path) -> None:
    check(trace, NODE)
    trace.write_text('{"began": 1, "revision": "2023-04"}\n' + trace.read_text("utf-8"))

    done = check(trace)

    assert "the trace has the revision 2023-04, not 2024-10; use --revision 2023-04" in done.stderr
    assert done.exit_code == 4


def test_last_line_without_its_end_is_reported(trace: Path) -> None:
    check(trace, NODE, ASK, new(), new())
    trace.write_text(trace.read_text("utf-8")[:-40])

    done = check(trace)

    assert f"the last line of {trace} (6) ends before" in " ".join(done.stdout.split())
    assert "0 violated" in done.stdout
    assert done.exit_code == 0


def test_long_traces_are_checked_by_two_processes(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = check(trace, NODE, ASK, new(), new()).stdout
    monkeypatch.setattr(traces, "_LONG", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)

    assert without_times(check(trace).stdout) == without_times(once)


@pytest.mark.parametrize("processes", [1, 3, 8, 1000])
def test_each_monitor_has_one_process_and_each_process_a_monitor(processes: int) -> None:
    monitored = traces.monitors_for(Identity.KEY_OF_THE_ASK)

    shares = traces.shares(monitored, processes)

    assert sorted(number for share in shares for number in share) == list(range(len(monitored)))
    assert all(shares)


@pytest.mark.parametrize(("sent_by", "parts"), [("scheduler", TWICE), ("RM", MISSPELT)])
def test_violation_names_the_side(trace: Path, sent_by: str, parts: Sequence[Part]) -> None:
    assert f"  by         the {sent_by}\n" in check(trace, *parts).stdout


@pytest.mark.end_to_end
def test_what_is_appended_is_followed_until_interrupted(trace: Path) -> None:
    check(trace, NODE, ASK, new(), new())
    lines = trace.read_text("utf-8").splitlines(keepends=True)
    trace.unlink()
    first = trace.parent / "trace-1.jsonl"
    first.write_text("".join(lines[:4]) + lines[4][:50])
    with started("siconform", "check-trace", str(trace.parent), "--follow") as following:
        with first.open("a") as appended:
            appended.write(lines[4][50:])
        (trace.parent / "trace-2.jsonl").write_text(lines[5])
        assert following.stdout is not None
        seen = next(line for line in following.stdout if line.startswith("VIOLATED"))
        following.send_signal(signal.SIGINT)
        rest, _ = following.communicate(timeout=patient())

    assert "allocation k was announced twice" in seen
    assert "trace-2.jsonl, line 1, RM rm" in " ".join(rest.split())
    assert rest.endswith("(exit code 1)\n")
    assert following.returncode == 1


def test_call_without_messages_is_ignored(trace: Path) -> None:
    check(trace, NODE, ASK, new())
    failed = {"from": "scheduler", "rm": "", "stream": None, "element": None, "hex": None}
    trace.write_text(json.dumps(failed) + "\n" + trace.read_text("utf-8"))

    assert check(trace).exit_code == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "contains no decoded message"),
        ("{\n", "line 1: "),
        ('{"from": "rm"}\n', 'line 1: no "at" in the record'),
    ],
)
def test_unusable_file_is_code_4(trace: Path, text: str, problem: str) -> None:
    trace.write_text(text)

    done = check(trace)

    assert problem in done.stderr
    assert done.exit_code == 4


def test_missing_file_is_code_4_and_nothing_else_is_printed(trace: Path) -> None:
    done = check(trace)

    assert f"{trace} cannot be read: No such file or directory" in done.stderr
    assert done.stdout == ""
    assert done.exit_code == 4


@pytest.mark.end_to_end
def test_recorded_run_is_checked(tmp_path: Path, trace: Path) -> None:
    """The reference, the proxy and the kit's own RM, as processes; Ctrl-C ends the recording."""
    with serving_reference() as reference:
        words = ("--listen", "127.0.0.1:0", "--to", reference.address, "--output", str(trace))
        with started("siconform", "record", *words) as recording:
            address = first_line(recording).split()[2].rstrip(",")
            with started(
                "siconform", "check", "--target", address, "--time-scale", "5", cwd=tmp_path
            ) as tested:
                tested.wait(patient())
            wait_for(lambda: '"says":"cancels the ' in trace.read_text("utf-8"))
            recording.send_signal(signal.SIGINT)
            written, _ = recording.communicate(timeout=patient())

    assert tested.returncode == 0
    assert recording.returncode == 0
    lines = trace.read_text("utf-8").splitlines()
    assert f"{len(lines)} lines written to {trace}" in written
    assert check(trace).exit_code == 0


def without_times(printed: str) -> str:
    return re.sub(r" +\d+\.\d s$", "", printed, flags=re.MULTILINE)
