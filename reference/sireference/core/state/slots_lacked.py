"""Running slots that an application lacks."""

from typing import Final, NamedTuple


class SlotsLacked(NamedTuple):
    """Whether it lacks a slot of a queue, and one of its user or group."""

    of_queue: bool
    of_user: bool


LACKS_NOTHING: Final = SlotsLacked(of_queue=False, of_user=False)
