"""The MUSTs that idle schedulers satisfy, with the reason; they must pass no others."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from siconform.doctor.idle import Idle

_REGISTERS: Final = {
    "SI-WIRE-001": "it serves the registration under the right path",
    "SI-REG-001": "it answers a registration with the empty response",
}
_ANSWERS: Final = {"SI-WIRE-006": "what it sends is well formed"}
_GRANTS: Final = {
    "SI-WIRE-003": "it serves the registration and the three streams",
    "SI-WIRE-008": "what it sends uses no reserved number",
    "SI-WIRE-010": "what it releases has the type the RM gave",
    "SI-CONN-001": "every registered RM is served on every stream",
    "SI-NODE-043": "it ends no allocation",
    "SI-ASK-001": "it allocates every ask",
    "SI-ASK-002": "it allocates under the key of the ask",
    "SI-ASK-019": "it rejects nothing",
    "SI-ASK-024": "it allocates the ask of an originator, and rejects nothing",
    "SI-ASK-027": "a key asked for again is reported again with the same node: an echo",
    "SI-ALLOC-002": "what it allocates is a copy of the ask",
    "SI-ALLOC-003": "what it allocates is a copy of the ask",
    "SI-ALLOC-007": "what it allocates is a copy of the ask",
    "SI-ALLOC-008": "a key asked for again is reported again with the same node: an echo",
    "SI-ALLOC-011": "it names an allocation by the key of its ask",
    "SI-REL-009": "it starts no release, so none of its releases is confirmed",
    "SI-GANG-002": "it allocates every ask, and knows no gangs",
    "SI-GANG-010": "it allocates every ask, even if others wait",
    "SI-GANG-012": "what it allocates is a copy of the ask",
    "SI-GANG-018": "it allocates every ask, whenever it comes",
    "SI-GANG-028": "it allocates every ask, and knows no gangs",
    "SI-GANG-051": "it rejects nothing",
    "SI-REC-002": "it sends nothing about what the RM placed",
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
"""The MUSTs such a scheduler satisfies, and how."""
