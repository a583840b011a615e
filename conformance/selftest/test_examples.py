"""The example schedulers of docs/writing-a-scheduler.md, in Python and Go."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from siconform.shipped import CHECKOUT

from .commands import finished, results_in, siconform

BUILT_WITHIN: Final = 600.0  # seconds; the first time the libraries are compiled
EXAMPLES: Final = CHECKOUT / "fixtures" / "examples"
GO_SETTINGS: Final = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "", "CGO_ENABLED": "0"}
VERDICTS: Final = {"pass": 34, "not-applicable": 2, "of-the-rm": 3}
"""Requirements of the area NODE with each verdict."""

pytestmark = [pytest.mark.end_to_end, pytest.mark.timeout(BUILT_WITHIN + 200)]


@pytest.fixture(scope="module", params=["python", "go"])
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of an example, built."""
    folder = tmp_path_factory.mktemp("example")
    if request.param == "go":
        return [_built_with_go(folder)]
    proto = CHECKOUT / "proto" / "si" / "2024-10"
    protoc = [sys.executable, "-m", "grpc_tools.protoc", f"-I{proto}", "si.proto"]
    out = [f"--python_out={folder}", f"--grpc_python_out={folder}"]
    subprocess.run([*protoc, *out], check=True)  # noqa: S603  # our own words
    shutil.copy(EXAMPLES / "minimal_scheduler" / "scheduler.py", folder)
    return [sys.executable, str(folder / "scheduler.py")]


def _built_with_go(folder: Path) -> str:
    if shutil.which("go") is None:
        pytest.skip("needs Go on PATH")
    binary = str(folder / "minimal-scheduler")
    subprocess.run(  # noqa: S603  # our own words
        ["go", "build", "-mod=readonly", "-buildvcs=false", "-o", binary, "."],  # noqa: S607  # found by PATH
        cwd=EXAMPLES / "minimal_scheduler_go",
        env=os.environ | GO_SETTINGS,
        timeout=BUILT_WITHIN,
        check=True,
    )
    return binary


@pytest.mark.slow("tests the whole area NODE")
def test_example_conforms_in_nodes(example: list[str], tmp_path: Path) -> None:
    command = f"{shlex.join(example)} --listen {{address}}"
    run = ("run", "NODE", "--target-command", command, "--results", tmp_path)
    done = siconform(*run, "--no-reference", "-q", cwd=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    found = results_in(tmp_path)["requirements"]
    verdicts = [one["verdict"] for one in found if one["id"].startswith("SI-NODE-")]
    assert {verdict: verdicts.count(verdict) for verdict in verdicts} == VERDICTS


def test_example_refuses_addresses_of_the_network(example: list[str]) -> None:
    done = finished([*example, "--listen", "0.0.0.0:0"])

    assert done.returncode != 0
    assert "this example has no access control" in done.stderr
    assert done.stdout == ""
