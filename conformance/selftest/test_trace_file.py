"""Files of a trace: rotation, a bounded queue with counted drops, and an end within seconds."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from patience import wait_for
from siconform.recording.trace_file import TraceFile
from siconform.recording.trace_outputs import NumberedFiles, OneFile, Rotation


def header(file: int) -> bytes:
    return json.dumps({"began": 1, "file": file}).encode() + b"\n"


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_full_file_is_followed_by_the_next(tmp_path: Path) -> None:
    output = NumberedFiles(tmp_path / "trace", header, Rotation(max_size=60))
    for _ in range(5):
        output.write(b'{"a": "0123456789"}\n')
    output.close()

    first, *_, last = (tmp_path / "trace" / name for name in names(tmp_path / "trace"))
    assert first.name == "trace-000001.jsonl"
    assert [len(lines(file)) for file in (first, last)] == [3, 2]
    assert [lines(file)[0]["file"] for file in (first, last)] == [1, 3]
    assert output.lines == 8


def test_old_file_is_followed_by_the_next(tmp_path: Path) -> None:
    output = NumberedFiles(tmp_path, header, Rotation(max_size=10**6, max_age=1e-9))
    output.write(b"{}\n")
    output.write(b"{}\n")
    output.close()

    assert len(names(tmp_path)) == 2


def test_oldest_files_are_removed(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").touch()
    output = NumberedFiles(tmp_path, header, Rotation(max_size=1, keep=2))
    for _ in range(4):
        output.write(b"{}\n")
    output.close()

    assert names(tmp_path) == ["notes.jsonl", "trace-000003.jsonl", "trace-000004.jsonl"]


def test_existing_files_are_kept(tmp_path: Path) -> None:
    for _ in range(2):
        NumberedFiles(tmp_path, header, Rotation(max_size=1)).close()

    assert names(tmp_path) == ["trace-000001.jsonl", "trace-000002.jsonl"]
    assert [lines(tmp_path / name)[0]["file"] for name in names(tmp_path)] == [1, 1]


class Slow:
    """Makes records, each only once the test goes on."""

    def __init__(self) -> None:
        self.is_busy = threading.Event()
        self.go_on = threading.Event()

    def records(self, one: int) -> Iterable[Mapping[str, Any]]:
        self.is_busy.set()
        self.go_on.wait(10)
        yield {"message": one}


@pytest.fixture
def slow() -> Slow:
    return Slow()


def written(
    path: Path, records: Callable[[int], Iterable[Mapping[str, Any]]], limit: int
) -> tuple[TraceFile[int], list[str]]:
    reports: list[str] = []
    return TraceFile(OneFile(path, header), records, reports.append, limit), reports


def test_messages_beyond_the_limit_are_counted_where_they_are_missing(
    tmp_path: Path, slow: Slow
) -> None:
    path = tmp_path / "trace"
    file, reports = written(path, slow.records, limit=4000)

    file.put(0, 1000)
    wait_for(slow.is_busy.is_set, 10)
    for number in range(1, 5):
        file.put(number, 1000)  # and as much for each
    file.put(5, 1000, is_essential=True)
    slow.go_on.set()
    wait_for(lambda: file.written == 5, 10)
    file.put(6, 1000)
    file.close(within=10)

    _, *seen = lines(path)
    assert [one.get("message", one.get("dropped")) for one in seen] == [0, 1, 3, 5, 6]
    assert seen[2].keys() == {"dropped", "at"}
    assert file.dropped == 3
    assert len(reports) == 1
    assert reports[0].endswith("some are not recorded, and the record states how many")


def test_drop_at_the_end_is_stated(tmp_path: Path, slow: Slow) -> None:
    path = tmp_path / "trace"
    file, _ = written(path, slow.records, limit=4000)

    file.put(0, 1000)
    wait_for(slow.is_busy.is_set, 10)
    for number in range(1, 5):
        file.put(number, 1000)
    slow.go_on.set()
    file.close(within=10)

    assert lines(path)[-1]["dropped"] == 3


def test_what_is_not_written_in_time_counts_as_dropped(tmp_path: Path, slow: Slow) -> None:
    path = tmp_path / "trace"
    file, _ = written(path, slow.records, limit=10**6)

    file.put(0, 0)
    wait_for(slow.is_busy.is_set, 10)
    for number in range(1, 5):
        file.put(number, 0)
    ending = threading.Thread(target=file.close, kwargs={"within": 0.0})
    ending.start()
    file.put(5, 0)
    slow.go_on.set()
    ending.join(10)
    wait_for(lambda: file.dropped == 4, 10)

    wait_for(lambda: lines(path)[-1].get("dropped") == 4, 10)
    assert len(lines(path)) == 3


def test_internal_error_is_reported_once(tmp_path: Path) -> None:
    def broken(_: int) -> Iterable[Mapping[str, Any]]:
        raise KeyError("lost")

    file, reports = written(tmp_path / "trace", broken, limit=10**6)
    file.put(0, 0)
    file.put(1, 0)
    file.close(within=10)

    why = "internal error: KeyError: 'lost'"
    assert reports == [f"{why}; the exchange continues and is not recorded"]
    assert file.problem == why
