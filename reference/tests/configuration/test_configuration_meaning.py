"""Meaning of a configuration: defaults, inheritance, the root queue."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from sireference.configuration.defaults import default_configuration
from sireference.configuration.expressions import read_expression
from sireference.configuration.model import (
    Acl,
    ChildTemplate,
    Configuration,
    FilterType,
    Limit,
    NodeSortPolicy,
    NodeSortType,
    PartitionConfig,
    PlacementFilter,
    PlacementRule,
    PriorityPolicy,
    QueueConfig,
    QueuePreemptionPolicy,
    QueueProperties,
    RuleName,
    SortPolicy,
)
from sireference.configuration.parsing import parse_configuration

GOOD = Path(__file__).parents[3] / "fixtures" / "queues" / "good"
GI = 2**30


def partition(text: str) -> PartitionConfig:
    [read] = parse_configuration(text).partitions
    return read


def queues(text: str) -> tuple[QueueConfig, ...]:
    return partition(f"partitions: [{{queues: {text}}}]").root.queues


def everything() -> Configuration:
    return parse_configuration((GOOD / "everything.yaml").read_text(encoding="utf-8"))


def test_empty_text_is_the_default_configuration() -> None:
    for text in ("", "  \n\t\n"):
        assert parse_configuration(text) == default_configuration()


def test_default_configuration_has_one_leaf_open_to_everybody() -> None:
    [default] = default_configuration().partitions

    assert default.name == "default"
    assert (default.root.name, default.root.is_parent) == ("root", True)
    assert default.root.submit_acl.allows("anybody", ())
    [leaf] = default.root.queues
    assert (leaf.name, leaf.is_parent) == ("default", False)
    assert default.preemption_enabled


def test_smallest_configuration_has_all_defaults() -> None:
    root = QueueConfig(name="root", is_parent=True)

    assert partition("partitions: [{queues: []}]") == PartitionConfig(
        name="default",
        root=root,
        placement_rules=(),
        limits=(),
        preemption_enabled=True,
        node_sort_policy=NodeSortPolicy(NodeSortType.FAIR, {"vcore": 1.0, "memory": 1.0}),
    )


def test_yaml_null_is_a_key_that_is_not_written() -> None:
    text = """\
partitions:
  - name:
    limits: ~
    placementrules: null
    preemption: {enabled: }
    nodesortpolicy:
    queues:
      - {name: a, parent: , resources: ~, properties: , submitacl: , maxapplications: , queues: }
