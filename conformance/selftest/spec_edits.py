"""Copies of our si.proto of 2024-10 with edits that an author of the SI might make."""

from functools import cache
from pathlib import Path

from sispec.model import Spec
from sispec.sources import from_bytes

_SI = Path(__file__).parents[2] / "proto" / "si" / "2024-10" / "si.proto"


@cache
def unedited() -> Spec:
    return from_bytes("old", _SI.read_bytes(), ".proto")


def edited(*edits: tuple[str, str]) -> Spec:
    """Return the schema with each first string, which must occur, replaced by the second."""
    text = _SI.read_text()
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after, 1)
    return from_bytes("new", text.encode(), ".proto")


VERDICTS = """  repeated RejectedNode rejected = 1;
  repeated AcceptedNode accepted = 2;"""
ONE_IN_FRONT = (
    (
        VERDICTS,
        """  repeated DrainedNode drained = 1;
  repeated RejectedNode rejected = 2;
  repeated AcceptedNode accepted = 3;""",
    ),
    ("message AcceptedNode", "message DrainedNode { string nodeID = 1; }\nmessage AcceptedNode"),
)
VALUE_IN_FRONT = (
    (
        "UNKNOWN_TERMINATION_TYPE = 0; // not set\n  STOPPED_BY_RM = 1;",
        "NOT_ENDED = 0;\n  UNKNOWN_TERMINATION_TYPE = 1;\n  STOPPED_BY_RM = 2;",
    ),
    (" TIMEOUT = 2;", " TIMEOUT = 3;"),
    ("PREEMPTED_BY_SCHEDULER = 3;", "PREEMPTED_BY_SCHEDULER = 4;"),
    ("PLACEHOLDER_REPLACED = 4;", "PLACEHOLDER_REPLACED = 5;"),
)
INTO_A_ONEOF = (
    ("  string taskGroupName = 11;\n", ""),
    (
        "  bool placeholder = 12;",
        "  oneof gang {\n    string taskGroupName = 11;\n    bool placeholder = 12;\n  }",
    ),
)
UNARY = (
    (
        "UpdateNode (stream NodeRequest)\n    returns (stream NodeResponse)",
        "UpdateNode (NodeRequest)\n    returns (NodeResponse)",
    ),
)
