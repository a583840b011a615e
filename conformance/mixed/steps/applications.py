"""What an RM says of applications."""

from typing import Final

from mixed.play import Play
from mixed.scheduler import application, living
from mixed.speech import Item
from mixed.statements import Kind


def submits_an_application(play: Play) -> None:
    """An application is submitted."""
    play.given()

    play.says(lambda rm: rm.application("a1"))

    play.is_told(Kind.APPLICATION_ACCEPTED, "a1")
    play.changes(gained=(application("a1"),))


def submits_to_no_queue(play: Play) -> None:
    """An application is submitted to a queue there is not: it is to be rejected."""
    play.given()

    play.says(lambda rm: rm.application("a1", queue="root.missing"))

    play.is_told(Kind.APPLICATION_REJECTED, "a1")


def submits_a_gang(play: Play) -> None:
    """A gang application is submitted."""
    play.given()

    play.says(lambda rm: rm.application("a1", "root.fifo", gang=4))

    play.is_told(Kind.APPLICATION_ACCEPTED, "a1")
    play.changes(gained=(application("a1", "root.fifo"),))


def submits_a_hard_gang(play: Play) -> None:
    """A gang application is submitted with a style of gang scheduling."""
    play.given()

    play.says(lambda rm: rm.application("a1", "root.fifo", gang=4, style="Hard"))

    play.is_told(Kind.APPLICATION_ACCEPTED, "a1")
    play.changes(gained=(application("a1", "root.fifo"),))


def removes_an_application(play: Play) -> None:
    """An application with an allocation is removed: the RM confirms the release."""
    play.given(
        lambda native: native.node("n1"),
        lambda native: native.application("a1"),
        lambda native: native.ask(Item("k1")),
    )

    play.says(lambda rm: rm.removal("a1"))
    play.confirms()

    play.is_told(Kind.RELEASED, "k1")
    play.changes(lost=(application("a1"), living("k1")))


STEPS: Final = (
    submits_an_application,
    submits_to_no_queue,
    submits_a_gang,
    submits_a_hard_gang,
    removes_an_application,
)
