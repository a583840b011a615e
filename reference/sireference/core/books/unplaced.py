"""Shapes that found no node, and the nodes that gained room since: no others need a look."""

from collections.abc import Iterable

from sireference.core.books.needs import Needs
from sireference.core.books.node import Node
from sireference.core.books.pending import Shape
from sireference.core.resources import Resource


class Unplaced:
    """What was looked for in vain.

    Who requires a node is asked of that node alone; all others by what they need.
    """

    __slots__ = ("_by_node", "_gained", "_shapes")

    def __init__(self) -> None:
        self._gained: dict[Shape, dict[Node, None]] = {}  # since it was looked for in vain
        self._shapes: dict[Node, dict[Shape, None]] = {}  # the same from the other side
        self._by_node: dict[str, Needs] = {}  # by the node they require, if they do

    def add(self, shape: Shape, need: Resource) -> None:
        """``shape`` was looked for in vain, on all nodes or on those that had gained room."""
        if shape in self._gained:
            self._part(shape)
        else:
            self._by_node.setdefault(shape.required_node, Needs()).add(shape, need)
        self._gained[shape] = {}

    def forget(self, shape: Shape) -> None:
        """Nobody knows of ``shape`` any more that it was looked for."""
        if shape not in self._gained:
            return
        self._part(shape)
        del self._gained[shape]
        needs = self._by_node[shape.required_node]
        needs.discard(shape)
        if not needs:
            del self._by_node[shape.required_node]

    def _part(self, shape: Shape) -> None:
        for node in self._gained[shape]:
            self._drop(shape, node)

    def _drop(self, shape: Shape, node: Node) -> None:
        shapes = self._shapes[node]
        del shapes[shape]
        if not shapes:
            del self._shapes[node]

    def gained(self, shape: Shape) -> Iterable[Node] | None:
        """The nodes that may have room for ``shape`` now; None if it was not looked for in vain."""
        return self._gained.get(shape)

    def may_fit(self, shape: Shape, need: Resource) -> bool:
        """Whether it is not certain that ``shape`` would be looked for in vain."""
        gained = self._gained.get(shape)
        if gained is None:
            return True
        while gained:
            node = next(iter(gained))
            if need.fits(node.free):
                return True
            del gained[node]  # others were quicker
            self._drop(shape, node)
        return False

    def that_fit(self, node: Node) -> list[Shape]:
        """Those that have room on ``node``, if it is no other that they require."""
        free = node.free

        def has_room(need: Resource) -> bool:
            return need.fits(free)

        fitting: list[Shape] = []
        for node_id in ("", node.node_id):
            if node_id in self._by_node:
                fitting += self._by_node[node_id].served_by(has_room)
        return fitting

    def gains(self, shape: Shape, node: Node) -> None:
        """``node`` is worth a look for ``shape``."""
        self._gained[shape][node] = None
        self._shapes.setdefault(node, {})[shape] = None

    def closed(self, node: Node) -> None:
        """Nothing may be placed on ``node`` any more."""
        for shape in self._shapes.pop(node, ()):
            del self._gained[shape][node]

    def __bool__(self) -> bool:
        return bool(self._gained)
