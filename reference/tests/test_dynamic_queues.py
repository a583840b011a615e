"""Queues made by placement rules: removal, limits by tags, and forced creation."""

import pytest
from sireference.core.model import (
    AcceptedApplication,
    NewApplication,
    RejectedApplication,
    Settings,
    UpdateApplications,
)
from sireference.core.resources import Resource
from tests.driving import RM, identities, keys, of

QUEUES = """
partitions:
  - name: default
    placementrules:
      - {name: tag, value: namespace, create: true, parent: {name: fixed, value: root.spaces}}
      - {name: user, create: true, parent: {name: provided, create: true}}
      - {name: provided}
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: fixed
          - name: spaces
            parent: true
            childtemplate: {resources: {max: {memory: 5}, guaranteed: {memory: 1}}}
"""


class Spaces(RM):
    """An RM whose applications have a namespace; an empty queue is removed after 10 seconds."""

    def __init__(self) -> None:
        super().__init__(
            queues=QUEUES, settings=Settings(empty_queue_timeout=10, completing_timeout=30)
        )
        self.creates("n1", memory=100)

    def enters(self, application: str, namespace: str = "ns", **tags: str) -> bool:
        tags = {"namespace": namespace, **{key.replace("_", "."): tags[key] for key in tags}}
        return bool(of(self.submits(application, "", tags=tags), AcceptedApplication))

    def queues(self) -> list[str]:
        return [queue.name for queue in self.partition.root.all()]

    def gets(self, application: str, memory: int = 1) -> int:
        key = f"{application}-{memory}"
        return len(keys(self.asks(key, application, memory=memory, most=50)))


@pytest.fixture
def rm() -> Spaces:
    return Spaces()


def test_queue_is_removed_some_time_after_its_last_application(rm: Spaces) -> None:
    rm.enters("a1")
    rm.enters("a2")
    rm.removes("a1")
    rm.waits(60)
    assert "root.spaces.ns" in rm.queues()

    rm.removes("a2")
    rm.waits(9.9)
    assert "root.spaces.ns" in rm.queues()
    rm.waits(0.1)
    assert rm.queues() == ["root", "root.fixed", "root.spaces"]


def test_queue_is_removed_after_its_last_application_completes(rm: Spaces) -> None:
    rm.enters("a1")
    made = identities(rm.asks("k1", memory=1))
    rm.releases(made[0])

    rm.waits(30 + 9.9)
    assert "root.spaces.ns" in rm.queues()
    rm.waits(0.1)
    assert "root.spaces.ns" not in rm.queues()


def test_queue_stays_if_another_application_comes_in_time(rm: Spaces) -> None:
    rm.enters("a1")
    rm.removes("a1")
    rm.waits(5)
    rm.enters("a2")
    rm.waits(60)

    assert "root.spaces.ns" in rm.queues()
    assert rm.gets("a2") == 5


def test_removed_queue_is_created_again_on_demand(rm: Spaces) -> None:
    rm.enters("a1")
    rm.removes("a1")
    rm.waits(60)
    rm.enters("a2")

    assert "root.spaces.ns" in rm.queues()
    assert rm.gets("a2") == 5
    assert rm.partition.root.used.amounts["memory"] == 5


def test_dynamic_parents_are_removed_with_their_last_child(rm: Spaces) -> None:
    rm.submits("a1", "root.x", user="u1")
    rm.submits("a2", "root.x", user="u2")
    assert rm.queues()[-3:] == ["root.x", "root.x.u1", "root.x.u2"]

    rm.removes("a1")
    rm.waits(10)
    assert rm.queues()[-2:] == ["root.x", "root.x.u2"]
    rm.removes("a2")
    rm.waits(10)
    assert "root.x" in rm.queues()
    rm.waits(10)
    assert "root.x" not in rm.queues()


def test_queue_created_for_a_rejected_application_is_removed_too(rm: Spaces) -> None:
    gang = {"placeholder_ask": Resource({"memory": 6})}
    tags = {"namespace": "ns"}

    assert of(rm.submits("g1", "", tags=tags, **gang), RejectedApplication)
    rm.waits(10)
    assert "root.spaces.ns" not in rm.queues()


