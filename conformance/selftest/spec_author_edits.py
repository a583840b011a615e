"""Edits of a specification of the SI, with the verdict of an expert."""

from dataclasses import dataclass

from selftest.spec_author import edited_text

COMPATIBLE, BREAKING, UNREADABLE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class AuthorsEdit:
    """An edit of the specification, and the expected report."""

    name: str
    replaced: tuple[tuple[str, str], ...]
    code: int
    counts: str
    """The changes of each class, as the report has them; "" where there is no report."""
    message: tuple[str, ...] = ()
    """Sentences of the report or the error: who understands what, and what to do instead."""

    def text(self) -> str:
        """The edited specification."""
        return edited_text(*self.replaced)


_TERMINATIONS = """\
  STOPPED_BY_RM = 1; // the RM ended it
  TIMEOUT = 2; // the scheduler: timeout
  PREEMPTED_BY_SCHEDULER = 3; // the scheduler: the capacity is needed elsewhere
  PLACEHOLDER_REPLACED = 4;"""
_ONE_IN_FRONT = """\
  EVICTED = 1; // the RM's operator ended it
  STOPPED_BY_RM = 2; // the RM ended it
  TIMEOUT = 3; // the scheduler: timeout
  PREEMPTED_BY_SCHEDULER = 4; // the scheduler: the capacity is needed elsewhere
  PLACEHOLDER_REPLACED = 5;"""
_UNDO = "    DRAIN_TO_SCHEDULABLE = 5; // undo a drain; an error for a node that is not draining\n"
_GANG = """\
  string taskGroupName = 11;
  // Reserves capacity for a later real allocation. Ignored without taskGroupName.
  bool placeholder = 12;
"""
_IN_A_ONEOF = """\
  oneof gang {
    string taskGroupName = 11;
    // Reserves capacity for a later real allocation. Ignored without taskGroupName.
    bool placeholder = 12;
  }
"""
_VERDICTS = """\
  repeated RejectedNode rejected = 1;
  repeated AcceptedNode accepted = 2;
"""
_DRAINED_IN_FRONT = """\
  repeated AcceptedNode drained = 1;
  repeated RejectedNode rejected = 2;
  repeated AcceptedNode accepted = 3;
"""
_STREAMS = "rpc UpdateNode (stream NodeRequest)\n    returns (stream NodeResponse)"
_PRIORITY = "  int32 priority = 6;"
_KNOWN_NODE = "A node that is known already must be rejected."

