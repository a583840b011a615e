"""Client of a fork server: requests a process and waits for its exit code.

Run as a script, ``fork_client.py SOCKET WORDS...`` stands for ``python WORDS...``: the forked
process gets the standard streams of the script, which exits with its code. If no server answers,
the script becomes Python itself. Only the standard library and no imports from this package: it has
to start in a few milliseconds.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import IO

NUMBER = 4  # bytes of each transmitted number
_ANSWER = 30.0  # seconds within which a server answers; it may still be importing
_KILLED = 128  # plus the number of the signal, as in a shell


class Refused(OSError):
    """No fork server answers."""


class ForkedProcess:
    """A process of a fork server, with the part of ``subprocess.Popen`` that the kit uses.

    ``stdin`` and ``stdout`` are None if the caller passed its own streams.
    """

    def __init__(
        self,
        server: str,
        words: "list[str]",
        streams: "tuple[int, int, int]",
        *,
        folder: "str | os.PathLike[str] | None" = None,
        grace: "float | None" = None,
    ) -> None:
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.returncode: int | None = None
        place = str(folder or os.getcwd())  # noqa: PTH109  # few imports
        received = json.dumps([words, place, dict(os.environ), grace]).encode()
        self._server = socket.socket(socket.AF_UNIX)
        try:
            self._server.settimeout(_ANSWER)
            self._server.connect(server)
            socket.send_fds(self._server, [len(received).to_bytes(NUMBER, "big")], streams)
            self._server.sendall(received)
            pid = self._received()
        except OSError:
            pid = None
        if pid is None:
            self._server.close()
            raise Refused(f"no fork server answers on {server}")
        self.pid: int = pid

    @classmethod
    def piped(
        cls,
        server: str,
        words: "list[str]",
        stderr: int,
        folder: "str | os.PathLike[str] | None",
        grace: float,
    ) -> "ForkedProcess":
        """Start a supervised process (supervisor.py) with pipes as standard input and output."""
        their_input, ours = os.pipe()
        sent, their_output = os.pipe()
        try:
            process = cls(
                server, words, (their_input, their_output, stderr), folder=folder, grace=grace
            )
        except Refused:
            os.close(ours)
            os.close(sent)
            raise
        finally:
            os.close(their_input)
            os.close(their_output)
        process.stdin = os.fdopen(ours, "wb")
        process.stdout = os.fdopen(sent, "rb")
        return process

    def poll(self) -> "int | None":
        """Return the exit code, or None while the process runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: "float | None" = None) -> int:
        """Return the exit code, or raise subprocess.TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._server], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            code = self._received()
            self._server.close()
            self.returncode = -signal.SIGKILL if code is None else code  # the server was killed
        return self.returncode

    def kill(self) -> None:
        """Send SIGKILL."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _received(self) -> "int | None":
        content = b""
        while len(content) < NUMBER:
            part = self._server.recv(NUMBER - len(content))
            if not part:
                return None
            content += part
        return int.from_bytes(content, "big", signed=True)


def is_observed(output: int = 1) -> bool:
    """Return whether the other end of this descriptor is still open."""
    poll = select.poll()
    poll.register(output, 0)
    return not any(event & select.POLLERR for _, event in poll.poll(0))


def main(arguments: "list[str]") -> int:
    """Run a program with the streams of this process and return its exit code."""
    server, words = arguments[0], arguments[1:]
    try:
        process = ForkedProcess(server, words, (0, 1, 2))
    except Refused:
        if not is_observed():
            return 1  # the server and its starter were killed
        os.execv(sys.executable, [sys.executable, *words])  # noqa: S606  # this process stands for Python
    for stream in (0, 1):
        os.close(stream)
    code = process.wait()
    return code if code >= 0 else _KILLED - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