def test_configured_queues_stay(rm: Spaces) -> None:
    rm.submits("a1", "root.fixed")
    rm.removes("a1")
    rm.waits(1000)

    assert rm.queues() == ["root", "root.fixed", "root.spaces"]


# Namespace quotas


# requirement: SI-CONST-005
def test_tag_sets_the_maximum_of_the_namespace(rm: Spaces) -> None:
    rm.enters("a1", namespace_resourcequota='{"resources": {"memory": {"value": 12}}}')

    assert rm.gets("a1") == 12


def test_latest_application_sets_the_quota(rm: Spaces) -> None:
    rm.enters("a1", namespace_resourcequota='{"resources": {"memory": {"value": 3}}}')
    assert rm.gets("a1") == 3
    rm.enters("a2")
    assert rm.gets("a2") == 0

    more = {"namespace": "ns", "namespace.resourcequota": '{"resources":{"memory":{"value":7}}}'}
    assert keys(rm.submits("a3", "", tags=more)) == ["a1-1"] * 4


def test_namespaces_have_separate_quotas(rm: Spaces) -> None:
    rm.enters("a1", "one", namespace_resourcequota='{"resources": {"memory": {"value": 3}}}')
    rm.enters("a2", "two")

    assert (rm.gets("a1"), rm.gets("a2")) == (3, 5)


def test_tag_sets_the_guarantee_of_the_namespace(rm: Spaces) -> None:
    rm.enters("a1", namespace_resourceguaranteed='{"resources": {"memory": {"value": 4}}}')

    leaf = rm.partition.root.children["spaces"].children["ns"]
    assert (leaf.guaranteed, leaf.maximum) == (Resource({"memory": 4}), Resource({"memory": 5}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "memory 12",
        "[]",
        "null",
        "{}",
        '{"resources": 1}',
        '{"resources": {"memory": 12}}',
        '{"resources": {"memory": {"value": "12"}}}',
        '{"resources": {"memory": {"value": 1.5}}}',
        '{"resources": {"memory": {"value": true}}}',
        '{"resources": {"memory": {"value": -1}}}',
        '{"resources": {"memory": {"value": 0}}}',
        '{"resources": {"memory": {"value": 1' + "0" * 5000 + "}}}",
        '{"resources": {"memory": {"value": 9223372036854775808}}}',
        "[" * 5_000,
        '{"resources": {' + " " * 10_000 + '"memory": {"value": 12}}}',
    ],
)
def test_invalid_quota_changes_nothing(rm: Spaces, text: str) -> None:
    assert rm.enters("a1", namespace_resourcequota=text, namespace_resourceguaranteed=text)
    assert rm.gets("a1") == 5


def test_tags_do_not_change_a_configured_queue(rm: Spaces) -> None:
    rm.submits(
        "a1",
        "root.fixed",
        tags={"namespace.resourcequota": '{"resources": {"memory": {"value": 1}}}'},
    )

    assert rm.gets("a1") == 50


def test_rejected_application_does_not_change_the_quota(rm: Spaces) -> None:
    rm.enters("a1")
    tags = {"namespace": "ns", "namespace.resourcequota": '{"resources":{"memory":{"value":2}}}'}
    gang = {"placeholder_ask": Resource({"memory": 3})}

    assert of(rm.submits("g1", "", tags=tags, **gang), RejectedApplication)
    assert rm.gets("a1") == 5


def test_gang_is_checked_against_the_quota_in_its_tag(rm: Spaces) -> None:
    tags = {"namespace": "ns", "namespace.resourcequota": '{"resources":{"memory":{"value":9}}}'}
    gang = {"placeholder_ask": Resource({"memory": 8})}

    assert of(rm.submits("g1", "", tags=tags, **gang), AcceptedApplication)


# requirement: SI-CONST-011
def test_tag_sets_the_application_limit_of_the_namespace(rm: Spaces) -> None:
    rm.enters("a1", namespace_resourcemaxapps="1")
    rm.enters("a2", namespace_resourcemaxapps="1")
    rm.enters("a3", "other")

    assert (rm.gets("a1"), rm.gets("a2"), rm.gets("a3")) == (5, 0, 5)
    assert keys(rm.removes("a1")) == ["a2-1"] * 5


