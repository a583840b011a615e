"""Faulty schedulers: each fault is made, and noticed by whom it concerns."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from proof import known
from proof.fault import CHANGES, Change, Wire, fault, keep
from proof.known import MODULES, load
from proof.proxy import NONE, reference
from siconform.catalogue import catalogue
from siwire import DEFAULT_REVISION
from siwire.r2023_12 import si_pb2 as si

load()
AREAS = {requirement.area for requirement in catalogue().values()}


def test_every_module_that_makes_changes_is_known_by_name() -> None:
    folder = Path(known.__file__).parent
    for package, modules in MODULES.items():
        files = (folder / package.partition(".")[2]).glob("*.py")
        assert sorted(modules) == sorted(f.stem for f in files if f.stem != "__init__")


def test_faults_are_described() -> None:
    assert [one.name for one in CHANGES.values() if not one.says.endswith(".")] == []
    faults = [one for one in CHANGES.values() if not one.is_liberty]
    assert [one.name for one in faults if not one.breaks] == []
    assert {area for one in CHANGES.values() for area in one.areas} <= AREAS


def test_what_a_fault_breaks_is_in_the_catalogue_of_its_revision() -> None:
    wrong = [
        (one.name, identifier)
        for one in CHANGES.values()
        for identifier in one.breaks
        if identifier not in catalogue()
        or one.revision not in {str(name) for name in catalogue()[identifier].revisions}
    ]

    assert wrong == []


def test_two_faults_of_one_name_are_refused() -> None:
    def nothing(response: si.NodeResponse) -> None:
        del response

    with pytest.raises(ValueError, match="two schedulers drain-ignored"):
        fault("drain-ignored", "Again.", "NODE")(nothing)


def test_who_is_judged_by_which_areas() -> None:
    faulty = Change("x", "X.", breaks=("SI-NODE-001", "SI-NODE-002"), more_areas=("RES", "NODE"))

    assert faulty.areas == ("NODE", "RES")
    assert Change("y", "Y.", is_liberty=True).areas == ()


def test_what_is_inside_is_altered_in_the_reference_and_the_rest_on_the_wire() -> None:
    on_the_wire, inside = CHANGES["drain-ignored"], CHANGES["pass-each-half-second"]
    plain = reference(NONE, DEFAULT_REVISION)

    assert reference(on_the_wire, DEFAULT_REVISION) == plain
    assert "pass-each-half-second+" in reference(inside, DEFAULT_REVISION)
    assert "+pass-each-half-second" in reference(on_the_wire, DEFAULT_REVISION, beside=inside)
    assert (on_the_wire.is_on_the_wire, on_the_wire.is_inside) == (True, False)
    assert (inside.is_on_the_wire, inside.is_inside) == (False, True)


def test_what_is_different_is_hashed_with_the_file_that_makes_it() -> None:
    assert [file.name for file in CHANGES["drain-ignored"].sources] == ["changes.py"]
    assert [file.name for file in CHANGES["pass-each-half-second"].sources] == ["pace.py"]


def test_what_is_not_wanted_goes() -> None:
    numbers = [1, 2, 3, 4]

    gone = keep(numbers, lambda number: number % 2 == 0)

    assert (numbers, gone) == ([2, 4], [1, 3])


def test_a_fault_changes_a_message_in_place() -> None:
    said: list[Any] = []
    request = si.NodeRequest(nodes=[si.NodeInfo(nodeID="n", action=si.NodeInfo.DRAIN_NODE)])

    CHANGES["drain-ignored"].change(request, Wire(said.append, said.append, defaultdict(set)))

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
