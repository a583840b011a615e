"""Generated documents: valid ones are read; invalid ones raise only the documented error."""

from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sireference.configuration.model import Configuration, QueueConfig
from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError
from tests.configuring import calls

EVERYTHING = Path(__file__).parents[3] / "fixtures" / "queues" / "good" / "everything.yaml"
MOST = 1_000_000

# The machine may be busy; slow cases have their own tests.
unhurried = settings(suppress_health_check=[HealthCheck.too_slow])

names = st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True)
users = st.from_regex(r"[_a-zA-Z][a-zA-Z0-9:_.@-]{0,8}\$?", fullmatch=True)
groups = st.from_regex(r"[_a-zA-Z][a-zA-Z0-9:_.-]{0,8}", fullmatch=True)
durations = st.sampled_from(["1ms", "30s", "1m30s", "1.5h"])
properties = st.fixed_dictionaries(
    {},
    optional={
        "application.sort.policy": st.sampled_from(["fifo", "fair", "stateaware", ""]),
        "application.sort.priority": st.sampled_from(["enabled", "Disabled"]),
        "priority.policy": st.sampled_from(["default", "fence"]),
        "priority.offset": st.integers(-(2**31), 2**31 - 1).map(str),
        "preemption.policy": st.sampled_from(["default", "fence", "disabled"]),
        "preemption.delay": durations,
        "quota.preemption.delay": durations,
        "site.specific": st.text(st.characters(min_codepoint=32, max_codepoint=126)),
    },
)
acls = st.one_of(
    st.sampled_from(["", "*"]),
    st.lists(users, min_size=1, max_size=3).map(",".join),
    st.tuples(st.lists(users, max_size=2), st.lists(groups, min_size=1, max_size=2)).map(
        lambda lists: f"{','.join(lists[0])} {','.join(lists[1])}"
    ),
)


@st.composite
def queue(draw: st.DrawFn, name: str, depth: int, memory: int, applications: int) -> dict[str, Any]:
    """Draw one queue within the given resources, and its children."""
    most = draw(st.integers(1, memory))
    allowed = draw(st.integers(1, applications))
    below = draw(st.lists(names, max_size=3 if depth else 0, unique_by=str.lower))
    share = most // (len(below) or 1)
    written: dict[str, Any] = {
        "name": name,
        "maxapplications": allowed,
        "resources": {
            "max": {"memory": most, "vcore": f"{most}m"},
            "guaranteed": {"memory": draw(st.integers(0, most))},
        },
        "properties": draw(properties),
        "submitacl": draw(acls),
        "adminacl": draw(acls),
        "limits": draw(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "users": st.just([]) | st.just(["*"]),
                        "groups": st.lists(groups, min_size=1, max_size=1),
                        "maxapplications": st.just(1),
                    }
                ),
                max_size=1,
            )
        ),
    }
    if below:
        written["resources"]["guaranteed"] = {"memory": most}
        written["queues"] = [
            draw(queue(child, depth - 1, share, allowed)) if share else {"name": child}
            for child in below
        ]
        for child in written["queues"]:
            child.setdefault("maxapplications", allowed)
    elif draw(st.booleans()):
        written["parent"] = True
        written["childtemplate"] = {"properties": draw(properties), "maxapplications": allowed}
    return written


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, Any]:
    tops = draw(st.lists(names, max_size=3, unique_by=str.lower))
    rules = [{"name": "provided"}, {"name": "user", "create": True}]
    rules.append({"name": "tag", "value": draw(names), "parent": {"name": "user"}})
    return {
        "partitions": [
            {
                "name": "default",
                "queues": [
                    {
                        "name": "root",
                        "queues": [draw(queue(name, 2, MOST, 100)) for name in tops],
                    }
                ],
                "placementrules": draw(st.permutations(rules)),
                "nodesortpolicy": {
                    "type": draw(st.sampled_from(["fair", "binpacking", ""])),
                    "resourceweights": {
                        "memory": draw(st.floats(0, 100).map(lambda x: round(x, 3)))
                    },
                },
                "preemption": {"enabled": draw(st.booleans())},
            }
        ]
    }


def sent(read: QueueConfig) -> dict[str, Any]:
    return {
        "name": read.name,
        "maxapplications": read.max_applications,
        "max": read.max,
        "queues": [sent(child) for child in read.queues],
    }


