"""Queue configurations: the one of the cluster every test runs in, and small ones beside it.

Where the revision lets an RM send its configuration it does. In 2021-02 it only names a policy
group, for which the scheduler was given the same file: fixtures/queues/conformance.yaml for the
group ``conformance``, siconform/queues/NAME.yaml for NAME.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final, Self

from siconform import shipped
from siconform.outcomes import PreconditionFailed

POLICY_GROUP: Final = "conformance"
_SMALL: Final = resources.files("siconform").joinpath("queues")


class QueueConfiguration(str):
    """The YAML text of a configuration, with the policy group that stands for it."""

    __slots__ = ("policy_group",)

    policy_group: str

    def __new__(cls, text: str, policy_group: str) -> Self:
        """The text for an RM that sends it, the group for one that cannot."""
        configuration = super().__new__(cls, text)
        configuration.policy_group = policy_group
        return configuration


UNUSABLE: Final = QueueConfiguration("::not yaml::", "siconform-never-configured")
"""A configuration in no format, and a policy group nobody has configured."""


def queues_without_limits(*leaves: str) -> str:
    """A configuration whose only queues are these leaves below root; nothing is created."""
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
    """A configuration whose only queues are these leaves below root; a number limits memory."""
    return queues_without_limits() + "".join(
        f"          - name: {leaf}\n"
        + (f"            resources: {{max: {{memory: {quota}}}}}\n" if quota is not None else "")
        for leaf, quota in leaves.items()
    )


def queues_with_guarantees(**leaves: int) -> str:
    """A configuration whose only queues are these leaves, each with so much memory guaranteed."""
    return queues_without_limits() + "".join(
        f"          - name: {leaf}\n            resources: {{guaranteed: {{memory: {right}}}}}\n"
        for leaf, right in leaves.items()
    )


def queue_with_limits(leaf: str, *limits: Mapping[str, object]) -> str:
    """A configuration whose only queue is this leaf below root; each limit as files have it.

    That is ``{"users": ["somebody"], "maxapplications": 1}``, with ``groups`` or ``maxresources``.
    """
    written = "".join(f"              - {json.dumps(dict(limit))}\n" for limit in limits)
    return queues_without_limits(leaf) + (f"            limits:\n{written}" if written else "")


def queues_with_enforced_quotas(right: int, **leaves: int) -> str:
    """Leaves below root, each with its maximum of memory, enforced at once down to the right."""
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
    """The cluster of all tests."""
    return QueueConfiguration(_conformance_file().read_text(encoding="utf-8"), POLICY_GROUP)


@cache
def queues(name: str) -> QueueConfiguration:
    """The small configuration of this name, for tests that need queues of their own."""
    return QueueConfiguration(_SMALL.joinpath(f"{name}.yaml").read_text(encoding="utf-8"), name)


def policy_groups() -> Mapping[str, Path]:
    """Every group with its file: what a scheduler has to be given that cannot be sent them."""
    small = {file.name.removesuffix(".yaml"): Path(str(file)) for file in _SMALL.iterdir()}
    return {POLICY_GROUP: _conformance_file(), **dict(sorted(small.items()))}


def _conformance_file() -> Path:
    file = shipped.fixtures("queues") / "conformance.yaml"
    if not file.is_file():
        raise PreconditionFailed(f"the cluster configuration {file} is missing")
    return file
