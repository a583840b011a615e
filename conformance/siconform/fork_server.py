"""Fork server: starts Python programs by forking a process that has imported what they need.

``python -c PROGRAM FD NAME`` imports NAME, a module or a function to call (``module:function``),
and serves on the inherited listening Unix socket FD. A program starts in a tenth of the usual time.
Standard input is a lifeline: the server ends when its starter closes the other end.

``fork_client`` is the client. A request is its length and a JSON array, with the three standard
streams as ancillary data; the responses are two numbers, the process id and finally the exit code.
If the client disconnects first, the process gets SIGTERM.
"""

import gc
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from siconform import supervisor
from siconform.fork_client import NUMBER, is_observed

PROGRAM: Final = "from siconform.fork_server import main; main()"
_STREAMS: Final = 3  # standard input, output and error
_server_pid = 0


class Request(NamedTuple):
    """A program to start; the JSON array has the same order."""

    words: list[str]  # command line after "python"
    folder: str
    environment: dict[str, str]
    grace: float | None  # seconds, for a supervised program (supervisor.py); None: unsupervised


def _number(value: int) -> bytes:
    """Encode a number for transmission."""
    return value.to_bytes(NUMBER, "big", signed=True)


def parent_or(pid: int) -> int:
    """Return the id of the fork server that forked this process, else ``pid``."""
    return _server_pid or pid


def main() -> None:
    """Import NAME, call it if it is a function, and serve."""
    descriptor, name = sys.argv[1:]
    preloaded = pkgutil.resolve_name(name)
    if callable(preloaded):
        preloaded()
    run(serve(socket.socket(fileno=int(descriptor))))


def serve(listener: socket.socket) -> list[str]:
    """Fork for each request until the lifeline closes; return the words in a forked process."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # else each forked process would write the buffer again
    gc.collect()
    gc.freeze()  # keep shared memory pages unmodified
    return _Server(listener).serve()


def run(words: list[str]) -> None:
    """Do what ``python`` does with these words: [-u] [-P] and either -c PROGRAM or -m MODULE.

    If nothing reads its output any more, because the run was killed, exit without a traceback.
    """
    while words[0] in ("-u", "-P"):
        words = words[1:]
    flag, program, *arguments = words
    sys.argv = [flag, *arguments]
    if flag == "-c":
        output = os.dup(1)  # pytest-xdist workers replace it
        try:
            exec(program, {"__name__": "__main__"})  # noqa: S102  # as python does
        except Exception:
            if is_observed(output):
                raise
            sys.exit(1)
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


class _Server:
    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._children: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._ended, self._waker = os.pipe()

    def serve(self) -> list[str]:
        os.set_blocking(self._waker, False)
        os.set_blocking(self._ended, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for source in (sys.stdin.fileno(), self._ended, self._listener.fileno()):
            self._selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                words = self._observe(key)
                if words is not None:
                    return words

    def _observe(self, key: selectors.SelectorKey) -> list[str] | None:
        if key.fd == sys.stdin.fileno():
            self._ends()
        if key.fd == self._listener.fileno():
            client, _ = self._listener.accept()
            return self._starts(client)
        if key.fd == self._ended:
            with suppress(BlockingIOError):
                os.read(self._ended, 512)
            self._reaps()
        else:
            self._loses(key.data)
        return None

    def _ends(self) -> NoReturn:
        """Exit; remove the socket and its folder, in case the starter was killed."""
        socket_file = Path(self._listener.getsockname())
        with suppress(OSError):
            socket_file.unlink()
            socket_file.parent.rmdir()
        os._exit(0)

    def _starts(self, client: socket.socket) -> list[str] | None:
        try:
            request, streams = _received(client)
        except (OSError, ValueError, TypeError):
            client.close()  # disconnected, or not a client of ours
            return None
        pid = os.fork()
        if pid == 0:
            client.close()
            return self._becomes(request, streams)
        for stream in streams:
            os.close(stream)
        self._children[pid] = client
        self._selector.register(client, selectors.EVENT_READ, pid)
        with suppress(OSError):
            client.sendall(_number(pid))
        return None

    def _becomes(self, request: Request, streams: list[int]) -> list[str]:
        """Release the server's resources in the forked process."""
        global _server_pid  # noqa: PLW0603  # per process
        _server_pid = os.getppid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for owned in (self._listener, *self._children.values()):
            owned.close()
        os.close(self._ended)
        os.close(self._waker)
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
            os.close(stream)
        os.chdir(request.folder)
        os.environ.clear()
        os.environ.update(request.environment)
        if request.grace is not None:
            os.setsid()
            supervisor.fork_supervised(request.grace)
        return request.words

    def _reaps(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                pid, status = ended
                client = self._children.pop(pid, None)
                if client is not None:
                    self._selector.unregister(client)
                    with suppress(OSError):
                        client.sendall(_number(os.waitstatus_to_exitcode(status)))
                    client.close()

    def _loses(self, pid: int) -> None:
        """Terminate the process whose client disconnected."""
        client = self._children.pop(pid)
        self._selector.unregister(client)
        client.close()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def _received(client: socket.socket) -> tuple[Request, list[int]]:
    size, streams, _, _ = socket.recv_fds(client, NUMBER, _STREAMS)
    content = b""
    length = int.from_bytes(size, "big", signed=True)
    while len(content) < length:
        part = client.recv(length - len(content))
        if not part:
            raise ConnectionResetError
        content += part
    received: list[Any] = json.loads(content)
    return Request(*received), streams
