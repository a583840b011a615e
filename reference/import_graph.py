# ruff: noqa: INP001  # a script, not part of the package
"""Writes docs/import-graph.md: which package imports which, and that no circle is among them.

python reference/import_graph.py [--check]

Every import counts: those inside functions and those made while types are checked as well. With
`--check` nothing is written; the exit code is 1 when the committed page differs, or when modules
import each other in a circle or against the layers of pyproject.toml.
"""

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final, NamedTuple

import grimp
import msgspec

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "import-graph.md"
COMMAND: Final = "python reference/import_graph.py"
FOLDERS: Final = ("proto", "reference", "conformance")
PACKAGES: Final = ("siwire", "sireference", "siconform", "proof")

_INTRODUCTION: Final = """\
An arrow leads from a package to one it imports, or from or to a module that stands beside packages;
its number says how many modules of the one import how many modules of the other (each pair once).
An arrow that a longer way implies is left out of the diagram and stands in the table below it.
`nox -s contracts` holds the layers of `pyproject.toml`; this page shows what they allow."""


class Arrow(NamedTuple):
    """One that imports, and what it imports."""

    importer: str
    imported: str


Arrows = Mapping[Arrow, int]
Group = Callable[[str], str | None]
"""The group a module belongs to; None where it belongs to none."""


@dataclass(frozen=True)
class Graph:
    """Modules, who imports whom of them, and how many of that only while types are checked."""

    modules: frozenset[str]
    arrows: frozenset[Arrow]
    for_types: int = 0

    def between(self, group: Group) -> Arrows:
        """How many imports lead from one group of modules to another."""
        counts: Counter[Arrow] = Counter()
        for importer, imported in self.arrows:
            one, other = group(importer), group(imported)
            if one and other and one != other:
                counts[Arrow(one, other)] += 1
        return counts

    def packages(self) -> list[str]:
        """Everything that has modules in it."""
        return sorted({module.rpartition(".")[0] for module in self.modules} - {""})


def read(packages: Sequence[str], folders: Iterable[Path]) -> Graph:
    """The graph of these packages, which are in these folders."""
    sys.path[:0] = [str(folder) for folder in folders if str(folder) not in sys.path]
    everything = _graph(packages, without_types=False)
    without_types = _graph(packages, without_types=True)
    lost = len(everything.arrows) - len(without_types.arrows)
    return Graph(everything.modules, everything.arrows, for_types=lost)


def _graph(packages: Sequence[str], *, without_types: bool) -> Graph:
    built = grimp.build_graph(
        *packages, cache_dir=None, exclude_type_checking_imports=without_types
    )
    arrows = {
        Arrow(module, imported)
        for module in built.modules
        for imported in built.find_modules_directly_imported_by(module)
    }
    return Graph(frozenset(built.modules), frozenset(arrows))


