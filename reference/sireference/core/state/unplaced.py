"""Unplaced profiles: those that found no node, with the nodes that gained capacity since."""

from collections.abc import Iterable

from sireference.core.resources import Resource
from sireference.core.state.need_index import NeedIndex
from sireference.core.state.node import Node
from sireference.core.state.placement_profile import PlacementProfile


class Unplaced:
    """Profiles that found no node.

    Profiles that require a node are indexed by that node, all others by need.
    """

    __slots__ = ("_by_node", "_gained", "_profiles")

    def __init__(self) -> None:
        self._gained: dict[PlacementProfile, dict[Node, None]] = {}  # since the last search
        self._profiles: dict[Node, dict[PlacementProfile, None]] = {}  # the inverse
        self._by_node: dict[str, NeedIndex[PlacementProfile]] = {}  # by required node, if any

    def add(self, profile: PlacementProfile, need: Resource) -> None:
        """Add ``profile``, which found no node among all or among those that gained capacity."""
        if profile in self._gained:
            self._part(profile)
        else:
            self._by_node.setdefault(profile.required_node, NeedIndex()).add(profile, need)
        self._gained[profile] = {}

    def forget(self, profile: PlacementProfile) -> None:
        """Remove ``profile``."""
        if profile not in self._gained:
            return
        self._part(profile)
        del self._gained[profile]
        needs = self._by_node[profile.required_node]
        needs.discard(profile)
        if not needs:
            del self._by_node[profile.required_node]

    def _part(self, profile: PlacementProfile) -> None:
        for node in self._gained[profile]:
            self._drop(profile, node)

    def _drop(self, profile: PlacementProfile, node: Node) -> None:
        profiles = self._profiles[node]
        del profiles[profile]
        if not profiles:
            del self._profiles[node]

    def gained(self, profile: PlacementProfile) -> Iterable[Node] | None:
        """Return the nodes that may have capacity for it now; None if it is not in here."""
        return self._gained.get(profile)

    def may_fit(self, profile: PlacementProfile, need: Resource) -> bool:
        """Return False only if ``profile`` certainly finds no node."""
        gained = self._gained.get(profile)
        if gained is None:
            return True
        while gained:
            node = next(iter(gained))
            if need.fits(node.free):
                return True
            del gained[node]  # others took the capacity
            self._drop(profile, node)
        return False

    def that_fit(self, node: Node) -> list[PlacementProfile]:
        """Return those that have capacity on ``node`` and do not require another one."""
        free = node.free

        def has_capacity(need: Resource) -> bool:
            return need.fits(free)

        fitting: list[PlacementProfile] = []
        for node_id in ("", node.node_id):
            if node_id in self._by_node:
                fitting += self._by_node[node_id].served_by(has_capacity)
        return fitting

    def gains(self, profile: PlacementProfile, node: Node) -> None:
        """Have ``node`` examined for ``profile``."""
        self._gained[profile][node] = None
        self._profiles.setdefault(node, {})[profile] = None

    def closed(self, node: Node) -> None:
        """Remove ``node``, which is closed for placements."""
        for profile in self._profiles.pop(node, ()):
            del self._gained[profile][node]

    def __bool__(self) -> bool:
        return bool(self._gained)
