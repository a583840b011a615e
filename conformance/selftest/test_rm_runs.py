"""Whole runs against resource managers that the kit starts or waits for."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from siconform.policy import ExitCode
from siconform.targets.process import free_address

from .commands import results_in, siconform

pytestmark = pytest.mark.end_to_end

WITHOUT_DRIVER = """
import sys, time
from siconform.protocol.requests import Registration
from siconform.recording.history import History
from siconform.transport.connection import Connection
from siwire import DEFAULT_REVISION
connection = Connection(sys.argv[1], DEFAULT_REVISION, "small", History())
connection.connects(60.0)
connection.registers(Registration("small", "1", "", ""), 60.0)
connection.opens_all()
time.sleep(600)
"""


def run(folder: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    """Run the suite for RMs; return exit code, results and output."""
    into = ("--target-file", "none", "--results", folder / "out")
    done = siconform("run", *words, "-n", "0", *into)
    return done.returncode, results_in(folder / "out"), done.stdout


def program(text: str, folder: Path) -> str:
    """Return the command line of an RM with this source."""
    file = folder / "rm.py"
    file.write_text(text)
    return shlex.join([sys.executable, str(file), "{address}"])


SIRM = """
from sirm.cli import main
main(["run", "--scheduler", sys.argv[1], "--driver", sys.argv[2]], prog_name="sirm")
"""
STOPS_BY_ITSELF = """
import sys
from sirm.core import confirmations
confirmations.confirmation = lambda container, began: confirmations.origination(container)
"""
NAMES_ANOTHER = """
import sys
from sirm.codec.codec import Codec
request = Codec._request
Codec._request = lambda codec, method, rm_id: request(codec, method, rm_id + "2")
"""
REQUIREMENTS = ("SI-REG-011", "SI-CONN-020", "SI-REL-008")


@pytest.mark.skipif(find_spec("sirm") is None, reason="the embedded RM is not installed")
def test_embedded_rm_passes(tmp_path: Path) -> None:
    code, results, _ = run(tmp_path, "--side", "rm", *REQUIREMENTS)

    assert code == ExitCode.OK
    assert results["counts"]["pass"] == len(REQUIREMENTS)


@pytest.mark.skipif(find_spec("sirm") is None, reason="the embedded RM is not installed")
@pytest.mark.parametrize(
    ("mutant", "requirement"), [(STOPS_BY_ITSELF, "SI-REL-008"), (NAMES_ANOTHER, "SI-CONN-020")]
)
def test_mutant_of_the_rm_is_detected(mutant: str, requirement: str, tmp_path: Path) -> None:
    command = f"{program(mutant + SIRM, tmp_path)} {{driver}}"
    code, results, shown = run(tmp_path, "--rm-command", command, requirement)

    failed = [one["id"] for one in results["requirements"] if one["verdict"] == "fail"]
    assert code == ExitCode.NON_CONFORMANT
    assert failed == [requirement]
    assert "this RM (indented: the kit" in shown


def test_requirements_that_need_a_driver_are_inconclusive_without_one(tmp_path: Path) -> None:
    command = program(WITHOUT_DRIVER, tmp_path)
    code, results, shown = run(tmp_path, "--rm-command", command, "SI-REL-008", "SI-WIRE-006")

    verdicts = {one["id"]: (one["verdict"], one["reason"]) for one in results["requirements"]}
    assert code == ExitCode.INCOMPLETE
    assert results["side"] == "rm"
    assert verdicts["SI-REL-008"][0] == "could-not-run"
    assert "needs a driver of the RM" in verdicts["SI-REL-008"][1]
    assert verdicts["SI-WIRE-006"][0] == "pass"
    assert "needs a driver of the RM" in shown


def test_rm_that_dies_at_its_start_is_reported_with_its_output(tmp_path: Path) -> None:
    dies = "import sys\nsys.exit('no licence')"
    code, results, shown = run(tmp_path, "--rm-command", program(dies, tmp_path), "SI-REG-011")

    sentence = "did not register: it ended with exit status 1: no licence"
    assert code == ExitCode.NOTHING_RAN
    assert sentence in results["sentence"]
    assert sentence in shown
    assert "no licence" in (tmp_path / "out" / "logs" / "target-main.log").read_text("utf-8")


def test_run_waits_for_an_rm_for_a_stated_time(tmp_path: Path) -> None:
    address = free_address()
    code, results, _ = run(tmp_path, "--listen", address, "--wait", "0.5", "SI-REG-011")

    assert code == ExitCode.NOTHING_RAN
    assert results["sentence"] == f"siconform: no RM connected to {address} within 0.5 s"
