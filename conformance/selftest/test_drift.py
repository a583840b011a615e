"""Places in a specification are found, and a source that changed is reported."""

from dataclasses import replace
from pathlib import Path

import pytest
from siconform.catalogue import Source, find_requirement
from siconform.catalogue.drift import drifts, fingerprint
from siconform.catalogue.drift import main as drift_main
from siconform.catalogue.texts import normalised, read_text

TEXT = """\
## Schedulable nodes registration and updates

State transition of node:

```
 +-----------+      +--------+
 |SCHEDULABLE|+---->|DRAINING|
 +-----------+      +--------+
```

A node of that name is turned down. An update needs
a node it can find.

```protobuf
// Nodes are kept in order.
message NodeInfo {
  enum ActionFromRM {
    CREATE = 1; // the first step
    UPDATE = 2;
  }
  // Its name,
  // which is unique.
  string nodeID = 1;
  map<string, string> attributes = 3;
  reserved 7;
}

service Scheduler {
  rpc UpdateNode(stream NodeRequest)
    returns (stream NodeResponse) { }
}
```

## Following are constant of spec

```constants
const (
	HostName = "si/hostname"
)
```
"""


@pytest.mark.parametrize(
    ("where", "passages"),
    [
        ("NodeInfo", ["nodes are kept in order"]),
        ("NodeInfo.nodeID", ["its name which is unique"]),
        ("type of NodeInfo.nodeID", ["string nodeid 1"]),
        ("NodeInfo.attributes", ["map string string attributes 3"]),
        ("NodeInfo.reserved 7", ["reserved 7"]),
        ("NodeInfo.ActionFromRM.CREATE", ["the first step"]),
        ("NodeInfo.ActionFromRM.UPDATE", ["update 2"]),
        ("NodeInfo.ActionFromRM", ["enum actionfromrm create 1 update 2"]),
        ("Scheduler.UpdateNode", ["rpc updatenode stream noderequest"]),
        ("constant HostName", ["hostname si hostname"]),
        ('diagram "State transition of node"', ["schedulable draining"]),
        (
            'section "Schedulable nodes registration and updates"',
            ["a node of that name is turned down", "an update needs a node it can find"],
        ),
    ],
)
def test_places_are_found(where: str, passages: list[str]) -> None:
    assert list(read_text(TEXT).passages(where)) == passages


LATER_TEXT = """\
#### Request for more resources

Lifecycle of Allocation:

```
 +-------+      +-------+
 |Pending|+---->|Removed|
 +-------+ RM   +-------+
```

Groups may be empty.

```protobuf
enum Detail {
  NONE = 0;
  reserved 5, 6;
  reserved "GONE";
}
```
"""


@pytest.mark.parametrize(
    ("where", "passages"),
    [
        ('diagram "Lifecycle of Allocation"', ["pending removed rm"]),
        ('section "Request for more resources"', ["groups may be empty"]),
        ("Detail.reserved 5, 6", ["reserved 5 6"]),
        ('Detail.reserved "GONE"', ["reserved gone"]),
    ],
)
def test_places_of_later_revisions_are_found(where: str, passages: list[str]) -> None:
    assert list(read_text(LATER_TEXT).passages(where)) == passages


@pytest.mark.parametrize("where", ["Nowhere.field", 'section "Nothing"', 'diagram "Nothing"'])
def test_missing_place_is_an_error(where: str) -> None:
    with pytest.raises(LookupError, match="no such place"):
        read_text(TEXT).passages(where)


def test_places_do_not_depend_on_markdown() -> None:
    bare = "\n".join(line.lstrip("# ") for line in TEXT.splitlines() if not line.startswith("```"))
    for where in ("NodeInfo.nodeID", 'section "Schedulable nodes registration and updates"'):
        assert read_text(bare).passages(where) == read_text(TEXT).passages(where)


def test_markup_changes_are_not_drift() -> None:
    assert normalised("Its *name*,\n // which  is `unique`!") == "its name which is unique"


def test_drift_shows_changed_place() -> None:
    sources = (
        Source("2023-12", "NodeInfo.nodeID", fingerprint("its name which is unique")),
        Source("2023-12", "NodeInfo.ActionFromRM.CREATE", fingerprint("another step")),
        Source("2023-12", "NodeInfo.rack", fingerprint("its rack")),
        Source(
            "2023-12",
            'section "Schedulable nodes registration and updates"',
            fingerprint("an update needs no node"),
        ),
        Source("2021-02", "NodeInfo.rack", fingerprint("not looked at")),
    )
    entry = replace(find_requirement("SI-NODE-001"), sources=sources)
    found = [drift.message for drift in drifts([entry], {"2023-12": read_text(TEXT)})]
    assert found == [
        f"reads differently now, sha256: {fingerprint('the first step')}",
        "no such place: NodeInfo.rack",
        "none of its 2 sentences is the recorded one",
    ]


def test_the_drift_tool_counts_and_answers_with_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drift_main([]) == 2
    assert drift_main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "0 of 0 sources drifted\n"
    (tmp_path / "2023-12.md").write_text(TEXT, "utf-8")
    assert drift_main([str(tmp_path)]) == 1
    assert "SI-NODE-001  2023-12  AcceptedNode.nodeID: no such place" in capsys.readouterr().out
