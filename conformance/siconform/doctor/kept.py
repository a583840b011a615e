"""The MUSTs that schedulers keep which schedule nothing, and how: no other may pass for them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from siconform.doctor.idle import Idle

_REGISTERS: Final = {
    "SI-WIRE-001": "it serves the registration under the right path",
    "SI-REG-001": "it answers a registration with the empty response",
}
_ANSWERS: Final = {"SI-WIRE-006": "what it says is well formed"}
_GRANTS: Final = {
    "SI-WIRE-008": "what it says uses no reserved number",
    "SI-WIRE-010": "what it releases has the type the RM gave",
}
_ACCEPTS: Final = {
    "SI-REG-002": "no registration fails: what is answered with success is served",
    "SI-REG-004": "it accepts a registration however often it comes",
    "SI-NODE-001": "it accepts every new node",
    "SI-APP-001": "it accepts every new application",
    "SI-APP-008": "it accepts an application without groups",
    "SI-APP-010": "it accepts an application with any tags",
}
KEPT: Final[Mapping[Idle, Mapping[str, str]]] = MappingProxyType(
    {
        Idle.SILENT: _REGISTERS,
        Idle.ENDING: _REGISTERS,
        Idle.REJECTING: {**_REGISTERS, **_ANSWERS},
        Idle.ACCEPTING: {**_REGISTERS, **_ANSWERS, **_ACCEPTS},
        Idle.GRANTING: {**_REGISTERS, **_ANSWERS, **_GRANTS, **_ACCEPTS},
    }
)
"""The MUSTs such a scheduler keeps, and how."""
