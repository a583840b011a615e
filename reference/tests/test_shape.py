"""What is longer than the house rules want is named, unless there is a reason."""

from pathlib import Path

import pytest
import shape
from shape import Heir, Piece, classes, files, functions, measure, objections

SOURCE = """\
class A:
    @decorated
    def method(self) -> None:
        def inside() -> None:
            pass


async def function() -> None:
    pass
"""


def test_functions_are_measured_with_all_that_is_theirs() -> None:
    assert sorted(functions("f.py", SOURCE)) == [
        Piece(2, "f.py::A.method.inside"),
        Piece(2, "f.py::function"),
        Piece(4, "f.py::A.method"),
    ]


def test_the_longest_come_first(tmp_path: Path) -> None:
    (tmp_path / "package" / "below").mkdir(parents=True)
    (tmp_path / "package" / "a.py").write_text(SOURCE)
    (tmp_path / "package" / "below" / "b.py").write_text(SOURCE + "x = 1\n")
    (tmp_path / "other.py").write_text(SOURCE)

    of_files, of_functions = measure(tmp_path, files(tmp_path, ["package"]))

    assert of_files == [Piece(10, "package/below/b.py"), Piece(9, "package/a.py")]
    assert of_functions[0] == Piece(4, "package/below/b.py::A.method")


@pytest.mark.parametrize(
    ("of_files", "of_functions", "reasons", "said"),
    [
        (350, 45, {}, []),
        (351, 45, {}, ["f has 351 lines"]),
        (350, 46, {}, ["f::g has 46 lines"]),
        (351, 46, {"f": "why", "f::g": "why"}, []),
        (350, 45, {"f": "why"}, ["f needs no reason"]),
    ],
)
def test_what_is_too_long_needs_a_reason(
    of_files: int, of_functions: int, reasons: dict[str, str], said: list[str]
) -> None:
    pieces = [Piece(of_files, "f")], [Piece(of_functions, "f::g")]

    assert objections(*pieces, [], reasons) == said


def test_a_file_of_tests_may_be_longer() -> None:
    code, tests = Piece(500, "reference/sireference/f.py"), Piece(500, "reference/tests/f.py")

    assert objections([code, tests], [], [], {}) == ["reference/sireference/f.py has 500 lines"]


BASES = """\
class A: ...
class B(Protocol): ...
class C(Generic[T]): ...
class Two(A, module.B, Protocol, Enum): ...
class Three(A, B, C[int]): ...
"""


def test_a_class_is_known_by_those_of_its_bases_that_are_ours(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(BASES)
    found = classes(tmp_path, [tmp_path / "f.py"])

    assert found[3:] == [Heir("f.py::Two", ("A", "B")), Heir("f.py::Three", ("A", "B", "C"))]
    assert objections([], [], found, {}) == ["f.py::Three inherits from A, B, C"]
    assert objections([], [], found, {"f.py::Three": "why"}) == []


def test_the_packages_are_where_they_are_looked_for() -> None:
    for package in (*shape.CODE, *shape.TESTS):
        assert list(files(shape.ROOT, [package]))
