"""Profiles that found no node, and the nodes that gained room since: no others need a look."""

from collections.abc import Iterable

from sireference.core.resources import Resource
from sireference.core.state.need_index import NeedIndex
from sireference.core.state.node import Node
from sireference.core.state.placement_profile import PlacementProfile


class Unplaced:
    """What was looked for in vain.

    Who requires a node is asked of that node alone; all others by what they need.
    """

    __slots__ = ("_by_node", "_gained", "_profiles")

    def __init__(self) -> None:
        self._gained: dict[
            PlacementProfile, dict[Node, None]
        ] = {}  # since it was looked for in vain
        self._profiles: dict[
            Node, dict[PlacementProfile, None]
        ] = {}  # the same from the other side
        self._by_node: dict[
            str, NeedIndex[PlacementProfile]
        ] = {}  # by the node they require, if they do

    def add(self, profile: PlacementProfile, need: Resource) -> None:
        """``profile`` was looked for in vain, on all nodes or on those that had gained room."""
        if profile in self._gained:
            self._part(profile)
        else:
            self._by_node.setdefault(profile.required_node, NeedIndex()).add(profile, need)
        self._gained[profile] = {}

    def forget(self, profile: PlacementProfile) -> None:
        """Forget that a place for ``profile`` was looked for."""
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
        """The nodes that may have room for it now; None if it was not looked for in vain."""
        return self._gained.get(profile)

    def may_fit(self, profile: PlacementProfile, need: Resource) -> bool:
        """Whether it is not certain that ``profile`` would be looked for in vain."""
        gained = self._gained.get(profile)
        if gained is None:
            return True
        while gained:
            node = next(iter(gained))
            if need.fits(node.free):
                return True
            del gained[node]  # others were quicker
            self._drop(profile, node)
        return False

    def that_fit(self, node: Node) -> list[PlacementProfile]:
        """Those that have room on ``node``, if it is no other that they require."""
        free = node.free

        def has_capacity(need: Resource) -> bool:
            return need.fits(free)

        fitting: list[PlacementProfile] = []
        for node_id in ("", node.node_id):
            if node_id in self._by_node:
                fitting += self._by_node[node_id].served_by(has_capacity)
        return fitting

    def gains(self, profile: PlacementProfile, node: Node) -> None:
        """Have ``node`` looked at for ``profile``."""
        self._gained[profile][node] = None
        self._profiles.setdefault(node, {})[profile] = None

    def closed(self, node: Node) -> None:
        """Nothing may be placed on ``node`` any more."""
        for profile in self._profiles.pop(node, ()):
            del self._gained[profile][node]

    def __bool__(self) -> bool:
        return bool(self._gained)
