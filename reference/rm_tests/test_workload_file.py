"""Workload files: what they contain, and errors that name the place."""

from pathlib import Path

import pytest
from sirm.cli.workload_file import InstanceAction, WorkloadError, read
from sirm.core import model as m

GROUP = "{resource: {memory: 1}}"


def test_actions_come_in_the_order_of_time(tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(
        "nodes: [{id: n1, capacity: {memory: 1}}]\n"
        f"applications: [{{id: a1, groups: [{GROUP}], after: 2}}]\n"
        "steps: [{after: 3, restart_rm: true}, {after: 1, cordon_node: n1}]\n"
    )

    actions = list(read(file).actions())

    assert [(after, type(one)) for after, one in actions] == [
        (0.0, m.AddNode),
        (1.0, m.Cordon),
        (2.0, m.Submit),
        (3.0, InstanceAction),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("applications: [{id: a1, groups: [{resource: {memory: x}}]}]", "resource"),
        ("applications: [{id: a1, groups: [], color: red}]", "unknown field `color`"),
        ("applications: [{id: '', groups: []}]", r"\$.applications\[0\].id"),
        (
            "applications: [{id: a1, groups: []}, {id: a1, groups: []}]",
            r'id "a1" is used twice - at `\$.applications\[1\].id`',
        ),
        (
            "applications: [{id: a1, groups: [{resource: {}, real_containers: 1}]}]",
            r"need a task_group - at `\$.applications\[0\].groups\[0\]`",
        ),
        ("applications: []\nsteps: [{after: 1}]", r"one action - at `\$.steps\[0\]`"),
        ("applications: [", "is not YAML"),
    ],
)
def test_an_error_names_the_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(text)

    with pytest.raises(WorkloadError, match=message):
        read(file)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="cannot be read"):
        read(tmp_path / "none.yaml")
