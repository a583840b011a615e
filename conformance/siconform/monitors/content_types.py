"""Types of content that several rules observe together, for ``Monitor.observes``."""

from typing import Final

from siconform.monitors.monitor import Barriers
from siconform.protocol.notifications import NodeAccepted, NodeRejected, StreamEnded
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import NodeRequest

CERTAINTY: Final = (StreamEnded, Barriers)
"""What Certainty observes."""

NODES: Final = (NodeRequest, NodeAccepted, NodeRejected)

REGISTRATION: Final = (RegistrationRequested, RegistrationAnswered)
