"""``shutdown.guard()`` handles signals that Python would lose."""

import pytest

from .commands import python

DISCARDED = """
import os, signal, time, weakref
from siconform import shutdown

class Referent: pass

def callback(_):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(1)  # the handler raises here, and Python discards what a callback raises

with shutdown.guard():
    referent = Referent()
    reference = weakref.ref(referent, callback)
    del referent
    os.write(1, b"went on\\n")
    time.sleep(100)
"""


HALF_DONE = """
import os, signal, time
from siconform import shutdown

class Opened:
    def __del__(self): raise ResourceWarning("unclosed file")

with shutdown.guard():
    opened = Opened()
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(100)
    finally:
        del opened
"""


ERROR_AFTERWARDS = """
import os, signal, time
from siconform import internal_errors, shutdown

with shutdown.guard(), internal_errors.crashes():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(100)
    except KeyboardInterrupt:
        raise AssertionError("plugin is not registered")
"""


STUCK = """
import os, signal, time
from siconform import shutdown

shutdown.GRACEFUL = 0.3
with shutdown.guard():
    shutdown.report_if_killed("INCOMPLETE: interrupted, 0 of 3 requirements")
    CODE
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(100)
    finally:
        time.sleep(100)
"""


STARTED_MEANWHILE = """
import os, signal, subprocess, sys, threading, time
from siconform import shutdown

REPORTS = '''
import os, signal, time
def report(*_):
    os.write(1, b"terminated.")
    os._exit(0)
signal.signal(signal.SIGTERM, report)
os.write(1, b"started.")
time.sleep(100)
'''
IGNORES = "import signal, time; signal.signal(15, signal.SIG_IGN); print(); time.sleep(2)"

def later():
    time.sleep(0.2)
    subprocess.Popen([sys.executable, "-c", REPORTS])

with shutdown.guard():
    first = subprocess.Popen([sys.executable, "-uc", IGNORES], stdout=subprocess.PIPE)
    first.stdout.readline()
    threading.Thread(target=later, daemon=True).start()
    os.kill(os.getpid(), signal.SIGTERM)
"""


TO_ANOTHER_THREAD = """
import signal, threading, time
from siconform import shutdown

shutdown.GRACEFUL = 20
def later():
    time.sleep(0.2)  # the main thread waits for the lock
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    time.sleep(100)

with shutdown.guard():
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=later, daemon=True).start()
    lock.acquire()
"""


def test_interrupt_in_weakref_callback_is_not_lost() -> None:
    done = python("-c", DISCARDED)

    assert done.returncode == 2
    assert done.stdout == "went on\n"
    assert done.stderr == "siconform: interrupted (SIGTERM)\n"


@pytest.mark.parametrize(
    ("script", "sent"),
    [(HALF_DONE, "SIGTERM"), (ERROR_AFTERWARDS, "SIGTERM"), (TO_ANOTHER_THREAD, "SIGINT")],
    ids=["error caused by it", "error after it", "signal to another thread"],
)
def test_interrupt_alone_is_reported(script: str, sent: str) -> None:
    done = python("-c", script)

    assert done.returncode == 2
    assert done.stderr == f"siconform: interrupted ({sent})\n"


def test_child_started_after_the_signal_is_terminated() -> None:
    done = python("-c", STARTED_MEANWHILE)

    assert done.returncode == 2
    assert done.stderr == "siconform: interrupted (SIGTERM)\n"
    assert done.stdout in {"started.terminated.", "terminated.", ""}  # if terminated earlier


@pytest.mark.parametrize(
    ("settled", "code", "received"),
    [("", 2, ["INCOMPLETE: interrupted, 0 of 3 requirements"]), ("shutdown.settle(1)", 1, [])],
)
def test_killed_process_reports_state(settled: str, code: int, received: list[str]) -> None:
    ended = python("-c", STUCK.replace("CODE", settled))

    killed, *others = ended.stderr.splitlines()
    assert killed == "siconform: interrupted (SIGTERM), killed after 0.3 s"
    assert others == [f"siconform: {sentence}" for sentence in received]
    assert ended.returncode == code


DURING_IMPORT = """
import os, signal, sys
from importlib.abc import MetaPathFinder

module, sent = sys.argv[1:]

class Interrupts(MetaPathFinder):
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), signal.Signals[sent])

sys.meta_path.insert(0, Interrupts())
from siconform.__main__ import main
sys.argv[1:] = ["run", "--target", "127.0.0.1:1", "--wait", "9"]
main()
"""


@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    ("module", "done"),
    [
        ("siconform.shutdown", "nothing was done"),
        ("ctypes", "nothing was done"),
        ("siconform.cli", "nothing was done"),
        ("siconform.commands.launching", "nothing was tested"),
        ("siconform.running.run_controller", "nothing was tested"),
    ],
)
def test_interrupt_during_imports_is_one_sentence(module: str, done: str, sent: str) -> None:
    ended = python("-c", DURING_IMPORT, module, sent)

    assert ended.stderr == f"siconform: interrupted ({sent}): {done}\n"
    assert ended.returncode == 2
    assert ended.stdout == ""
