"""What ``shutdown.guard()`` does with a signal that Python would lose."""

import subprocess
import sys

from patience import patient

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
    print("went on", flush=True)
    time.sleep(100)
"""


def test_an_interrupt_in_a_weak_reference_callback_is_not_lost() -> None:
    done = subprocess.run(  # noqa: S603  # our own script
        [sys.executable, "-c", DISCARDED],
        capture_output=True,
        text=True,
        timeout=patient(),
        check=False,
    )

    assert done.returncode == 2
    assert done.stdout == "went on\n"
    assert done.stderr == "siconform: interrupted (SIGTERM)\n"