EDITS = (
    AuthorsEdit(
        "a renumbered field",
        ((_PRIORITY, "  int32 priority = 16;"),),
        BREAKING,
        "1 wire-breaking",
        (
            "An old peer does not see Allocation.priority: it counts with the default priority.",
            "A new peer does not see Allocation.priority: it counts with the default priority.",
            "instead: Keep priority = 6: a number is never moved.",
        ),
    ),
    AuthorsEdit(
        "a value in front of an enum",
        ((_TERMINATIONS, _ONE_IN_FRONT),),
        BREAKING,
        "5 silently misread",
        (
            "TerminationType: 4 numbers reused by other enum values",
            "An old peer takes EVICTED for STOPPED_BY_RM (AllocationRelease.terminationType).",
            "An old peer takes STOPPED_BY_RM for TIMEOUT (AllocationRelease.terminationType).",
            "A new peer takes STOPPED_BY_RM for EVICTED (AllocationRelease.terminationType).",
            "instead: Append EVICTED as 5. Keep every older value at its number",
        ),
    ),
    AuthorsEdit(
        "a removed value",
        ((_UNDO, ""),),
        BREAKING,
        "1 wire-breaking",
        (
            "An old scheduler gets no DRAIN_TO_SCHEDULABLE from a new RM.",
            (
                "A new scheduler gets 5 for DRAIN_TO_SCHEDULABLE (NodeInfo.action), a number "
                "without a name."
            ),
            (
                "instead: Keep DRAIN_TO_SCHEDULABLE = 5, marked deprecated, until no peer sends it "
                'any more; then reserve 5, "DRAIN_TO_SCHEDULABLE" in NodeInfo.ActionFromRM.'
            ),
            "- an error for a node that is not draining",
        ),
    ),
    AuthorsEdit(
        "a removed value that is reserved",
        ((_UNDO, '    reserved 5;\n    reserved "DRAIN_TO_SCHEDULABLE";\n'),),
        BREAKING,
        "1 wire-breaking, 1 compatible",
        ("instead: Keep DRAIN_TO_SCHEDULABLE = 5, marked deprecated, until no peer sends it",),
    ),
    AuthorsEdit(
        "a reused reserved number",
        (('  reserved 7;\n  reserved "queueName";\n', "  string zone = 7;\n"),),
        BREAKING,
        "1 silently misread, 1 compatible",
        (
            'A peer of 2021-02 reads Allocation.zone = "zone-1" as queueName = "zone-1".',
            "instead: Append zone as 16; reserve 7: it was Allocation.queueName (2021-02).",
            'instead: Keep 7, "queueName" reserved in Allocation.',
        ),
    ),
    AuthorsEdit(
        "a renamed field",
        (("Resource schedulableResource = 4;", "Resource capacity = 4;"),),
        BREAKING,
        "1 JSON-breaking",
        (
            "NodeInfo.capacity: field renamed (schedulableResource -> capacity): another name",
            "From JSON, an old scheduler does not see NodeInfo.capacity",
            (
                "From JSON, a new scheduler does not see NodeInfo.schedulableResource: the node "
                "has no capacity."
            ),
            'instead: Write Resource capacity = 4 [json_name = "schedulableResource"] to keep the',
        ),
    ),
    AuthorsEdit(
        "another meaning under a number",
        (("  string user = 1;", "  string owner = 1;"),),
        BREAKING,
        "1 silently misread",
        (
            'An old scheduler reads UserGroupInformation.owner = "owner-1" as user = "owner-1".',
            'A new scheduler reads UserGroupInformation.user = "alice" as owner = "alice".',
            'instead: Append owner as 3; keep user = 1, or reserve 1, "user".',
        ),
    ),
    AuthorsEdit(
        "a stream that becomes one message",
        ((_STREAMS, "rpc UpdateNode (NodeRequest)\n    returns (NodeResponse)"),),
        BREAKING,
        "1 wire-breaking",
        (
            "An old scheduler gets one message with each call, and no more",
            "A new scheduler handles the first message of a stream and loses the others",
            "instead: Add an rpc with another name, and keep this one unchanged.",
        ),
    ),
    AuthorsEdit(
        "int32 to sint32",
        ((_PRIORITY, "  sint32 priority = 6;"),),
        BREAKING,
        "1 silently misread",
        (
            "An old peer reads Allocation.priority = 5 as 10.",
            "A new peer reads Allocation.priority = 5 as -3.",
            (
                "instead: Keep int32 priority = 6, and append a field (sint32) as 16 under another "
                "name."
            ),
        ),
    ),
    AuthorsEdit(
        "fields into a oneof",
        ((_GANG, _IN_A_ONEOF),),
        BREAKING,
        "2 wire-breaking",
        (
            "A new peer keeps only placeholder of an Allocation with taskGroupName and placeholder",
            "instead: Leave placeholder where it was: a new oneof is for new fields only.",
        ),
    ),
    AuthorsEdit(
        "a changed rule",
        ((_KNOWN_NODE, "A node that is known already should be rejected."),),
        COMPATIBLE,
        "no schema change; 1 rule changed",
        (
            "COMPATIBLE, BUT RULES CHANGED",
            "is less binding",
            'section "Schedulable nodes registration and updates"',
            f"- {_KNOWN_NODE}",
            "+ A node that is known already should be rejected.",
        ),
    ),
    AuthorsEdit(
        "a deleted rule",
        ((f"{_KNOWN_NODE} ", ""),),
        COMPATIBLE,
        "no schema change; 1 rule changed",
        ("COMPATIBLE, BUT RULES CHANGED", "vanished (old line", f"- {_KNOWN_NODE}"),
    ),
    AuthorsEdit(
        "a rule in another section",
        (
            (f"{_KNOWN_NODE} ", ""),
            ("A release by the RM must", f"{_KNOWN_NODE} A release by the RM must"),
        ),
        COMPATIBLE,
        "no schema change; 1 rule changed",
        ("stands elsewhere",),
    ),
    AuthorsEdit(
        "a new message",
        (
            (
                "// A node that was registered.",
                (
                    "// A node that drains.\nmessage DrainedNode {\n  string nodeID = 1;\n}\n\n"
                    "// A node that was registered."
                ),
            ),
        ),
        COMPATIBLE,
        "1 compatible; 0 rules changed",
        ("DrainedNode: message added (nodeID 1 string)",),
    ),
    AuthorsEdit(
        "a new field under a new number",
        ((_PRIORITY, f"{_PRIORITY}\n  string zone = 16;"),),
        COMPATIBLE,
        "1 compatible; 0 rules changed",
        ("Allocation.zone: field added (16 string)",),
    ),
    AuthorsEdit(
        "a syntax error",
        ((_PRIORITY, "  int32 priority = 6"),),
        UNREADABLE,
        "",
        ("line 253: unexpected `string` after definition", "a `;` may be missing before it"),
    ),
    AuthorsEdit(
        "a field in front",
        ((_VERDICTS, _DRAINED_IN_FRONT),),
        BREAKING,
        "3 silently misread",
        (
            (
                "An old RM takes a rejected node for an accepted one (NodeResponse.rejected is "
                "read as NodeResponse.accepted)."
            ),
            "An old RM does not see NodeResponse.accepted: the RM still waits for the verdict.",
            "instead: Keep rejected = 1, and append drained as 3.",
        ),
    ),
    AuthorsEdit(
        "a removed field",
        (
            (
                "  string reason = 2;\n}\n```\n\n```protobuf\n// A node that was reg",
                "}\n```\n\n```protobuf\n// A node that was reg",
            ),
        ),
        BREAKING,
        "1 wire-breaking",
        (
            "A new RM does not see RejectedNode.reason.",
            (
                "instead: Keep reason = 2, marked deprecated, until no peer sends it any more; "
                'then reserve 2, "reason" in RejectedNode.'
            ),
        ),
    ),
    AuthorsEdit(
        "a constant with another value",
        (('"si.io/hostname"', '"si/hostname"'),),
        BREAKING,
        "1 wire-breaking",
        (
            'An old peer looks for "si.io/hostname" and does not find what is sent under',
            'instead: Add another constant for "si/hostname", and keep HostName unchanged',
        ),
    ),
    AuthorsEdit(
        "a method of the Go API more",
        (("	// Takes nodes and", "	// Ends it.\n	Stop()\n\n	// Takes nodes and"),),
        BREAKING,
        "1 source-breaking",
        ("A new scheduler does not compile without SchedulerAPI.Stop.", "instead: Announce it"),
    ),
    AuthorsEdit(
        "a field with another role",
        (("  // The owner.\n", "  // The user that pays for it.\n"),),
        COMPATIBLE,
        "no schema change; 1 rule changed",
        ("comment changed its meaning (line 213): AddApplicationRequest.ugi", "- The owner."),
    ),
    AuthorsEdit(
        "licence, link, drawing and white space",
        (
            ("use it only as that says", "and use it as that says"),
            ("https://example.org/guide", "https://example.org/another-guide"),
            (
                "  |schedulable|--------------->| draining |",
                "  |schedulable|----------->| draining |",
            ),
            ("  string nodeID = 8;\n", "  string   nodeID = 8;\n\n"),
            (
                "What a resource manager (RM) and a scheduler",
                "What a  resource manager (RM)\nand a scheduler",
            ),
        ),
        COMPATIBLE,
        "the declarations are identical; 0 rules changed",
        ("NO CHANGE",),
    ),
)
