"""The rules on queues: for each a document that breaks it and one that does not."""

QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        queues:
"""
QUEUE = "partitions[0].queues[0].queues[0]"

NAMES = {
    "a queue name is made of letters and digits and - and _": (
        QUEUES + "          - name: ^@\n",
        "a.b",
        "a-b_C9",
        f"{QUEUE}.name",
        '"a.b" is not a queue name: letters, digits, - and _, at most 64',
    ),
    "a queue name has at most 64 characters": (
        QUEUES + "          - name: ^@\n",
        "a" * 65,
        "a" * 64,
        f"{QUEUE}.name",
        f'"{"a" * 37}..." is not a queue name: letters, digits, - and _, at most 64',
    ),
    "a queue has a name": (
        QUEUES + "          - ^@\n",
        "parent: true",
        "name: a",
        f"{QUEUE}.name",
        "a queue must have a name",
    ),
    "the recovery queue cannot be configured": (
        QUEUES + "          - name: ^@\n",
        '"@recovery@"',
        "recovery",
        f"{QUEUE}.name",
        '"@recovery@" is not a queue name: letters, digits, - and _, at most 64',
    ),
    "queue names differ by more than case": (
        QUEUES + "          - name: a\n          - name: ^@\n",
        "A",
        "b",
        "partitions[0].queues[0].queues[1].name",
        '"A" is a duplicate queue name (case-insensitive)',
    ),
    "partition names differ": (
        "partitions:\n  - queues: []\n  - name: ^@\n    queues: []\n",
        "Default",
        "other",
        "partitions[1].name",
        'a second partition "default"',
    ),
}

AMOUNTS = {
    "root has no maximum": (
        "partitions:\n  - queues:\n      - name: root\n        @resources: {max: ^{}}\n",
        "",
        "parent: true\n        childtemplate:\n          ",
        "partitions[0].queues[0].resources.max",
        "the root queue cannot have resources",
    ),
    "root has no guaranteed resources": (
        "partitions:\n  - queues:\n      - name: Root\n        @resources: {guaranteed: ^{}}\n",
        "",
        "parent: true\n        childtemplate:\n          ",
        "partitions[0].queues[0].resources.guaranteed",
        "the root queue cannot have resources",
    ),
    "a childs maximum fits its parents": (
        QUEUES + "          - name: a\n"
        "            resources: {max: {vcore: 10}}\n"
        "            queues: [{name: b, resources: {max: {vcore: ^@}}}]\n",
        "10001m",
        "10000m",
        f"{QUEUE}.queues[0].resources.max.vcore",
        "10001m is more than the 10 that a queue above allows",
    ),
    "a grandchilds maximum fits its grandparents": (
        QUEUES + "          - name: a\n"
        "            resources: {max: {memory: 10}}\n"
        "            queues: [{name: b, queues: [{name: c, resources: {max: {memory: ^@}}}]}]\n",
        "11",
        "10",
        f"{QUEUE}.queues[0].queues[0].resources.max.memory",
        "11 is more than the 10 that a queue above allows",
    ),
    "what is guaranteed fits the maximum": (
        QUEUES + "          - name: a\n"
        "            resources: {max: {memory: 10}, guaranteed: {memory: ^@}}\n",
        "11",
        "10",
        f"{QUEUE}.resources.guaranteed.memory",
        "11 is more than the 10 of the maximum",
    ),
    "what a template guarantees fits the templates maximum": (
        QUEUES + "          - name: a\n            parent: true\n            childtemplate:\n"
        "              resources: {max: {memory: 10}, guaranteed: {memory: ^@}}\n",
        "11",
        "10",
        f"{QUEUE}.childtemplate.resources.guaranteed.memory",
        "11 is more than the 10 of the maximum",
    ),
    "children are guaranteed no more together than their parent": (
        QUEUES + "          - name: a\n"
        "            resources: {guaranteed: {memory: ^10}}\n"
        "            queues:\n"
        "              - {name: b, resources: {guaranteed: {memory: 6, gpu: 7}}}\n"
        "              - {name: c, resources: {guaranteed: {memory: @}}}\n",
        "5",
        "4",
        f"{QUEUE}.resources.guaranteed.memory",
        "10 is less than the 11 guaranteed to the queues below",
    ),
    "children are guaranteed no more together than their parent may have": (
        QUEUES + "          - name: a\n"
        "            resources: {max: {memory: ^10}}\n"
        "            queues:\n"
        "              - {name: b, resources: {guaranteed: {memory: 6}}}\n"
        "              - {name: c, queues: [{name: d, resources: {guaranteed: {memory: @}}}]}\n",
        "5",
        "4",
        f"{QUEUE}.resources.max.memory",
        "10 is less than the 11 guaranteed to the queues below",
    ),
}

WORDS = {
    "a resource type has a name": (
        QUEUES + "          - {name: a, resources: {max: {^@: 1}}}\n",
        '""',
        "x.y/z",
        f"{QUEUE}.resources.max.",
        "a resource type must have a name",
    ),
    "a resource type has a quantity": (
        QUEUES + "          - {name: a, resources: {max: {memory: ^@}}}\n",
        "~",
        "1",
        f"{QUEUE}.resources.max.memory",
        "no quantity is written",
    ),
    "a limit names its users": (
        QUEUES + "          - {name: a, limits: [{users: [^@], maxapplications: 1}]}\n",
        "~",
        "u",
        f"{QUEUE}.limits[0].users[0]",
        "no name is written",
    ),
    "an ACL can be read": (
        QUEUES + "          - {name: a, submitacl: ^@}\n",
        "u g h",
        "u g",
        f"{QUEUE}.submitacl",
        '"u g h" has more than one space: users, a space, groups',
    ),
}

APPLICATIONS = {
    "a child runs no more applications than its parent": (
        QUEUES + "          - name: a\n            maxapplications: 5\n"
        "            queues: [{name: b, maxapplications: ^@}]\n",
        "6",
        "5",
        f"{QUEUE}.queues[0].maxapplications",
        "6 is more than the 5 the queue above allows",
    ),
    "a child limits its applications where its parent does": (
        QUEUES + "          - name: a\n            @\n            queues: [^{name: b}]\n",
        "maxapplications: 5",
        "parent: true",
        f"{QUEUE}.queues[0].maxapplications",
        "must be set, as the queue above allows 5",
    ),
}


PARTITIONS = {
    "there is a partition": (
        "partitions: ^[@]\n",
        "",
        "{queues: []}",
        "partitions",
        "there must be a partition",
    ),
    "a partition has queues": (
        "partitions:\n  - ^name: a@\n",
        "",
        "\n    queues: []",
        "partitions[0].queues",
        "a partition must have queues",
    ),
    "preemption is on or off": (
        "partitions: [{queues: [], preemption: {enabled: ^@}}]\n",
        "maybe",
        "no",
        "partitions[0].preemption.enabled",
        '"maybe" is neither true nor false',
    ),
    "preemption for quotas is on or off": (
        "partitions: [{queues: [], preemption: {quotapreemptionenabled: ^@}}]\n",
        "maybe",
        "yes",
        "partitions[0].preemption.quotapreemptionenabled",
        '"maybe" is neither true nor false',
    ),
    "nodes are sorted in a known way": (
        "partitions: [{queues: [], nodesortpolicy: {type: ^@}}]\n",
        "fare",
        '""',
        "partitions[0].nodesortpolicy.type",
        '"fare" is unknown; did you mean fair?',
    ),
    "weights are not negative": (
        "partitions: [{queues: [], nodesortpolicy: {resourceweights: {vcore: ^@}}}]\n",
        "-1",
        "0",
        "partitions[0].nodesortpolicy.resourceweights.vcore",
        '"-1" is negative',
    ),
}

RULES = NAMES | AMOUNTS | WORDS | APPLICATIONS | PARTITIONS
