"""How one RM reaches the scheduler."""

from dataclasses import dataclass

from siconform.expecting.barriers import Barriers
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension


@dataclass
class Link:
    """The connection of an RM, the fences on that, and the extension, if the target has one.

    All parts of an RM share the link: a scheduler that was restarted is reached another way, and
    then every part of the RM reaches it that way.
    """

    connection: Connection
    barriers: Barriers
    extension: Extension | None = None
