"""Default configuration, in force if the RM sends none."""

from sireference.configuration.model import (
    DEFAULT_PARTITION,
    ROOT_QUEUE,
    Acl,
    Configuration,
    PartitionConfig,
    QueueConfig,
)


def default_configuration() -> Configuration:
    """One partition `default` with the leaf `root.default`, open to everybody.

    The SI does not define it. yunikorn-core 1.5.1 has no leaf here but a placement rule that
    creates one per namespace tag; a fixed leaf also serves an RM without namespaces.
    """
    leaf = QueueConfig(name="default", is_parent=False)
    root = QueueConfig(name=ROOT_QUEUE, is_parent=True, submit_acl=Acl(all=True), queues=(leaf,))
    return Configuration(partitions=(PartitionConfig(name=DEFAULT_PARTITION, root=root),))
