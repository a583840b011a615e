"""Edits that look harmless, or worse than they are, and their reports."""

from selftest.spec_author_edits import BREAKING, COMPATIBLE, UNREADABLE, AuthorsEdit

_ENUM = "enum TerminationType {\n"
_ALIASES = (_ENUM, f"{_ENUM}  option allow_alias = true;\n")
_SCHEDULER = "  PREEMPTED_BY_SCHEDULER = 3;"
_CORE = "  PREEMPTED_BY_CORE = 3;\n"
_KNOWN = "A node that is known already must be rejected."
_NODES = "  repeated NodeInfo nodes = 1;"
_CONFIRMED = "A release by the RM must be confirmed."

MISLEADING = (
    AuthorsEdit(
        "another name behind the one of a number",
        (_ALIASES, ("  PLACEHOLDER_REPLACED = 4;", f"{_CORE}  PLACEHOLDER_REPLACED = 4;")),
        COMPATIBLE,
        "1 compatible; 0 rules changed",
        ("TerminationType.PREEMPTED_BY_CORE: enum value added (3)",),
    ),
    AuthorsEdit(
        "another name in front of the one of a number",
        (_ALIASES, (_SCHEDULER, _CORE + _SCHEDULER)),
        BREAKING,
        "1 JSON-breaking; 0 rules changed",
        (
            (
                "From JSON, an old peer does not see AllocationRelease.terminationType = "
                "PREEMPTED_BY_CORE, a name it does not know."
            ),
            "instead: Put PREEMPTED_BY_CORE behind PREEMPTED_BY_SCHEDULER",
        ),
    ),
    AuthorsEdit(
        "a map as what its bytes are",
        (
            ("  map<string, Quantity> resources = 1;\n}", "  repeated Entry resources = 1;\n}"),
            (
                "message Quantity {",
                (
                    "message Entry {\n  string key = 1;\n  Quantity value = 2;\n}\n\n"
                    "message Quantity {"
                ),
            ),
        ),
        BREAKING,
        "1 JSON-breaking, 1 compatible",
        (
            "type changed (map<string, Quantity> -> repeated Entry)",
            "From JSON, an old peer cannot decode a Resource with resources",
        ),
    ),
    AuthorsEdit(
        "an amount without a sign",
        (("  int64 value = 1;", "  uint64 value = 1;"),),
        BREAKING,
        "1 silently misread",
        (
            "An old peer reads Quantity.value = 18446744073709551611 as -5.",
            "A new peer reads Quantity.value = -5 as 18446744073709551611.",
        ),
    ),
    AuthorsEdit(
        "an enum as its number",
        (("  TerminationType terminationType = 4;", "  int32 terminationType = 4;"),),
        BREAKING,
        "1 JSON-breaking",
        (
            (
                "From JSON, a new peer cannot decode an AllocationRelease with terminationType = "
                '"STOPPED_BY_RM": the whole message is rejected.'
            ),
        ),
    ),
    AuthorsEdit(
        "one where there were many",
        ((_NODES, "  NodeInfo nodes = 1;"),),
        BREAKING,
        "1 wire-breaking",
        (
            "A new scheduler keeps only one of several NodeRequest.nodes.",
            "an old scheduler cannot decode a NodeRequest with nodes: the whole message",
        ),
    ),
    AuthorsEdit(
        "a reserved number for another type",
        (('  reserved 7;\n  reserved "queueName";\n', "  bool hot = 7;\n"),),
        BREAKING,
        "2 compatible",
        ("instead: Append hot as 16; reserve 7: it was Allocation.queueName (2021-02).",),
    ),
    AuthorsEdit(
        "constants that change places",
        (
            ('HostName = "si.io/hostname"', 'HostName = "si.io/rackname"'),
            ('RackName = "si.io/rackname"', 'RackName = "si.io/hostname"'),
        ),
        BREAKING,
        "2 silently misread",
        (
            'An old peer takes what is sent as HostName, "si.io/rackname", for RackName.',
            'A new peer takes what is sent as RackName, "si.io/rackname", for HostName.',
            'instead: Keep HostName = "si.io/hostname": "si.io/rackname" is what RackName stands',
        ),
    ),
    AuthorsEdit(
        "another name of a parameter",
        (("UpdateNode(request *si.NodeRequest)", "UpdateNode(nodes *si.NodeRequest)"),),
        COMPATIBLE,
        "1 compatible; 0 rules changed",
        ("SchedulerAPI.UpdateNode: Go API parameter names changed",),
    ),
    AuthorsEdit(
        "headings with numbers",
        (
            ("### Schedulable nodes registration", "### 2.1. Schedulable nodes registration"),
            ("### Release previously", "### 3 Release previously"),
        ),
        COMPATIBLE,
        "the declarations are identical; 0 rules changed",
        ("NO CHANGE",),
    ),
    AuthorsEdit(
        "rules in a table and below a rule of a list",
        (
            (
                _CONFIRMED,
                (
                    f"{_CONFIRMED}\n\n| no | rule |\n|----|:----:|\n| 1 | It must be repeated |\n"
                    "| 2 | It may be late |\n\n10. The RM should wait\n    - and it must not poll\n"
                ),
            ),
        ),
        COMPATIBLE,
        "no schema change; 4 rules changed",
        ("+ It must be repeated ", "+ It may be late ", "+ The RM should wait ", "+ and it must"),
    ),
    AuthorsEdit(
        "a rule in a comment of the Go API",
        (("	// Tells what became of nodes.\n", "	// Must tell what became of nodes.\n"),),
        COMPATIBLE,
        "no schema change; 1 rule changed",
        ("is more binding",),
    ),
    AuthorsEdit(
        "an option of the text's own",
        (("Information ugi = 4;", "Information ugi = 4 [(si_secret) = true];"),),
        COMPATIBLE,
        "1 compatible",
        ("AddApplicationRequest.ugi: field option changed (si_secret: true)",),
    ),
    AuthorsEdit(
        "a message with another name, and a Go API without",
        (
            ("message NodeRequest {", "message NodeUpdateRequest {"),
            ("(stream NodeRequest)", "(stream NodeUpdateRequest)"),
        ),
        BREAKING,
        "1 source-breaking",
        ("SchedulerAPI.UpdateNode names si.NodeRequest, which no block declares",),
    ),
    AuthorsEdit(
        "a block that is commented out",
        (
            (
                "```protobuf\n// A node that was registered",
                "<!--\n```protobuf\n// A node that was registered",
            ),
            ("```protobuf\n// Amounts by", "-->\n```protobuf\n// Amounts by"),
        ),
        COMPATIBLE,
        "0 rules changed",
        ("a block is in an HTML comment, where readers",),
    ),
    AuthorsEdit(
        "another package",
        (("package si.v1;", "package si.v2;"),),
        BREAKING,
        "1 wire-breaking",
        ("package: package changed (si.v1 -> si.v2) line ",),
    ),
    AuthorsEdit(
        "what proto3 does not know",
        (('syntax = "proto3";', 'syntax = "proto2";'),),
        UNREADABLE,
        "",
        ('`syntax = "proto2";` is not the syntax of the SI: write `syntax = "proto3";`',),
    ),
    AuthorsEdit(
        "a message in two blocks",
        (
            (
                _CONFIRMED,
                (
                    f"{_CONFIRMED}\n\n```protobuf\nmessage AcceptedNode {{\n"
                    "  string nodeID = 1;\n}\n```\n"
                ),
            ),
        ),
        UNREADABLE,
        "`AcceptedNode` is declared on lines ",
        (": keep one",),
    ),
)
