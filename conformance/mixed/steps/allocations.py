"""What an RM asks for, and what it says exists."""

from typing import Final

from siwire import Capability, constants

from mixed.play import Play
from mixed.scheduler import PLACEHOLDER_TIMEOUT, application, living, waiting
from mixed.speech import Item, Utterance
from mixed.statements import Kind
from mixed.vocabulary import Vocabulary

_LONGER: Final = 1.0  # seconds past a timeout


def _node(native: Vocabulary) -> Utterance:
    return native.node("n1")


def _application(native: Vocabulary) -> Utterance:
    return native.application("a1")


def _asks(play: Play, item: Item) -> None:
    """There is room: the ask becomes one allocation."""
    play.given(_node, _application)

    play.says(lambda rm: rm.ask(item))

    play.is_told(Kind.ALLOCATED, item.key)
    play.changes(gained=(living(item.key),))


def asks(play: Play) -> None:
    """An ask becomes an allocation."""
    _asks(play, Item("k1"))


def asks_for_nobody(play: Play) -> None:
    """An ask of an unknown application: it is to be rejected."""
    play.given(_node)

    play.says(lambda rm: rm.ask(Item("k1", application="missing")))

    play.is_told(Kind.ASK_REJECTED, "k1")


def asks_for_several(play: Play) -> None:
    """An ask for three allocations."""
    play.given(_node, _application)

    play.says(lambda rm: rm.ask(Item("k1", many=3)))

    play.is_told(Kind.ALLOCATED, "k1")
    play.changes(gained=(living("k1"),) * 3)


def asks_with_priority(play: Play) -> None:
    """An ask with a priority."""
    _asks(play, Item("k1", priority=5))


def asks_with_tags(play: Play) -> None:
    """An ask with a tag."""
    _asks(play, Item("k1", tags={"kubernetes.io/meta/podName": "pod"}))


def asks_as_originator(play: Play) -> None:
    """The ask of the originator."""
    _asks(play, Item("k1", originator=True))


def asks_with_policy(play: Play) -> None:
    """An ask with a preemption policy."""
    _asks(play, Item("k1", opts_out=True))


def asks_with_constraint(play: Play) -> None:
    """An ask with a placement constraint."""
    play.given(_node, lambda native: native.node("n2", attributes={"disk": "ssd"}), _application)

    play.says(lambda rm: rm.constrained_ask(Item("k1")))

    play.is_told(Kind.ALLOCATED, "k1")
    play.changes(gained=(living("k1", "n2"),))


def asks_for_placeholder(play: Play) -> None:
    """An ask for a placeholder."""
    play.given(_node, lambda native: native.application("a1", "root.fifo", gang=2))

    play.says(lambda rm: rm.ask(Item("p1", task_group="tg1", placeholder=True)))

    play.is_told(Kind.ALLOCATED, "p1")
    play.changes(gained=(living("p1", of="tg1"),))


def _hard_gang(native: Vocabulary, memory: int) -> Utterance:
    """Of which nothing is scheduled without its placeholders; 2021-02 knows no other."""
    style = "Hard" if native.revision.can(Capability.GANG_STYLE) else ""
    return native.application("a1", "root.fifo", gang=memory, style=style)


def _placeholder(native: Vocabulary) -> Utterance:
    return native.ask(Item("p1", task_group="tg1", placeholder=True))


def _placeholder_without_room(native: Vocabulary) -> Utterance:
    return native.ask(Item("p2", memory=9, task_group="tg1", placeholder=True))


def replaces_a_placeholder(play: Play) -> None:
    """The ask of a real allocation replaces a placeholder, whose release the RM confirms."""
    play.given(_node, lambda native: _hard_gang(native, 2), _placeholder)

    play.says(lambda rm: rm.ask(Item("k1", task_group="tg1")))
    play.confirms()

    play.is_told(Kind.RELEASED, "p1")
    play.is_told(Kind.ALLOCATED, "k1")
    play.changes(gained=(living("k1"),), lost=(living("p1", of="tg1"),))


def loses_a_placeholder(play: Play) -> None:
    """A gang does not gather in time, and the RM confirms the release of its placeholder."""
    gang = 2 + 9
    play.given(
        _node, lambda native: _hard_gang(native, gang), _placeholder, _placeholder_without_room
    )

    play.time_passes(PLACEHOLDER_TIMEOUT + _LONGER)
    play.confirms()

    play.is_told(Kind.RELEASED, "p1")
    play.is_told(Kind.ASK_RELEASED, "p2")
    its = (living("p1", of="tg1"), waiting("p2"), application("a1", "root.fifo"))
    play.changes(lost=its)


def reports_an_allocation(play: Play) -> None:
    """An allocation that exists is reported by itself."""
    play.given(_node, _application)

    play.says(lambda rm: rm.existing(Item("k1", node="n1", identity="existing-1")))

    play.changes(gained=(living("k1"),))


def updates_an_allocation(play: Play) -> None:
    """The amount of an allocation changes."""
    play.given(_node, _application, lambda native: native.ask(Item("k1")))

    play.says(lambda rm: rm.update(Item("k1", node="n1", memory=5)))

    play.changes(gained=(living("k1", memory=5),), lost=(living("k1"),))


def updates_an_ask(play: Play) -> None:
    """The amount of an ask that waits changes."""
    play.given(_node, _application, lambda native: native.ask(Item("k1", memory=20)))

    play.says(lambda rm: rm.ask(Item("k1", memory=5)))

    play.is_told(Kind.ALLOCATED, "k1")
    play.changes(gained=(living("k1", memory=5),), lost=(waiting("k1"),))


def reports_a_foreign_allocation(play: Play) -> None:
    """An allocation of somebody else is reported."""
    play.given(_node)

    tags = {constants.FOREIGN: constants.ALLOC_TYPE_DEFAULT}
    play.says(lambda rm: rm.foreign(Item("pod", application="", node="n1", memory=8, tags=tags)))

    play.changes(gained=("others occupy memory 8 of node n1",))


STEPS: Final = (
    asks,
    asks_for_nobody,
    asks_for_several,
    asks_with_priority,
    asks_with_tags,
    asks_as_originator,
    asks_with_policy,
    asks_with_constraint,
    asks_for_placeholder,
    replaces_a_placeholder,
    loses_a_placeholder,
    reports_an_allocation,
    updates_an_allocation,
    updates_an_ask,
    reports_a_foreign_allocation,
)
