"""Asks a fork server for a process, and hears how it ends.

Run as a script, ``fork_client.py SOCKET WORDS...`` stands for ``python WORDS...``: what it is told
goes to the forked process and so does what that says, and it ends with its exit code. Where no
server answers, it becomes Python itself. Only the standard library and no imports from this
package: it has to start in a few milliseconds.
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

NUMBER = 4  # bytes of each number that is sent
_ANSWER = 30.0  # seconds within which a server answers; it may be importing yet
_KILLED = 128  # and the number of a signal, as a shell says it


class Refused(OSError):
    """No server answers there."""


class ForkedProcess:
    """A process of a fork server, with what of ``subprocess.Popen`` the kit uses.

    ``stdin`` and ``stdout`` are None where streams of the caller's own are passed on.
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
        """One that is supervised, see supervisor.py: with pipes as standard input and output."""
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
        """Return the exit code, None while the process runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: "float | None" = None) -> int:
        """Return the exit code; subprocess.TimeoutExpired when it does not end in time."""
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
    """Whether anybody can still read what is written to this descriptor."""
    poll = select.poll()
    poll.register(output, 0)
    return not any(event & select.POLLERR for _, event in poll.poll(0))


def main(arguments: "list[str]") -> int:
    """Run one program with this process's own streams; its exit code."""
    server, words = arguments[0], arguments[1:]
    try:
        process = ForkedProcess(server, words, (0, 1, 2))
    except Refused:
        if not is_observed():
            return 1  # server and starter were killed
        os.execv(sys.executable, [sys.executable, *words])  # noqa: S606  # as it stands for that
    for stream in (0, 1):
        os.close(stream)
    code = process.wait()
    return code if code >= 0 else _KILLED - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
