"""Affinity counts: matching allocations per node group, for the affinities of pending asks.

Only what an affinity of a pending ask refers to is counted, once for all equal affinities. Before
the first such ask, an allocation that is added or removed costs one check.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sireference.core.placement_constraints import AllocationAffinity, Group
from sireference.core.state.allocation import Allocation
from sireference.core.state.node import Node
from sireference.core.state.placement_profile import PlacementProfile
from sireference.core.state.tagged import ByTargets, TaggedAllocations, Targets


class _Kind(NamedTuple):
    """What is counted: allocations that match all targets, by the groups of a scope."""

    scope: str
    targets: Targets


class _Wish(NamedTuple):
    """What an affinity requires of a count."""

    affinity: AllocationAffinity
    counts_itself: bool

    def is_met(self, count: int) -> bool:
        """Return whether a group with that count is suitable for the ask."""
        return self.affinity.allows(count + self.counts_itself)


class _Count:
    """The number of allocations of one kind by group, and the interested profiles."""

    __slots__ = ("by_group", "is_counted", "profiles")

    def __init__(self) -> None:
        self.profiles: dict[_Wish, dict[PlacementProfile, None]] = {}
        self.by_group: Counter[Group] = Counter()
        self.is_counted = False


def _kind(affinity: AllocationAffinity) -> _Kind:
    return _Kind(affinity.scope, affinity.targets)


class AffinityCounts:
    """Affinity counts of the allocations of one partition."""

    __slots__ = ("_allocations", "_by_targets", "_counts", "_tagged")

    def __init__(self, allocations: Mapping[str, Allocation]) -> None:
        self._allocations = allocations
        self._tagged: TaggedAllocations | None = None  # from the first count on
        self._counts: dict[_Kind, _Count] = {}
        self._by_targets: ByTargets[_Kind] = ByTargets()

    def wanted(self, profile: PlacementProfile) -> None:
        """Start counting for this profile, which an ask has."""
        affinity = profile.affinity
        if affinity is None:
            return
        kind = _kind(affinity)
        if kind not in self._counts:
            self._counts[kind] = _Count()
            self._by_targets.add(kind, kind.targets)
        wish = _Wish(affinity, profile.counts_itself)
        self._counts[kind].profiles.setdefault(wish, {})[profile] = None

    def unwanted(self, profile: PlacementProfile) -> None:
        """Stop counting for this profile, which no ask has any more."""
        affinity = profile.affinity
        if affinity is None:
            return
        kind, wish = _kind(affinity), _Wish(affinity, profile.counts_itself)
        profiles = self._counts[kind].profiles
        del profiles[wish][profile]
        if not profiles[wish]:
            del profiles[wish]
        if not profiles:
            del self._counts[kind]
            self._by_targets.discard(kind, kind.targets)

    def allow(self, profile: PlacementProfile, node: Node) -> bool:
        """Return whether the affinity of ``profile``, if any, is satisfied on ``node``."""
        affinity = profile.affinity
        if affinity is None:
            return True
        count = self._counted(affinity)[affinity.group(node.node_id, node.attributes)]
        return affinity.allows(count + profile.counts_itself)

    def allocation_added(self, allocation: Allocation) -> list[PlacementProfile]:
        """Count ``allocation``; return the profiles that may have more suitable nodes now."""
        if self._tagged is None:
            return []
        self._tagged.add(allocation)
        return list(self._changed(allocation, 1))

    def allocation_removed(self, allocation: Allocation) -> list[PlacementProfile]:
        """Uncount ``allocation``; return the profiles that may have more suitable nodes now."""
        if self._tagged is None:
            return []
        self._tagged.discard(allocation)
        return list(self._changed(allocation, -1))

    def regrouped(self) -> list[PlacementProfile]:
        """Recount after a change of node attributes; return all profiles that may be affected."""
        profiles: list[PlacementProfile] = []
        for count in self._counts.values():
            count.is_counted = False
            for of_one_wish in count.profiles.values():
                profiles += of_one_wish
        return profiles

    def _counted(self, affinity: AllocationAffinity) -> Counter[Group]:
        count = self._counts.get(_kind(affinity)) or _Count()
        if not count.is_counted:
            if self._tagged is None:
                self._tagged = TaggedAllocations(self._allocations)
            nodes = (allocation.node for allocation in self._tagged.matching(affinity.targets))
            count.by_group = Counter(
                affinity.group(node.node_id, node.attributes) for node in nodes
            )
            count.is_counted = True
        return count.by_group

    def _changed(self, allocation: Allocation, by: int) -> Iterator[PlacementProfile]:
        """Change a count by one; return the profiles for which the group has become suitable."""
        node, tags = allocation.node, allocation.record.ask.tags
        for kind in self._by_targets.possible_matches(tags):
            count = self._counts[kind]
            if not count.is_counted or not all(target.holds(tags) for target in kind.targets):
                continue
            affinity = next(iter(count.profiles)).affinity  # any of them will do
            group = affinity.group(node.node_id, node.attributes)
            before = count.by_group[group]
            count.by_group[group] = before + by
            if not count.by_group[group]:
                del count.by_group[group]
            for wish, profiles in count.profiles.items():
                is_opened = wish.is_met(before + by) and not wish.is_met(before)
                if wish.affinity.required and is_opened:
                    yield from profiles
