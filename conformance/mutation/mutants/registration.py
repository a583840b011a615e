"""Mutants of registration, configuration and RM identity."""

from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext

from mutation.main_revision import NAME, si
from mutation.mutant import Wire, mutant

_AREAS: Final = ("REG", "CONN", "CFG")
_OPEN: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues: [{name: plain}, {name: fifo}, {name: first}, {name: second}, {name: quota}]
"""
_mutant: Final = partial(mutant, revision=NAME)


@_mutant(
    "nameless-rm-registered", "An RM without id is registered.", *_AREAS, breaks=("SI-REG-003",)
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    request.rmID = request.rmID or "nameless"


@_mutant(
    "first-configuration-stays",
    "Registering again keeps the first configuration.",
    *_AREAS,
    breaks=("SI-REG-018",),
)
def _(request: si.RegisterResourceManagerRequest, wire: Wire) -> None:
    first = wire.memory["configurations"] or {}
    request.config = first.setdefault(request.rmID, request.config)
    wire.memory["configurations"] = first


@_mutant(
    "build-information-rejected",
    "Unknown build information makes a registration fail.",
    "REG",
    breaks=("SI-REG-017",),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    if "anything" in request.buildInfo:
        request.config = "no configuration"


@_mutant(
    "extra-configuration-rejected",
    "An unknown key of extraConfig makes a registration fail.",
    "REG",
    breaks=("SI-REG-016",),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    if "siconform.unknown" in request.extraConfig:
        request.config = "no configuration"


@_mutant("one-rm-for-all", "All RMs are treated as one.", *_AREAS, breaks=("SI-REG-002",))
def _(request: si.RegisterResourceManagerRequest) -> None:
    request.rmID = request.rmID and "the one"


one_rm = _


@one_rm.also
def _(request: si.NodeRequest) -> None:
    request.rmID = request.rmID and "the one"


@one_rm.also
def _(request: si.ApplicationRequest) -> None:
    request.rmID = request.rmID and "the one"


@one_rm.also
def _(request: si.AllocationRequest) -> None:
    request.rmID = request.rmID and "the one"


@_mutant(
    "update-always-acknowledged",
    "A rejected configuration is acknowledged.",
    "CFG",
    breaks=("SI-CFG-003",),
)
def _(outcome: ext.ConfigurationOutcome) -> None:
    outcome.applied, outcome.reason = True, ""


@_mutant(
    "update-refused", "A new configuration is rejected.", "CFG", "CONN", breaks=("SI-CFG-001",)
)
def _(change: ext.ConfigurationChange) -> None:
    change.config = "no configuration"


@_mutant(
    "update-for-anybody",
    "The RM id of a new configuration is ignored.",
    "CFG",
    breaks=("SI-CFG-004",),
)
def _(request: si.RegisterResourceManagerRequest, wire: Wire) -> None:
    wire.memory["latest"] = request.rmID


anybody = _


@anybody.also
def _(change: ext.ConfigurationChange, wire: Wire) -> None:
    change.rm_id, change.policy_group = wire.memory["latest"] or change.rm_id, ""
