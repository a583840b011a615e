"""The rules on placement rules: for each a document that breaks it and one that does not."""

RULES_OF = """\
partitions:
  - queues:
      - name: root
        queues:
          - name: Leaf
          - name: top
            queues: [{name: below}]
          - name: empty
            parent: true
    placementrules:
"""
RULE = "partitions[0].placementrules[0]"

ALONE = {
    "a rule has a name": (
        RULES_OF + "      - ^{@}\n",
        "create: true",
        "name: user",
        f"{RULE}.name",
        "a rule must be one of provided, user, tag, fixed",
    ),
    "a rule is known": (
        RULES_OF + "      - {name: ^@}\n",
        "usr",
        "User",
        f"{RULE}.name",
        '"usr" is not a rule; did you mean user?',
    ),
    "an unknown rule lists the choices": (
        RULES_OF + "      - {name: ^@}\n",
        "recovery",
        "provided",
        f"{RULE}.name",
        '"recovery" is not a rule; the choice is provided, user, tag, fixed',
    ),
    "a parent rule is known": (
        RULES_OF + "      - {name: user, parent: {name: tag, value: x, parent: {name: ^@}}}\n",
        "usr",
        "user",
        f"{RULE}.parent.parent.name",
        '"usr" is not a rule; did you mean user?',
    ),
    "a tag rule has a value": (
        RULES_OF + "      - {name: tag, value: ^@}\n",
        '""',
        "namespace",
        f"{RULE}.value",
        "a tag rule needs the name of the tag",
    ),
    "a fixed rule has a value": (
        RULES_OF + "      - ^{name: fixed@}\n",
        "",
        ", value: leaf",
        f"{RULE}.value",
        "a fixed rule needs the name of a queue",
    ),
    "a fixed value is a queue name": (
        RULES_OF + "      - {name: fixed, create: true, value: ^@}\n",
        "empty.a b",
        "empty.a-b",
        f"{RULE}.value",
        '"empty.a b" is not a queue name',
    ),
    "a full name has no parent rule": (
        RULES_OF + "      - {name: fixed, create: true, value: @, "
        "parent: ^{name: fixed, value: empty}}\n",
        "root.empty.x",
        "x",
        f"{RULE}.parent",
        '"root.empty.x" is a full name, so there can be no parent rule',
    ),
}

TARGETS = {
    "a fixed queue exists": (
        RULES_OF + "      - {name: fixed, value: ^@}\n",
        "root.lead",
        "root.leaf",
        f"{RULE}.value",
        "there is no queue root.lead, and none is created",
    ),
    "a fixed queue is created where the rule may": (
        RULES_OF + "      - {name: fixed, value: ^new.newer, create: @}\n",
        "false",
        "true",
        f"{RULE}.value",
        "there is no queue root.new, and none is created",
    ),
    "a fixed queue is a leaf": (
        RULES_OF + "      - {name: fixed, value: ^@}\n",
        "TOP",
        "top.BELOW",
        f"{RULE}.value",
        "root.top is a parent, and applications run in leaf queues",
    ),
    "an empty parent is not a leaf": (
        RULES_OF + "      - {name: fixed, create: true, value: ^@}\n",
        "empty",
        "empty.x",
        f"{RULE}.value",
        "root.empty is a parent, and applications run in leaf queues",
    ),
    "nothing is created below a leaf": (
        RULES_OF + "      - {name: fixed, create: true, value: ^@.x}\n",
        "leaf",
        "top",
        f"{RULE}.value",
        "root.leaf is a leaf, so there is no queue x below it",
    ),
    "a fixed parent of another rule is not a leaf": (
        RULES_OF + "      - {name: user, create: true, parent: {name: fixed, value: ^@}}\n",
        "root.leaf",
        "root.top",
        f"{RULE}.parent.value",
        "root.leaf is a leaf, and this rule needs queues below it",
    ),
    "fixed rules add up": (
        RULES_OF + "      - {name: fixed, value: ^@, parent: {name: fixed, value: top}}\n",
        "beyond",
        "below",
        f"{RULE}.value",
        "there is no queue root.top.beyond, and none is created",
    ),
}

FILTERS = {
    "a filter allows or denies": (
        RULES_OF + "      - {name: user, filter: {type: ^@}}\n",
        "forbid",
        "Deny",
        f"{RULE}.filter.type",
        '"forbid" is unknown: the choice is allow, deny',
    ),
    "a filter without a type allows": (
        RULES_OF + "      - {name: user, filter: {type: ^@}}\n",
        "no",
        '""',
        f"{RULE}.filter.type",
        '"no" is unknown: the choice is allow, deny',
    ),
    "users of a filter can be users": (
        RULES_OF + "      - {name: user, filter: {users: [u, ^@]}}\n",
        "v w",
        "v@w.x",
        f"{RULE}.filter.users[1]",
        '"v w" cannot be a user',
    ),
    "groups of a filter can be groups": (
        RULES_OF + "      - {name: user, filter: {groups: [g, ^@]}}\n",
        "h@i",
        "h.i",
        f"{RULE}.filter.groups[1]",
        '"h@i" cannot be a group',
    ),
    "an expression compiles": (
        RULES_OF + '      - {name: user, filter: {users: [^"@"]}}\n',
        "u(",
        "u(v|w)",
        f"{RULE}.filter.users[0]",
        '"u(" is not a regular expression: missing ), as in "u("',
    ),
    "an expression stands alone": (
        RULES_OF + '      - {name: user, filter: {groups: [@^"g.*"]}}\n',
        "f, ",
        "",
        f"{RULE}.filter.groups[1]",
        '"g.*" cannot be a group',
    ),
}

# Not possible in a linear-time engine, unknown to Go's package regexp, or too large
IMPOSSIBLE = {
    r"(a)\1": r'invalid escape sequence, as in "\\1"',
    "a(?=b)": 'invalid perl operator, as in "(?="',
    "(?<!a)b": 'invalid perl operator, as in "(?<!"',
    "a++": 'bad repetition operator, as in "++"',
    "a{1001}": 'invalid repetition size, as in "{1001}"',
    "((a{100}){100}){100}": 'invalid repetition size, as in "{100}"',
    r"a+\Z": r'invalid escape sequence, as in "\\Z"',
    "(" * 10_000: 'missing ), as in "' + "(" * 37 + '..."',
    r"(\pL{1,30}\pN){30}": "pattern too large - compile failed",
}

RULES = ALONE | TARGETS | FILTERS
