"""The import graph is drawn as it is, and a circle or an import against the layers is named."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import import_graph
import pytest
from import_graph import (
    COMMAND,
    FOLDERS,
    PACKAGES,
    PAGE,
    ROOT,
    Arrow,
    Graph,
    against_layers,
    circle,
    contracts,
    inside,
    main,
    page,
    read,
)

LAYERS = {"type": "layers", "id": "order", "containers": ["little"], "layers": ["a", "b | c"]}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return read(PACKAGES, [ROOT / folder for folder in FOLDERS])


@pytest.fixture
def little(tmp_path: Path) -> Iterator[Path]:
    """A package whose module a imports b, and b nothing."""
    path = list(sys.path)
    (tmp_path / "little").mkdir()
    for name, text in (("__init__", ""), ("a", "from little import b\n"), ("b", ""), ("c", "")):
        (tmp_path / "little" / f"{name}.py").write_text(text)
    yield tmp_path
    sys.path[:] = path


def test_modules_import_each_other_in_no_circle(graph: Graph) -> None:
    assert circle(graph.arrows) == []


def test_no_import_leads_up_in_the_layers(graph: Graph) -> None:
    assert against_layers(graph, contracts()) == []


def test_the_committed_page_is_what_the_imports_say(graph: Graph) -> None:
    assert PAGE.read_text("utf-8") == page(graph, []), f"run {COMMAND}"


def test_a_package_without_a_circle_has_its_imports_counted(little: Path) -> None:
    found = read(["little"], [little])

    assert found.arrows == {Arrow("little.a", "little.b")}
    assert circle(found.arrows) == []
    assert "- Modules: no circle." in page(found, [])


@pytest.mark.parametrize(
    ("text", "for_types"),
    [
        ("from little import a\n", 0),
        ("def late():\n    import little.a\n", 0),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import little.a\n", 1),
    ],
    ids=["at the top", "in a function", "while types are checked"],
)
def test_a_circle_is_found_wherever_the_import_stands(
    little: Path, text: str, for_types: int
) -> None:
    (little / "little" / "b.py").write_text(text)
    found = read(["little"], [little])

    assert circle(found.arrows) == ["little.a", "little.b", "little.a"]
    assert "- Modules: circle little.a → little.b → little.a." in page(found, [])
    assert found.for_types == for_types


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from little import a\n", ["little.b imports little.a, which is above it (order)"]),
        ("from little import c\n", []),
    ],
)
def test_an_import_of_a_higher_layer_is_named(little: Path, text: str, said: list[str]) -> None:
    (little / "little" / "b.py").write_text(text)
    rules: list[Mapping[str, object]] = [LAYERS, {"type": "forbidden"}]

    assert against_layers(read(["little"], [little]), rules) == said


def test_packages_are_groups_of_what_stands_in_them() -> None:
    arrows = frozenset({Arrow("p.a.x", "p.b"), Arrow("p.a.y", "p.b"), Arrow("p.a.x", "p.a.y")})
    counts = Graph(frozenset(), arrows).between(inside("p"))

    assert counts == {Arrow("p.a", "p.b"): 2}


def test_the_check_writes_nothing_and_fails_on_a_difference(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    graph: Graph,
) -> None:
    monkeypatch.setattr(import_graph, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(import_graph, "read", lambda *_: graph)  # which takes seconds

    assert main(["--check"]) == 1
    assert "differs from the imports" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0