# requirement: SI-CONST-011
def test_latest_application_sets_the_application_limit(rm: Spaces) -> None:
    rm.enters("a1", namespace_resourcemaxapps="1")
    assert keys(rm.asks("k1", "a1", memory=1)) == ["k1"]
    rm.enters("a2")
    assert keys(rm.asks("k2", "a2", memory=1)) == []

    tags = {"namespace": "ns", "namespace.resourcemaxapps": "2"}
    assert keys(rm.submits("a3", "", tags=tags)) == ["k2"]


# requirement: SI-CONST-011
@pytest.mark.parametrize(
    "text", ["", "0", "-1", "+1", "1.0", "1e0", " 1", "1_0", "one", "9" * 5000]
)
def test_invalid_application_limit_changes_nothing(rm: Spaces, text: str) -> None:
    assert rm.enters("a1", namespace_resourcemaxapps=text)
    assert rm.enters("a2")
    assert (rm.gets("a1", 2), rm.gets("a2")) == (2, 1)


# requirement: SI-CONST-011
def test_rejected_application_does_not_change_the_application_limit(rm: Spaces) -> None:
    rm.enters("a1")
    tags = {"namespace": "ns", "namespace.resourcemaxapps": "1"}

    assert of(
        rm.submits("g1", "", tags=tags, placeholder_ask=Resource({"memory": 6})),
        RejectedApplication,
    )
    rm.enters("a2")
    assert (rm.gets("a1", 2), rm.gets("a2")) == (2, 1)


# Forced creation


def forced(application: str, queue: str = "root.missing", message: str = "true") -> NewApplication:
    return NewApplication(application, queue, tags={"application.create.force": message})


def verdict(rm: RM, new: NewApplication) -> bool:
    return bool(of(rm.scheduler.handle(UpdateApplications("rm", (new,)), 1.0), AcceptedApplication))


# requirement: SI-CONST-006
@pytest.mark.parametrize(
    ("message", "taken"),
    [("true", True), ("True", True), ("1", True), ("false", False), ("", False), ("yes", False)],
)
def test_forced_application_is_accepted_where_another_is_rejected(
    message: str, *, taken: bool
) -> None:
    rm = RM()
    rm.creates("n1", memory=10)

    assert verdict(rm, forced("a1", message=message)) is taken
    assert bool(keys(rm.asks("k1", memory=1))) is taken


def test_forced_application_goes_to_its_regular_queue_if_it_may() -> None:
    rm = RM()
    verdict(rm, forced("a1", "root.default"))

    assert rm.partition.applications["a1"].leaf.name == "root.default"


def test_only_forced_applications_use_the_recovery_queue() -> None:
    rm = RM()
    rm.creates("n1", memory=10)
    assert verdict(rm, forced("a1"))
    leaf = rm.partition.applications["a1"].leaf.name

    assert not verdict(rm, NewApplication("a2", leaf))
    assert verdict(rm, forced("a3", leaf))
    assert rm.partition.applications["a3"].leaf.name == leaf


def test_forced_creation_does_not_accept_duplicates_or_unknown_partitions() -> None:
    rm = RM()
    assert verdict(rm, forced("a1"))

    assert not verdict(rm, forced("a1"))
    assert not verdict(rm, NewApplication("a2", "", "nope", tags=forced("").tags))


def test_quota_tags_do_not_limit_the_recovery_queue() -> None:
    rm = RM()
    rm.creates("n1", memory=10)
    quota = {"namespace.resourcequota": '{"resources": {"memory": {"value": 1}}}'}
    rm.submits("a1", "root.missing", tags={**forced("").tags, **quota})

    assert len(keys(rm.asks("k1", memory=1, most=5))) == 5


def test_empty_recovery_queue_is_removed() -> None:
    rm = RM()
    rm.submits("a1", "root.missing", tags=forced("").tags)
    rm.removes("a1")
    rm.waits(60)

    assert [queue.name for queue in rm.partition.root.all()] == ["root", "root.default"]
