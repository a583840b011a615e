"""Queue configurations: that of the shared cluster of all tests, and small ones.

An RM sends its configuration if the revision allows. In 2021-02 it only names a policy group, for
which the scheduler was given the same file: fixtures/queues/conformance.yaml for the group
``conformance``, siconform/queues/NAME.yaml for NAME.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Self

from siconform import plain_yaml, shipped
from siconform.outcomes import PreconditionFailed

POLICY_GROUP: Final = "conformance"
_SMALL: Final = resources.files("siconform").joinpath("queues")


class QueueConfiguration(str):
    """The YAML of a configuration, with the policy group that stands for it."""

    __slots__ = ("policy_group",)

    policy_group: str

    def __new__(cls, text: str, policy_group: str) -> Self:
        """Create it from the YAML to send and the policy group to name instead."""
        configuration = super().__new__(cls, text)
        configuration.policy_group = policy_group
        return configuration


UNUSABLE: Final = QueueConfiguration("::not yaml::", "siconform-never-configured")
"""A configuration in no format, with an unconfigured policy group."""


def queues_without_limits(*leaves: str) -> str:
    """Return a configuration with only these leaves below root and no dynamic queues."""
    names = "".join(f"          - name: {leaf}\n" for leaf in leaves)
    return (
        "partitions:\n"
        "  - name: default\n"
        "    queues:\n"
        "      - name: root\n"
        '        submitacl: "*"\n'
        "        queues:\n"
        f"{names}"
    )


def queues_with_quotas(**leaves: int | None) -> str:
    """Return a configuration with only these leaves below root; a number limits memory."""
    return queues_without_limits() + "".join(
        f"          - name: {leaf}\n"
        + (f"            resources: {{max: {{memory: {quota}}}}}\n" if quota is not None else "")
        for leaf, quota in leaves.items()
    )


def queues_with_shared_quota(parent: str, *leaves: str, most: Mapping[str, int]) -> str:
    """Return a configuration with only this parent queue, which has a quota, and its leaves.

    The first leaf has the same quota as its parent, the others have none.
    """
    resources = f"resources: {json.dumps({'max': dict(most)})}\n"
    written = "".join(f"              - name: {leaf}\n" for leaf in leaves[1:])
    return queues_without_limits(parent) + (
        f"            {resources}"
        "            queues:\n"
        f"              - name: {leaves[0]}\n"
        f"                {resources}{written}"
    )


def queues_with_guarantees(**leaves: int) -> str:
    """Return a configuration with only these leaves, each with this guaranteed memory."""
    return queues_without_limits() + "".join(
        f"          - name: {leaf}\n            resources: {{guaranteed: {{memory: {right}}}}}\n"
        for leaf, right in leaves.items()
    )


def queue_with_limits(leaf: str, *limits: Mapping[str, object]) -> str:
    """Return a configuration with only this leaf below root; limits are as in files.

    For example ``{"users": ["alice"], "maxapplications": 1}``, with ``groups`` or ``maxresources``.
    """
    written = "".join(f"              - {json.dumps(dict(limit))}\n" for limit in limits)
    return queues_without_limits(leaf) + (f"            limits:\n{written}" if written else "")


def queues_with_enforced_quotas(right: int, **leaves: int) -> str:
    """Return leaves with a memory quota, enforced at once by preemption down to ``right``."""
    return queues_without_limits().replace(
        "  - name: default\n",
        "  - name: default\n    preemption: {enabled: true, quotapreemptionenabled: true}\n",
    ) + "".join(
        f"          - name: {leaf}\n"
        f"            properties: {{quota.preemption.delay: 1ms}}\n"
        f"            resources: {{guaranteed: {{memory: {right}}}, max: {{memory: {quota}}}}}\n"
        for leaf, quota in leaves.items()
    )


@cache
def conformance_queues() -> QueueConfiguration:
    """Return the configuration of the shared cluster."""
    return QueueConfiguration(_conformance_file().read_text(encoding="utf-8"), POLICY_GROUP)


def conformance_queues_and(
    leaf: str,
    *limits: Mapping[str, object],
    most: Mapping[str, int] | None = None,
    most_applications: int | None = None,
) -> str:
    """Return the queues of the shared cluster and one more leaf below root, which takes gangs.

    Its limits are as in ``queue_with_limits``; ``most`` is its quota.
    """
    lines = ["properties: {application.sort.policy: fifo}"]
    if most is not None:
        lines.append(f"resources: {json.dumps({'max': dict(most)})}")
    if limits:
        lines.append(f"limits: {json.dumps([dict(limit) for limit in limits])}")
    if most_applications is not None:
        lines.append(f"maxapplications: {most_applications}")
    return f"{conformance_queues()}          - name: {leaf}\n" + "".join(
        f"            {line}\n" for line in lines
    )


@cache
def leaf_queues() -> tuple[str, ...]:
    """Return the full names of the configured leaf queues of the shared cluster."""
    (partition,) = plain_yaml.load(conformance_queues())["partitions"]
    return tuple(leaf for queue in partition["queues"] for leaf in _leaves(queue, ""))


def _leaves(queue: Mapping[str, Any], above: str) -> Iterator[str]:
    name = f"{above}{queue['name']}"
    for child in queue.get("queues", ()):
        yield from _leaves(child, f"{name}.")
    if not ("queues" in queue or queue.get("parent")):
        yield name


@cache
def queues(name: str) -> QueueConfiguration:
    """Return the small configuration of this name, for tests with special queues."""
    return QueueConfiguration(_SMALL.joinpath(f"{name}.yaml").read_text(encoding="utf-8"), name)


def policy_groups() -> Mapping[str, Path]:
    """Return every group with its file, for a scheduler that cannot receive them."""
    small = {file.name.removesuffix(".yaml"): Path(str(file)) for file in _SMALL.iterdir()}
    return {POLICY_GROUP: _conformance_file(), **dict(sorted(small.items()))}


def _conformance_file() -> Path:
    file = shipped.fixtures("queues") / "conformance.yaml"
    if not file.is_file():
        raise PreconditionFailed(f"the cluster configuration {file} is missing")
    return file
