"""docs/state-writers.md is fresh, and names whoever changes the state from another module."""

from pathlib import Path

import pytest
from state_writers import PAGE, Unclear, Write, page, writes

STATE = """
from dataclasses import dataclass, field

@dataclass
class Node:
    state: int = 0
    waiting: dict[str, int] = field(default_factory=dict)

    def moves(self) -> None:
        self.state += 1

class Queue:
    def __init__(self) -> None:
        self.state = 0
"""


def core(folder: Path, rule: str) -> Path:
    (folder / "state").mkdir()
    (folder / "state" / "things.py").write_text(STATE)
    (folder / "rules.py").write_text(rule)
    return folder


def test_the_committed_page_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: nox -s generate"


def test_who_assigns_an_attribute_of_another_class_is_found(tmp_path: Path) -> None:
    rule = "def drain(node: Node) -> None:\n    node.state = 2\n"

    assert writes(core(tmp_path, rule)) == [Write("Node", "state", "rules.drain")]


@pytest.mark.parametrize(
    "line", ["node.waiting['a'] = 1", "del node.waiting['a']", "node.waiting.clear()"]
)
def test_who_changes_a_dict_of_another_class_is_found(tmp_path: Path, line: str) -> None:
    rule = f"def drain(node: Node) -> None:\n    {line}\n"

    assert writes(core(tmp_path, rule)) == [Write("Node", "waiting", "rules.drain")]


def test_who_calls_a_method_of_the_class_changes_nothing_itself(tmp_path: Path) -> None:
    assert writes(core(tmp_path, "def drain(node: Node) -> None:\n    node.moves()\n")) == []


def test_a_name_that_says_no_class_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unclear, match=r"rules\.drain changes thing\.state: name it by its class"):
        writes(core(tmp_path, "def drain(thing) -> None:\n    thing.state = 2\n"))