def circle(arrows: Iterable[Arrow]) -> list[str]:
    """Those who import each other in a circle, from one to itself; empty where there is none."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for importer, imported in sorted(arrows):
        sorter.add(importer, imported)
    try:
        sorter.prepare()
    except CycleError as found:
        return list(reversed(found.args[1]))
    return []


def inside(package: str) -> Group:
    """Groups modules by what stands directly in this package."""
    depth = package.count(".") + 2

    def group(module: str) -> str | None:
        if module != package and not module.startswith(f"{package}."):
            return None
        return ".".join(module.split(".")[:depth])

    return group


def against_layers(graph: Graph, contracts: Iterable[Mapping[str, object]]) -> list[str]:
    """A sentence for each import of a lower layer that leads to a higher one."""
    layered = [one for one in contracts if one["type"] == "layers"]
    return [said for one in layered for said in _against(graph, msgspec.convert(one, Layers))]


class Layers(msgspec.Struct):
    """A contract of import-linter: what stands above what, in packages or by full names."""

    id: str
    layers: list[str]
    containers: list[str] = []

    def ranks(self) -> dict[str, int]:
        """The number of its layer for each full name, 0 for the top."""
        prefixes = [f"{container}." for container in self.containers] or [""]
        return {
            f"{prefix}{name}": rank
            for prefix in prefixes
            for rank, layer in enumerate(self.layers)
            for name in re.findall(r"[\w.]+", layer)
        }


def _against(graph: Graph, contract: Layers) -> Iterator[str]:
    ranks = contract.ranks()

    def layer(module: str) -> int | None:
        while module and module not in ranks:
            module = module.rpartition(".")[0]
        return ranks.get(module)

    for importer, imported in sorted(graph.arrows):
        one, other = layer(importer), layer(imported)
        if one is not None and other is not None and one > other:
            yield f"{importer} imports {imported}, which is above it ({contract.id})"


def page(graph: Graph, wrong: Sequence[str]) -> str:
    """The whole page in Markdown."""
    blocks = [
        f"<!-- Generated by `{COMMAND}`; change the imports instead. -->",
        "# Who imports whom",
        _INTRODUCTION,
        "\n".join(_summary(graph, wrong)),
        "## The packages",
        *_drawn(graph.between(lambda module: module.split(".")[0]), ""),
    ]
    for package in PACKAGES:
        blocks += [f"## {package}", *_drawn(graph.between(inside(package)), f"{package}.")]
    return "\n\n".join(blocks) + "\n"


def _summary(graph: Graph, wrong: Sequence[str]) -> Iterator[str]:
    of_types = f"{graph.for_types} of them only while types are checked"
    yield f"- {len(graph.modules)} modules, {len(graph.arrows)} imports, {of_types}."
    found = circle(graph.arrows)
    yield f"- Modules: circle {' → '.join(found)}." if found else "- Modules: no circle."
    yield "- Layers: no arrow leads up." if not wrong else "- Layers:"
    yield from (f"  - {sentence}" for sentence in wrong)
    for package in graph.packages():
        siblings = circle(graph.between(inside(package)))
        if siblings:
            names = " → ".join(name.removeprefix(f"{package}.") for name in siblings)
            yield f"- What stands in `{package}` has an order by module only: {names}."


def _drawn(arrows: Arrows, prefix: str) -> Iterator[str]:
    shown = {Arrow(*(end.removeprefix(prefix) for end in arrow)): n for arrow, n in arrows.items()}
    lines = [
        f"    {importer} -->|{count}| {imported}"
        for (importer, imported), count in sorted(shown.items())
        if not _is_implied(Arrow(importer, imported), shown)
    ]
    yield "\n".join(["```mermaid", "flowchart TD", *lines, "```"])
    rows: dict[str, list[str]] = {}
    for (importer, imported), count in sorted(shown.items()):
        rows.setdefault(importer, []).append(f"{imported} {count}")
    cells = [f"| {importer} | {', '.join(imports)} |" for importer, imports in rows.items()]
    yield "\n".join(["| Importer | Imports |", "|---|---|", *cells])


def _is_implied(arrow: Arrow, arrows: Iterable[Arrow]) -> bool:
    """Whether another way leads there too."""
    waiting = [arrow.importer]
    reached: set[str] = set()
    while waiting:
        one = waiting.pop()
        onward = {other.imported for other in arrows if other.importer == one and other != arrow}
        waiting += onward - reached
        reached |= onward
    return arrow.imported in reached


def main(arguments: list[str]) -> int:
    """Writes the page, or with `--check` compares it; the exit code."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Write docs/import-graph.md.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args(arguments).check
    graph = read(PACKAGES, [ROOT / folder for folder in FOLDERS])
    wrong = against_layers(graph, contracts())
    found = circle(graph.arrows)
    sentences = [*wrong, *([f"modules in a circle: {' → '.join(found)}"] if found else [])]
    wanted = page(graph, wrong)
    if not check:
        PAGE.write_text(wanted, "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != wanted:
        sentences.append(f"docs/import-graph.md differs from the imports: run {COMMAND}")
    sys.stderr.writelines(f"{sentence}\n" for sentence in sentences)
    return 1 if sentences else 0


def contracts() -> list[Mapping[str, object]]:
    """The contracts of import-linter in pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found: list[Mapping[str, object]] = settings["tool"]["importlinter"]["contracts"]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
