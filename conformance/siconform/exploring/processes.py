"""Seeds explored in processes of their own, on this machine.

``python -m siconform.exploring.processes`` explores the seed that it reads from standard input. It
ends with everything it started when standard input closes, so that it never outlives its parent.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import Final

import msgspec

from siconform import grpc_log, shutdown
from siconform.exploring.shard import Shard, ShardResult, explore_here

_MODULE: Final = "siconform.exploring.processes"
_BESIDES: Final = 300.0  # seconds for the start of the target, the replay and the end
_POLL_INTERVAL: Final = 0.25  # seconds
_ENDING: Final = 10.0  # seconds until an interrupted process is killed


def explore_in_processes(shards: Sequence[Shard], processes: int) -> Iterator[ShardResult]:
    """Yield the results in the order in which they come; close it to end what still runs."""
    stop = threading.Event()
    pool = ThreadPoolExecutor(processes)
    try:
        futures = [pool.submit(explore_apart, shard, stop.is_set) for shard in shards]
        for future in as_completed(futures):
            yield future.result()
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def explore_apart(shard: Shard, cancelled: Callable[[], bool]) -> ShardResult:
    """Explore a seed in a process of its own, until ``cancelled`` returns true."""
    limit = time.monotonic() + shard.seconds + _BESIDES
    process = subprocess.Popen(  # noqa: S603  # ourselves
        [sys.executable, "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a Ctrl-C in the terminal is the parent's
    )
    try:
        written, errors = _communicate(process, shard, limit, cancelled)
    finally:
        _end(process)
    if process.returncode == 0:
        return msgspec.json.decode(written, type=ShardResult)
    if cancelled():
        return ShardResult(shard.seed, problem="cancelled")
    last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
    late = f"it took more than {shard.seconds + _BESIDES:g} s"
    why = late if time.monotonic() > limit else f"exit code {process.returncode}, {last}"
    return ShardResult(shard.seed, problem=f"its process failed: {why}")


def _communicate(
    process: "subprocess.Popen[bytes]", shard: Shard, limit: float, cancelled: Callable[[], bool]
) -> tuple[bytes, bytes]:
    """Send the shard and return what the process writes; both are empty if it did not end."""
    assert process.stdin is not None  # noqa: S101  # a pipe
    with suppress(BrokenPipeError):  # its exit code tells more
        process.stdin.write(msgspec.json.encode(shard) + b"\n")
        process.stdin.flush()
    output: list[bytes] = [b"", b""]

    def reads(index: int) -> None:
        stream = (process.stdout, process.stderr)[index]
        assert stream is not None  # noqa: S101  # a pipe
        with stream:
            output[index] = stream.read()

    readers = [threading.Thread(target=reads, args=(index,), daemon=True) for index in (0, 1)]
    for reader in readers:
        reader.start()
    while any(reader.is_alive() for reader in readers):
        if cancelled() or time.monotonic() > limit:
            return b"", b""
        readers[0].join(_POLL_INTERVAL)
    return output[0], output[1]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Close the process's standard input, which ends it, and wait; kill it if it does not end."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main() -> None:
    """Explore the seed given on standard input and write its result to standard output."""
    with shutdown.guard():
        grpc_log.silence()
        shard = msgspec.json.decode(sys.stdin.buffer.readline(), type=Shard)
        threading.Thread(target=_end_with_the_parent, daemon=True, name="parent watch").start()
        result = explore_here(shard)
        shutdown.settle(0)
        sys.stdout.buffer.write(msgspec.json.encode(result))
        sys.stdout.buffer.flush()


def _end_with_the_parent() -> None:
    while os.read(sys.stdin.fileno(), 64):  # not buffered: Python may exit meanwhile
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
