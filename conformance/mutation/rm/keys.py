"""Mutants: the keys that an RM gives."""

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from sirm.codec import parts
from sirm.core.cluster import Cluster, Container
from sirm.core.model import ContainerRecord
from sirm.shell import driver
from siwire.ext import extension_pb2 as ext

from mutation.mutant import rm_mutant
from mutation.patching import Patch, instead_of

NewKey: TypeAlias = Callable[[Cluster, str], str]


@rm_mutant(
    "rm-counts-keys-in-each-application",
    "The containers of every application have the keys 1, 2 and so on.",
    breaks=("SI-ALLOC-017",),
)
def _(patch: Patch) -> None:
    numbers: Counter[str] = Counter()

    def new_key(_original: NewKey, _self: Cluster, name: str) -> str:
        numbers[name] += 1
        patch.fires()
        return str(numbers[name])

    patch.instead_of(Cluster.new_key, new_key)


@rm_mutant(
    "rm-has-one-key-for-each-application",
    "All containers of an application are requested under the same key.",
    breaks=("SI-ALLOC-017",),
)
def _(patch: Patch) -> None:
    def allocation(
        original: Callable[[ContainerRecord, Any], None], record: ContainerRecord, message: Any
    ) -> None:
        original(record, message)
        message.allocationKey = record.application_id
        patch.fires()

    def view(
        original: Callable[[Container], ext.ContainerView], container: Container
    ) -> ext.ContainerView:
        shown = original(container)
        shown.allocation_key = shown.application_id
        return shown

    patch.instead_of(parts.allocation, allocation)
    patch.instead_of(driver.container_view, view)


@rm_mutant(
    "rm-takes-keys-for-foreign-containers",
    "A foreign container gets the key of a container of the RM.",
    breaks=("SI-ALLOC-017",),
)
@instead_of(Cluster.new_key)
def _(patch: Patch, original: NewKey, self: Cluster, name: str) -> str:
    if name in self.applications or not self.containers:
        return original(self, name)
    patch.fires()
    return next(iter(self.containers))
