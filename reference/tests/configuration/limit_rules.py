"""The rules on limits: for each a document that breaks it and one that does not."""

QUEUE = """\
partitions:
  - queues:
      - name: root
        queues:
          - name: a
            maxapplications: 5
            resources: {max: {vcore: 10}}
            limits:
"""
LIMITS = "partitions[0].queues[0].queues[0].limits"

ALONE = {
    "a limit has users or groups": (
        QUEUE + "              - ^{@maxapplications: 1}\n",
        "users: [], ",
        "users: [u], ",
        f"{LIMITS}[0]",
        "a limit must have users or groups",
    ),
    "a limit limits something": (
        QUEUE + "              - ^{users: [u]@}\n",
        ", maxapplications: 0",
        ", maxapplications: 1",
        f"{LIMITS}[0]",
        "a limit must have maxresources or maxapplications",
    ),
    "a limit leaves something": (
        QUEUE + "              - {users: [u], maxresources: ^{memory: @, vcore: 0}}\n",
        "0",
        "1",
        f"{LIMITS}[0].maxresources",
        "must not all be 0",
    ),
    "a limit allows no more than its queue has": (
        QUEUE + "              - {users: [u], maxresources: {vcore: ^@}}\n",
        "11",
        "10",
        f"{LIMITS}[0].maxresources.vcore",
        "11 is more than the 10 of the queue",
    ),
    "a limit allows no more applications than its queue": (
        QUEUE + "              - {users: [u], maxapplications: ^@}\n",
        "6",
        "5",
        f"{LIMITS}[0].maxapplications",
        "6 is more than the 5 of the queue",
    ),
    "a user has one limit in a queue": (
        QUEUE + "              - {users: [u], maxapplications: 1}\n"
        "              - {users: [^@], maxapplications: 1}\n",
        "u",
        "v",
        f"{LIMITS}[1].users[0]",
        'user "u" has a limit here already',
    ),
    "a group has one limit in a queue": (
        QUEUE + "              - {groups: [g, ^@], maxapplications: 1}\n",
        "g",
        "h",
        f"{LIMITS}[0].groups[1]",
        'group "g" has a limit here already',
    ),
    "the wildcard is the last user": (
        QUEUE + '              - {users: ["@"], maxapplications: 1}\n'
        "              - {users: [^v], maxapplications: 1}\n",
        "*",
        "u",
        f"{LIMITS}[1].users[0]",
        'user "v" stands after *, which must be the last',
    ),
    "the wildcard is the last group": (
        QUEUE + "              - {groups: [g, '@', ^h], maxapplications: 1}\n",
        "*",
        "i",
        f"{LIMITS}[0].groups[2]",
        'group "h" stands after *, which must be the last',
    ),
    "the wildcard is not the only group": (
        QUEUE + '              - {groups: [@^"*"], maxapplications: 1}\n',
        "",
        "g, ",
        f"{LIMITS}[0].groups[0]",
        "* alone would limit the queue, not a group: name a group before it",
    ),
}

NESTED = """\
partitions:
  - queues:
      - name: root
        limits:
          - {users: [u], maxresources: {memory: 10}}
          - {users: [v], maxapplications: 3}
          - {groups: [g], maxresources: {vcore: 1}, maxapplications: 3}
          - {users: ["*"], maxresources: {gpu: 7}, maxapplications: 4}
        queues:
          - name: a
            queues:
              - name: b
                limits:
"""
BELOW = "partitions[0].queues[0].queues[0].queues[0].limits[0]"

PARTITION_AND_ROOT = """\
partitions:
  - limits:
      ^- {users: [u], maxapplications: @}
    queues:
      - {name: root, limits: [{maxapplications: 1, users: [u]}]}
"""
PARTITION_AND_QUEUE = """\
partitions:
  - limits: [{users: [u], maxapplications: 5}]
    queues: [{name: a, limits: [{users: [u], maxapplications: ^@}]}]
"""

PAST_ANOTHER = """\
partitions:
  - queues:
      - name: root
        limits: [{users: [u], maxresources: {memory: 10}}]
        queues:
          - name: a
            limits: [{users: [u], maxresources: {vcore: 1}}]
            queues:
              - name: b
                limits:
                  - {users: [u], maxresources: {memory: ^@}}
"""
PAST_NARROWER = PAST_ANOTHER.replace("{vcore: 1}", "{memory: 5}")

HIERARCHY = {
    "a user gets no more than a queue above allows": (
        NESTED + "                  - {users: [u], maxresources: {memory: ^@}}\n",
        "11",
        "10",
        f"{BELOW}.maxresources.memory",
        '11 is more than the 10 a queue above allows user "u"',
    ),
    "a user without a limit of its own above has that of the wildcard": (
        NESTED + "                  - "
        "{users: [w], maxapplications: 1, maxresources: {gpu: ^@, memory: 99}}\n",
        "8",
        "7",
        f"{BELOW}.maxresources.gpu",
        '8 is more than the 7 a queue above allows user "w"',
    ),
    "a user runs no more applications than a queue above allows": (
        NESTED + "                  - {users: [v], maxapplications: ^@}\n",
        "4",
        "3",
        f"{BELOW}.maxapplications",
        '4 is more than the 3 a queue above allows user "v"',
    ),
    "a limit holds past a queue that limits the user in something else": (
        PAST_ANOTHER,
        "11",
        "10",
        f"{BELOW}.maxresources.memory",
        '11 is more than the 10 a queue above allows user "u"',
    ),
    "the narrower of two limits above holds": (
        PAST_NARROWER,
        "6",
        "5",
        f"{BELOW}.maxresources.memory",
        '6 is more than the 5 a queue above allows user "u"',
    ),
    "a limit on applications is repeated below": (
        NESTED + "                  - ^{users: [v], maxresources: {memory: 1}@}\n",
        "",
        ", maxapplications: 1",
        f"{BELOW}.maxapplications",
        'must be set, as a queue above allows user "v" 3',
    ),
    "a group gets no more than a queue above allows": (
        NESTED + "                  - {groups: [g], maxapplications: 1, "
        "maxresources: {vcore: ^@}}\n",
        "1500m",
        "1000m",
        f"{BELOW}.maxresources.vcore",
        '1500m is more than the 1 a queue above allows group "g"',
    ),
    "the limits of the partition are those of the root queue": (
        PARTITION_AND_ROOT,
        "2",
        "1",
        "partitions[0].limits",
        "differ from the limits of the root queue; write one of the two",
    ),
    "limits of the partition count for the queues": (
        PARTITION_AND_QUEUE,
        "6",
        "5",
        "partitions[0].queues[0].limits[0].maxapplications",
        '6 is more than the 5 a queue above allows user "u"',
    ),
}

RULES = ALONE | HIERARCHY
