"""Faulty schedulers: each fault is made, and noticed by whom it concerns."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from proof.fault import FAULTS, Wire, fault, keep
from proof.faults import load
from siconform.catalogue import catalogue
from siwire.r2023_12 import si_pb2 as si

load()
AREAS = {requirement.area for requirement in catalogue().values()}


def test_faults_are_described() -> None:
    assert [one.name for one in FAULTS.values() if not one.breaks.endswith(".")] == []
    assert [one.name for one in FAULTS.values() if not {*one.areas} & AREAS] == []
    assert {area for one in FAULTS.values() for area in one.areas} <= AREAS


def test_two_faults_of_one_name_are_refused() -> None:
    def nothing(response: si.NodeResponse) -> None:
        del response

    with pytest.raises(ValueError, match="two faults drain-ignored"):
        fault("drain-ignored", "Again.", "NODE")(nothing)


def test_what_is_not_wanted_goes() -> None:
    numbers = [1, 2, 3, 4]

    gone = keep(numbers, lambda number: number % 2 == 0)

    assert (numbers, gone) == ([2, 4], [1, 3])


def test_a_fault_changes_a_message_in_place() -> None:
    said: list[Any] = []
    request = si.NodeRequest(nodes=[si.NodeInfo(nodeID="n", action=si.NodeInfo.DRAIN_NODE)])

    FAULTS["drain-ignored"].change(request, Wire(said.append, said.append, defaultdict(set)))

    assert list(request.nodes) == []
    assert said == []


@pytest.mark.parametrize(
    ("name", "requirement", "verdict"),
    [
        ("none", "SI-NODE-002", "pass"),
        ("node-accepted-twice", "SI-NODE-002", "fail"),
        ("confirmation-not-awaited", "SI-GANG-020", "fail"),
    ],
)
def test_a_fault_is_noticed(name: str, requirement: str, verdict: str, tmp_path: Path) -> None:
    proxy = f"{sys.executable} -P -m proof.proxy {name} --listen {{address}}"
    run = [sys.executable, "-m", "siconform", "run", "--target-command", proxy]
    results = tmp_path / "out"

    subprocess.run(  # noqa: S603  # ourselves
        [*run, "-k", requirement, "--results", str(results)], check=False, timeout=100
    )

    read = json.loads((results / "results.json").read_text("utf-8"))
    (found,) = [one for one in read["requirements"] if one["id"] == requirement]
    assert found["verdict"] == verdict