def written(queue_: dict[str, Any]) -> dict[str, Any]:
    amounts = queue_.get("resources", {}).get("max")
    memory = amounts and amounts["memory"]
    return {
        "name": queue_["name"].lower(),
        "maxapplications": queue_.get("maxapplications"),
        "max": amounts and {"memory": memory, "vcore": memory},
        "queues": [written(child) for child in queue_.get("queues", [])],
    }


@unhurried
@given(configurations(), st.sampled_from(["block", "flow"]))
def test_valid_configuration_is_read_as_written(configuration: dict[str, Any], style: str) -> None:
    text = yaml.dump(
        configuration, Dumper=yaml.CSafeDumper, default_flow_style=style == "flow", sort_keys=False
    )

    [partition] = parse_configuration(text).partitions

    assert sent(partition.root) == written(configuration["partitions"][0]["queues"][0])
    assert partition.preemption_enabled == configuration["partitions"][0]["preemption"]["enabled"]
    assert len(partition.placement_rules) == 3


def outcome(text: str) -> Configuration | ConfigurationError:
    try:
        return parse_configuration(text)
    except ConfigurationError as error:
        return error


def check_outcome(text: str) -> None:
    """Read the document: it gives a configuration, or problems with positions inside it."""
    read = outcome(text)
    if isinstance(read, Configuration):
        return
    assert read.errors
    lines = sum(map(text.count, "\n\r\x85\u2028\u2029")) + 2
    for problem in read.errors:
        assert 1 <= problem.line <= lines
        assert problem.column >= 1
        assert problem.problem
        assert "\n" not in str(problem)


@unhurried
@given(st.text())
def test_any_document_is_read_or_refused(text: str) -> None:
    check_outcome(text)


@unhurried
@given(st.text(st.sampled_from(list("ab:,-?[]{}&*!|>'\"%@`#~<= \n\t0.")), max_size=60))
def test_any_document_of_yaml_characters_is_read_or_refused(text: str) -> None:
    check_outcome(text)
    check_outcome(f"partitions: [{{queues: {text}")
    check_outcome(f"partitions:\n- queues:\n  - name: a\n    limits: {text}")


@unhurried
@given(st.data())
def test_configuration_with_a_random_edit_is_read_or_refused(data: st.DataObject) -> None:
    text = EVERYTHING.read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.text(max_size=6) | names) + text[end:]

    check_outcome(text)


keys = st.sampled_from(
    [
        *("partitions", "name", "queues", "resources", "max", "guaranteed", "limits", "users"),
        *("groups", "maxresources", "maxapplications", "placementrules", "filter", "type"),
        *("parent", "value", "create", "nodesortpolicy", "resourceweights", "properties"),
        *("submitacl", "childtemplate", "preemption", "enabled", "memory", "vcore", "<<"),
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@unhurried
@given(st.dictionaries(keys, values), st.dictionaries(keys, values))
def test_known_keys_with_any_values_are_read_or_refused(
    partition: dict[str, Any], queue_: dict[str, Any]
) -> None:
    top = {"partitions": [{"queues": [{"name": "a"} | queue_]} | partition]}

    check_outcome(yaml.dump(top, Dumper=yaml.CSafeDumper, allow_unicode=True))


def test_a_thousand_queues_are_read() -> None:
    many = parse_configuration(queues_below_root(1000))

    assert len(many.partitions[0].root.queues) == 1000


def queues_below_root(count: int) -> str:
    leaf = """\
          - name: queue-{n}
            submitacl: "*"
            properties: {{application.sort.policy: fifo, priority.offset: "{n}"}}
            resources:
              guaranteed: {{memory: 1Gi, vcore: 1}}
              max: {{memory: 10Gi, vcore: 10}}
            limits: [{{users: [u{n}], maxresources: {{vcore: 1}}, maxapplications: 3}}]
"""
    text = "partitions:\n  - queues:\n      - name: root\n        queues:\n"
    return text + "".join(leaf.format(n=n) for n in range(count))


def test_thousand_errors_take_no_longer_than_thousand_queues() -> None:
    read = outcome(queues_with_errors(1000))

    assert isinstance(read, ConfigurationError)
    assert len(read.errors) == 3000
    assert calls(queues_with_errors(400)) < 1.2 * calls(queues_below_root(400))
    assert calls(queues_with_errors(400)) < 6 * calls(queues_with_errors(100))


def queues_with_errors(count: int) -> str:
    queue_ = "  - {name: a.b, maxaplications: 5, parent: 7}\n"
    return f"partitions:\n- queues:\n{queue_ * count}"
