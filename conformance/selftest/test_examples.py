"""The example schedulers of docs/writing-a-scheduler.md pass what the page states."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from patience import patient
from siconform.shipped import CHECKOUT

pytestmark = pytest.mark.end_to_end

EXAMPLES: Final = CHECKOUT / "fixtures" / "examples"
BUILT_WITHIN: Final = 600.0  # seconds; the first time the libraries are compiled
NODE: Final = {"pass": 34, "not-applicable": 2, "of-the-rm": 3}
GO_SETTINGS: Final = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "", "CGO_ENABLED": "0"}


def verdicts_on_nodes(command: str, folder: Path) -> dict[str, int]:
    """Return how many requirements of the area NODE have each verdict."""
    line = (sys.executable, "-m", "siconform", "run", "--area", "NODE", "--target-command", command)
    done = subprocess.run(  # noqa: S603  # our own words
        [*line, "--results", str(folder / "results"), "-q", "--no-reference"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=patient(100),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((folder / "results" / "results.json").read_text("utf-8"))
    tested = [r["verdict"] for r in results["requirements"] if r["id"].startswith("SI-NODE-")]
    return {verdict: tested.count(verdict) for verdict in set(tested)}


@pytest.mark.slow("tests the whole area NODE")
def test_python_example_conforms_in_nodes(tmp_path: Path) -> None:
    proto = CHECKOUT / "proto" / "si" / "2024-10"
    protoc = (sys.executable, "-m", "grpc_tools.protoc", f"-I{proto}", "si.proto")
    out = (f"--python_out={tmp_path}", f"--grpc_python_out={tmp_path}")
    subprocess.run([*protoc, *out], check=True)  # noqa: S603  # our own words
    shutil.copy(EXAMPLES / "minimal_scheduler" / "scheduler.py", tmp_path)

    verdicts = verdicts_on_nodes(
        f"{shlex.quote(sys.executable)} scheduler.py --listen {{address}}", tmp_path
    )

    assert verdicts == NODE


@pytest.mark.slow("builds with Go and tests the whole area NODE")
@pytest.mark.timeout(BUILT_WITHIN + 200)
@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go on PATH")
def test_go_example_conforms_in_nodes(tmp_path: Path) -> None:
    binary = tmp_path / "minimal-scheduler"
    subprocess.run(  # noqa: S603  # our own words
        ["go", "build", "-mod=readonly", "-buildvcs=false", "-o", str(binary), "."],  # noqa: S607  # found by PATH
        cwd=EXAMPLES / "minimal_scheduler_go",
        env=os.environ | GO_SETTINGS,
        timeout=BUILT_WITHIN,
        check=True,
    )

    verdicts = verdicts_on_nodes(f"{shlex.quote(str(binary))} --listen {{address}}", tmp_path)

    assert verdicts == NODE
