"""An RM comes: it registers and opens its streams."""

from typing import Final

from siconform.protocol.queue_configurations import queues_without_limits

from mixed.play import Play
from mixed.scheduler import QUEUES, queue, registered, setting

_OF_ITS_OWN: Final = queues_without_limits("plain", "fifo", "mine")
_SETTING: Final = "a.setting"


def registers(play: Play) -> None:
    """The RM registers with its policy group."""
    play.registers(play.rm.registration())

    play.changes(gained=(registered(), *map(queue, QUEUES)))


def sends_its_configuration(play: Play) -> None:
    """The RM registers with a configuration that has a queue more than its policy group."""
    play.registers(play.rm.registration(_OF_ITS_OWN, {_SETTING: "on"}))

    here = (*map(queue, QUEUES), queue("root.mine"), setting(_SETTING, "on"))
    play.changes(gained=(registered(), *here))


def opens_its_streams(play: Play) -> None:
    """The RM opens its update streams."""
    play.opens()


def leaves(play: Play) -> None:
    """The RM half-closes its streams: the scheduler forgets it."""
    play.opens()
    play.leaves()

    play.changes(lost=(registered(), *map(queue, QUEUES)))


STEPS: Final = (registers, sends_its_configuration, opens_its_streams, leaves)
