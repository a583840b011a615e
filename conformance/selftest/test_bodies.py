"""The bodies of suite tests: requirements, steps and controls, and forbidden names."""

import ast
from pathlib import Path

import pytest
from selftest.bodies import Problem, cases_in, problems_in, problems_in_file
from siconform.catalogue import Side, catalogue
from siconform.running.index import suite_folder

SUITE = sorted(suite_folder().glob("test_*.py"))
SUITE_RM = sorted(suite_folder(Side.RM).glob("test_*.py"))

GOOD = '''
"""A module of the suite may speak of 2023-12 in its docstring."""
import pytest
from siconform.marks import requirement
from siconform.protocol.notifications import Allocated

@requirement("SI-NODE-001", "SI-NODE-002")
def test_good(rm):
    """And so may a test."""
    node = rm.has_node()
    rm.expect_none(Allocated(node=node))

@requirement("SI-NODE-001")
def test_with_its_control_behind(rm):
    rm.expect_none(Allocated())
    with rm.control("an ask that fits is allocated"):
        rm.expect(Allocated())
'''


def test_suite_files_exist() -> None:
    assert len(SUITE) >= 18
    assert sum(len(cases_in(ast.parse(file.read_text("utf-8")))) for file in SUITE) >= 250


@pytest.mark.parametrize(
    "file", [*SUITE, *SUITE_RM], ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_suite_bodies_have_no_problems(file: Path) -> None:
    found = problems_in_file(file, catalogue())

    assert not found, "\n".join(map(str, found))


def test_good_body_has_no_problems() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import grpc", "imports grpc"),
        ("import google.protobuf.message", "imports google.protobuf.message"),
        ("from google.protobuf import json_format", "imports google.protobuf"),
        ("from siwire import DEFAULT_REVISION", "imports siwire"),
        ("from siwire.r2023_12 import si_pb2", "imports siwire.r2023_12"),
        ("from sireference import core", "imports sireference"),
        (
            "from siconform.transport.dialects import dialect_for",
            "imports siconform.transport.dialects",
        ),
        ("import time", "imports time"),
        ("import threading as t", "imports threading"),
    ],
)
def test_foreign_import_is_a_problem(line: str, message: str) -> None:
    for place in (f"{GOOD}\n{line}\n", f"def helps():\n    {line}\n"):
        assert any(message in problem for problem in problems(place))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("time.sleep(1)", "sleeps: sleep"),
        ("sleep(0.1)", "sleeps: sleep"),
        ("rm.sleeps(0.1)", "sleeps: sleeps"),
        ("if rm.revision: pass", "asks for the revision: revision"),
        ("if DEFAULT_REVISION.name > 'x': pass", "asks for the revision: DEFAULT_REVISION"),
        ("rm.registers(revision='x')", "asks for the revision: revision"),
        ("rm.can(Capability.ASKS)", "asks for the revision: Capability"),
        ("rm.connection.dialect.method('x')", "asks for the revision: dialect"),
        ("if rm.speaks('2021-02'): pass", "names a revision: '2021-02'"),
        ("x = f'r2023_08 {rm}'", "names a revision: 'r2023_08 '"),
        ("assert rm.hears(1)", "asserts plainly"),
        ("rm._heard.add(1)", "reaches for the private _heard"),
        ("try: rm.synchronise_all()\n    except: pass", "catches whatever is raised"),
        ("try: rm.synchronise_all()\n    except Exception: pass", "catches whatever is raised"),
        (
            "try: rm.synchronise_all()\n    except (ValueError, BaseException) as e: pass",
            "catches whatever is raised",
        ),
        ("rm.expect_none(1)", "test_it has no control for expect_none"),
        ("rm.sees_no_preemption_of(1)", "test_it has no control for sees_no_preemption_of"),
        ("rm.stays_quiet(1)", "test_it has no control for stays_quiet"),
        ("rm.expect_none(1)\n    rm.expect(2)", "test_it has no control for expect_none"),
        ("a = rm.has_pending_ask(1)\n    rm.expect_none(a)", "has no control for expect_none"),
        ("for _ in 1, 2:\n        rm.expect_none(1)", "test_it has no control for expect_none"),
    ],
)
def test_bad_body_is_a_problem(body: str, message: str) -> None:
    (found,) = problems(f'@requirement("SI-NODE-001")\ndef test_it(rm):\n    {body}\n')

    assert message in found


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ("", "test_it cites no requirement"),
        ("@requirement()\n", "test_it cites no requirement"),
        ("@disruptive\n", "test_it cites no requirement"),
        ('@requirement("SI-NODE-999")\n', "cites 'SI-NODE-999', no requirement"),
        ('@requirement("SI-NODE-001", "SI-NODE-4")\n', "cites 'SI-NODE-4', no requirement"),
        ("@requirement(SOME)\n", "cites SOME, no requirement"),
    ],
)
def test_test_without_known_requirement_is_a_problem(marks: str, message: str) -> None:
    (found,) = problems(f"{marks}def test_it(rm):\n    rm.expect(1)\n")

    assert message in found


def test_problem_has_file_and_line() -> None:
    assert problems_in("import os\nimport grpc\n", "test_x.py", ()) == [
        Problem("test_x.py:2", "imports grpc")
    ]


def problems(source: str) -> list[str]:
    return [str(problem) for problem in problems_in(source, "test_x.py", catalogue())]