"""
    assert partition(text) == partition("partitions: [{queues: [{name: a}]}]")


def test_queues_are_read_whole() -> None:
    production = everything().partitions[0].root.queues[0]

    assert production.name == "production"
    assert production.is_parent
    assert production.max_applications == 20
    assert production.guaranteed == {"memory": 100 * GI, "vcore": 10_000}
    assert production.max == {"memory": 200 * GI, "vcore": 20_000, "nvidia.com/gpu": 4}
    assert production.submit_acl == Acl()
    batch, live = production.queues
    assert [batch.name, live.name] == ["batch", "live"]
    assert (batch.is_parent, live.is_parent) == (False, False)
    assert batch.max == {"memory": 150 * 10**9}
    assert batch.guaranteed == {"memory": 50 * GI, "vcore": 2500}
    assert (live.max, live.guaranteed) == (None, None)
    assert live.submit_acl == Acl(frozenset({"alice", "bob"}), frozenset({"developers"}))
    root = everything().partitions[0].root
    assert root.submit_acl == Acl(all=True)
    assert root.admin_acl == Acl(frozenset({"admin"}), frozenset({"operators"}))


def test_properties_are_inherited_but_for_priorities_and_barriers() -> None:
    root = everything().partitions[0].root
    production, tenants = root.queues
    batch, live = production.queues
    inherited = QueueProperties(
        sort_policy=SortPolicy.FAIR, preemption_delay=10.0, others={"site.owner": "platform"}
    )

    assert root.properties == replace(
        inherited, priority_offset=5, preemption_policy=QueuePreemptionPolicy.FENCE
    )
    assert production.properties == replace(
        inherited,
        sort_priority=False,
        priority_policy=PriorityPolicy.FENCE,
        priority_offset=-10,
        preemption_policy=QueuePreemptionPolicy.DISABLED,
    )
    below = replace(
        inherited, sort_priority=False, preemption_policy=QueuePreemptionPolicy.DISABLED
    )
    assert live.properties == below
    assert batch.properties == replace(
        below, sort_policy=SortPolicy.STATE_AWARE, preemption_delay=90.0
    )
    assert tenants.properties == inherited


def test_limits_are_read_whole() -> None:
    root = everything().partitions[0].root

    assert root.limits == (
        Limit(("alice", "bob"), (), {"memory": 64 * GI, "vcore": 16_000}, 8, "alice and bob"),
        Limit(("*",), (), None, 2, "everybody else"),
    )
    assert root.queues[0].queues[0].limits == (
        Limit(("alice",), ("developers", "*"), {"memory": GI}, 1),
    )


def test_limits_of_the_partition_and_of_the_root_are_the_same() -> None:
    default, gpu = everything().partitions

    assert default.limits == default.root.limits
    assert gpu.limits == gpu.root.limits == (Limit((), ("developers",), None, 5),)


def test_template_is_complete_and_inherits_nothing() -> None:
    production, tenants = everything().partitions[0].root.queues

    assert production.child_template is None
    assert tenants.child_template == ChildTemplate(
        max={"memory": 4 * GI, "vcore": 2000},
        guaranteed={"memory": GI},
        max_applications=3,
        properties=QueueProperties(sort_policy=SortPolicy.FAIR),
    )


def test_template_of_a_leaf_means_nothing() -> None:
    leaf, parent = queues(
        "[{name: a, childtemplate: {maxapplications: 1}},"
        " {name: b, parent: true, childtemplate: {maxapplications: 1}}]"
    )

    assert leaf.child_template is None
    assert parent.child_template == ChildTemplate(max_applications=1)


def test_empty_template_limits_nothing() -> None:
    [queue] = queues("[{name: a, parent: true, childtemplate: {}}]")

    assert queue.child_template == ChildTemplate()


def test_placement_rules_are_read_whole() -> None:
    tenants = PlacementRule(RuleName.FIXED, value="tenants")

    assert everything().partitions[0].placement_rules == (
        PlacementRule(
            RuleName.PROVIDED,
            filter=PlacementFilter(FilterType.DENY, frozenset({"mallory", "trudy"})),
        ),
        PlacementRule(
            RuleName.TAG,
            create=True,
            filter=PlacementFilter(group_expression=read_expression("dev.*")),
            parent=tenants,
            value="namespace",
        ),
        PlacementRule(
            RuleName.USER, create=True, parent=PlacementRule(RuleName.FIXED, value="root.tenants")
        ),
        PlacementRule(RuleName.FIXED, value="root.production.live"),
    )


def test_preemption_and_node_order_are_read() -> None:
    default, gpu = everything().partitions

    assert not default.preemption_enabled
    assert default.node_sort_policy == NodeSortPolicy(
        NodeSortType.BINPACKING, {"memory": 2.0, "nvidia.com/gpu": 10.0}
    )
    assert gpu.preemption_enabled
    assert not default.quota_preemption_enabled


def test_preemption_for_quotas_is_switched_on_by_itself() -> None:
    text = "partitions: [{preemption: {quotapreemptionenabled: yes}, queues: [{name: a}]}]"

    assert partition(text).quota_preemption_enabled


def test_the_delay_of_preemption_for_quotas_is_inherited() -> None:
    above = "properties: {quota.preemption.delay: 5s}"
    [parent] = queues(f"[{{name: a, {above}, queues: [{{name: b}}]}}]")

    assert [parent.queues[0].properties.quota_preemption_delay] == [5.0]


def test_root_is_put_above_top_queues_that_are_not_root() -> None:
    assert [queue.name for queue in queues("[{name: a}]")] == ["a"]
    assert [queue.name for queue in queues("[{name: a}, {name: b}]")] == ["a", "b"]
    assert [queue.name for queue in queues("[{name: Root, queues: [{name: a}]}]")] == ["a"]
    # As in yunikorn-core: a root among others is a child of the implicit root.
    assert [queue.name for queue in queues("[{name: root}, {name: b}]")] == ["root", "b"]


def test_root_is_always_a_parent() -> None:
    assert partition("partitions: [{queues: [{name: root, parent: false}]}]").root.is_parent


def test_queue_with_children_is_always_a_parent() -> None:
    a, b, c = queues(
        "[{name: a, parent: false, queues: [{name: x}]}, {name: b, parent: true}, {name: c}]"
    )

    assert (a.is_parent, b.is_parent, c.is_parent) == (True, True, False)


def test_amounts_and_counts_of_zero_are_no_limits() -> None:
    [queue] = queues("[{name: a, maxapplications: 0, resources: {max: {memory: 0}}}]")
    assert (queue.max, queue.max_applications) == (None, None)

    [queue] = queues("[{name: a, resources: {max: {memory: 0, vcore: 1}}}]")
    assert queue.max == {"memory": 0, "vcore": 1000}


def test_partition_without_a_name_is_the_default_partition() -> None:
    for name in ("", "name: DEFAULT, ", 'name: "", '):
        assert partition(f"partitions: [{{{name}queues: []}}]").name == "default"
    assert partition("partitions: [{name: Other, queues: []}]").name == "Other"


def test_repeated_parts_are_read_as_if_written_out() -> None:
    configuration = parse_configuration((GOOD / "repeated.yaml").read_text(encoding="utf-8"))

    red, green, blue = configuration.partitions[0].root.queues
    assert [red.name, green.name, blue.name] == ["red", "green", "blue"]
    assert red.max == green.max == blue.max == {"memory": 10 * GI, "vcore": 10_000}
    assert (green.guaranteed, blue.guaranteed) == (None, {"memory": GI})


def test_records_are_known_without_knowing_yaml() -> None:
    """The core reads the records and must not import YAML."""
    code = "import sys; from sireference.configuration import model, defaults; print(*sys.modules)"

    loaded = subprocess.run(  # noqa: S603 - our own interpreter and our own code
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()

    assert "sireference.configuration.model" in loaded
    assert "yaml" not in loaded
