"""The link of one RM to the scheduler."""

from dataclasses import dataclass

from siconform.expecting.barriers import Barriers
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension


@dataclass
class Link:
    """The connection of an RM, its barriers, and the extension if the target has one.

    All parts of an RM share the link, so that all follow it to a restarted scheduler.
    """

    connection: Connection
    barriers: Barriers
    extension: Extension | None = None
