"""What an RM says of nodes."""

from typing import Final

from mixed.play import Play
from mixed.scheduler import living, node, occupied, open_node
from mixed.speech import Item
from mixed.statements import Kind

_EXISTING: Final = Item("k1", node="n1", identity="existing-1", memory=6)


def creates_a_node(play: Play) -> None:
    """A node is created."""
    play.given()

    play.says(lambda rm: rm.node("n1", attributes={"disk": "ssd"}))

    play.is_told(Kind.NODE_ACCEPTED, "n1")
    play.changes(gained=(node("n1"), open_node("n1")))


def creates_it_again(play: Play) -> None:
    """A node is created that is known: it is to be rejected."""
    play.given(lambda native: native.node("n1"))

    play.says(lambda rm: rm.node("n1", memory=20))

    play.is_told(Kind.NODE_REJECTED, "n1")


def creates_a_closed_node(play: Play) -> None:
    """A node is created that takes nothing yet."""
    play.given()

    play.says(lambda rm: rm.closed_node("n1"))

    play.is_told(Kind.NODE_ACCEPTED, "n1")
    play.changes(gained=(node("n1"),))


def creates_an_occupied_node(play: Play) -> None:
    """A node is created of which others occupy a part."""
    play.given()

    play.says(lambda rm: rm.node("n1", occupied=4))

    play.is_told(Kind.NODE_ACCEPTED, "n1")
    play.changes(gained=(node("n1"), open_node("n1"), occupied("n1", 4)))


def creates_a_node_with_allocations(play: Play) -> None:
    """A node is created with an allocation that exists there."""
    play.given(lambda native: native.application("a1"))

    play.says(lambda rm: rm.node("n1", existing=[_EXISTING]))

    play.is_told(Kind.NODE_ACCEPTED, "n1")
    play.changes(gained=(node("n1"), open_node("n1"), living("k1", memory=6)))


def updates_a_node(play: Play) -> None:
    """The room of a node changes."""
    play.given(lambda native: native.node("n1"))

    play.says(lambda rm: rm.node_update("n1", memory=20))

    play.changes(gained=(node("n1", 20),), lost=(node("n1"),))


def drains_a_node(play: Play) -> None:
    """A node is drained."""
    play.given(lambda native: native.node("n1"))

    play.says(lambda rm: rm.drain("n1"))

    play.changes(lost=(open_node("n1"),))


def undrains_a_node(play: Play) -> None:
    """A drained node is opened again."""
    play.given(lambda native: native.node("n1"), lambda native: native.drain("n1"))

    play.says(lambda rm: rm.undrain("n1"))

    play.changes(gained=(open_node("n1"),))


def decommissions_a_node(play: Play) -> None:
    """A node with an allocation is decommissioned: the RM confirms the release."""
    play.given(
        lambda native: native.node("n1"),
        lambda native: native.application("a1"),
        lambda native: native.ask(Item("k1")),
    )

    play.says(lambda rm: rm.decommission("n1"))
    play.confirms()

    play.is_told(Kind.RELEASED, "k1")
    play.changes(lost=(node("n1"), open_node("n1"), living("k1")))


def reports_utilisation(play: Play) -> None:
    """The utilisation of a node is reported."""
    play.given(lambda native: native.node("n1"))

    play.says(lambda rm: rm.utilisation("n1", 3))


STEPS: Final = (
    creates_a_node,
    creates_it_again,
    creates_a_closed_node,
    creates_an_occupied_node,
    creates_a_node_with_allocations,
    updates_a_node,
    drains_a_node,
    undrains_a_node,
    decommissions_a_node,
    reports_utilisation,
)
